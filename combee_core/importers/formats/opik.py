"""Opik (Comet): `trace_<id>.json` with a trace and its spans, and the CSV of the same export.

Written by Opik's export. Seen: opik 2.2. The CSV repeats the trace on each span's row, in columns `trace_*` and
`span_*` whose nested names are joined by underscores. Feedback scores give outcome and feedback.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.json_text import parse_embedded
from combee_core.importers.span_traces import Judgement, build
from combee_core.importers.spans import Kind, Span, assemble, error_text, message_items
from combee_core.importers.times import seconds_of
from combee_core.trace import Trace

_KINDS: dict[str, Kind] = {"llm": "model", "tool": "tool"}
_KEPT = ("name", "start_time", "metadata", "tags", "thread_id", "usage")


class Opik:
    """Traces of Opik."""

    name = "opik"
    title = "Opik exports"
    gathers = True

    def recognise(self, record: object) -> str | None:
        if not isinstance(record, dict):
            return None
        trace = record.get("trace")
        if isinstance(trace, dict) and "info" not in trace and isinstance(record.get("spans"), list):
            return 'has "trace" and "spans"'
        if "trace_id" in record and "trace_name" in record and any(str(key).startswith("span_") for key in record):
            return 'has columns "trace_…" and "span_…"'
        return None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        tables: dict[str, list[Record]] = {}
        for record in records:
            if isinstance(record.value.get("spans"), list):
                yield from _safely(record.value["trace"], record.value["spans"], record, context)
            else:
                tables.setdefault(str(record.value["trace_id"]), []).append(record)
        for rows in tables.values():
            spans = [_columns(row.value, "span_") for row in rows]
            yield from _safely(_columns(rows[0].value, "trace_"), spans, rows[0], context)


def _safely(
    trace: Mapping[str, Any], spans: Sequence[Any], record: Record, context: Context
) -> Iterator[Trace | Reject]:
    try:
        yield _read_trace(trace, [span for span in spans if isinstance(span, dict)], record, context)
    except RecordError as error:
        yield context.reject(record, str(error))


def _read_trace(
    trace: Mapping[str, Any], spans: Sequence[Mapping[str, Any]], record: Record, context: Context
) -> Trace:
    root = _span({**trace, "type": "general", "parent_span_id": ""}, record, "")
    assembled = assemble([root, *(_span(span, record, root.id) for span in spans)])
    if not assembled.messages:
        raise RecordError("The trace holds neither messages nor an input and output.")
    judgement = Judgement()
    scores = _value(trace.get("feedback_scores"))
    for score in scores if isinstance(scores, list) else []:
        if isinstance(score, dict):
            value = score.get("value")
            judgement.add(
                str(score.get("name")), value if value is not None else score.get("category_name"), score.get("reason")
            )
    kept = {key: trace[key] for key in _KEPT if trace.get(key) not in (None, "", [])}
    return build(assembled, judgement, context, {"trace_id": trace.get("id"), **kept})


def _span(span: Mapping[str, Any], record: Record, trace_id: str) -> Span:
    kind = _KINDS.get(str(span.get("type")), "agent")
    asked, gave = _value(span.get("input")), _value(span.get("output"))
    return Span(
        id=str(span.get("id") or ""),
        parent=str(span.get("parent_span_id") or trace_id),
        name=str(span.get("name") or ""),
        kind=kind,
        start=seconds_of(span.get("start_time")),
        end=seconds_of(span.get("end_time")),
        record=record,
        input=asked,
        output=gave,
        inputs=message_items(asked) if kind == "model" else [],
        outputs=message_items(gave) if kind == "model" else [],
        error=error_text(_value(span.get("error_info"))),
        model=str(span.get("model") or ""),
    )


def _columns(row: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The trace's or the span's own columns, with input and output put together again."""
    found: dict[str, Any] = {}
    for key, value in row.items():
        if key.startswith(prefix):
            name = key.removeprefix(prefix)
            side = next(
                (side for side in ("input", "output", "metadata", "usage") if name.startswith(side + "_")), None
            )
            if side is None:
                found[name] = value
            elif isinstance(inner := found.setdefault(side, {}), dict):
                inner[name.removeprefix(side + "_")] = _value(value)
    return found


def _value(value: object) -> Any:
    return parse_embedded(value) if isinstance(value, str) else value
