"""Langfuse: the trace download `{trace, observations}`, API traces with nested observations, and table exports.

Written by the product's download button, its API, and its table and bucket exports (CSV, JSON, JSON Lines, parquet).
Seen: downloads of 2025 of half a dozen frameworks, the older shape of mid-2025, tables of traces, observations and
scores. Inputs, outputs and metadata are often JSON text, sometimes twice; a trace may have no input of its own, then
its root observation's counts. Scores such as toxicity are better when low and decide nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, Reject
from combee_core.importers.json_text import parse_embedded
from combee_core.importers.span_traces import Judgement, build, grouped, read_spans
from combee_core.importers.spans import Kind, Span, assemble, error_text, message_items
from combee_core.importers.times import seconds_of
from combee_core.trace import Trace

_TYPES = {"SPAN", "GENERATION", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"}
_KINDS: dict[str, Kind] = {"GENERATION": "model", "TOOL": "tool"}
_KEPT = ("name", "timestamp", "userId", "sessionId", "tags", "release", "version", "environment", "metadata")


class Langfuse:
    """Downloads and table rows of Langfuse."""

    name = "langfuse"
    title = "Langfuse exports"
    gathers = True

    def recognise(self, record: object) -> str | None:
        if not isinstance(record, dict):
            return None
        if isinstance(record.get("trace"), dict) and isinstance(record.get("observations"), list):
            return 'has "trace" and "observations"'
        row = _camel(record)
        if isinstance(row.get("observations"), list) and "projectId" in row:
            return 'has "observations" and "projectId"'
        if "traceId" in row and str(row.get("type")).upper() in _TYPES:
            return 'has "traceId" and an observation type'
        if {"traceId", "dataType", "value"} <= row.keys() and "name" in row:
            return 'has "traceId", "dataType" and "value": a score'
        if {"id", "timestamp", "projectId"} <= row.keys() or {
            "id",
            "input",
            "output",
            "sessionId",
            "userId",
        } <= row.keys():
            return 'has "id", "timestamp" and "projectId": a row of the traces table'
        return None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        rows = [(_camel(record.value), record) for record in records]
        whole = [(row, record) for row, record in rows if "observations" in row]
        for row, record in whole:
            yield from _read_download(row, record, context)
        yield from _read_tables([(row, record) for row, record in rows if "observations" not in row], context)


def _read_download(row: Mapping[str, Any], record: Record, context: Context) -> Iterator[Trace | Reject]:
    trace = row["trace"] if isinstance(row.get("trace"), dict) else row
    observations = [_camel(item) for item in row["observations"] if isinstance(item, dict)]
    scores = trace.get("scores")
    judgement = _judgement(
        _camel(score) for score in (scores if isinstance(scores, list) else []) if isinstance(score, dict)
    )
    spans = [_root(trace, record), *(_span(item, record, str(trace.get("id") or "")) for item in observations)]
    assembled = assemble(spans)
    if not assembled.messages:
        yield context.reject(record, "The trace holds neither messages nor an input and output.")
        return
    yield build(
        assembled, judgement, context, {"trace_id": trace.get("id"), **_kept(trace), "observations": len(observations)}
    )


def _read_tables(rows: Sequence[tuple[dict[str, Any], Record]], context: Context) -> Iterator[Trace | Reject]:
    """Rows of the tables: observations and traces joined by trace id, scores joined to both."""
    scores: dict[str, list[dict[str, Any]]] = {}
    spans: list[tuple[str, Span]] = []
    about: dict[str, dict[str, Any]] = {}
    for row, record in rows:
        if "dataType" in row:
            scores.setdefault(str(row.get("traceId")), []).append(row)
        elif "type" in row and "traceId" in row:
            trace_id = str(row["traceId"])
            spans.append((trace_id, _span(row, record, trace_id)))
        else:
            trace_id = str(row.get("id") or row.get("traceId") or f"row {record.line or record.index}")
            spans.append((trace_id, _root(row, record)))
            about[trace_id] = _kept(row)
    if spans:
        judgements = {trace_id: _judgement(found) for trace_id, found in scores.items()}
        yield from read_spans(grouped(spans), context, judgements, about)
    elif rows:
        yield context.reject(rows[0][1], "The file holds scores only: import them together with their traces.")


def _root(trace: Mapping[str, Any], record: Record) -> Span:
    """The trace itself as the span above all others."""
    asked, gave = _value(trace.get("input")), _value(trace.get("output"))
    return Span(
        id=str(trace.get("id") or ""),
        parent="",
        name=str(trace.get("name") or ""),
        kind="agent",
        start=0.0,
        end=float("inf"),
        record=record,
        input=asked,
        output=gave,
        inputs=message_items(asked),
        outputs=message_items(gave),
    )


def _span(item: Mapping[str, Any], record: Record, trace_id: str) -> Span:
    kind = _KINDS.get(str(item.get("type")).upper(), "other")
    asked, gave = _value(item.get("input")), _value(item.get("output"))
    is_error = str(item.get("level")).upper() == "ERROR"
    return Span(
        id=str(item.get("id") or ""),
        parent=str(item.get("parentObservationId") or trace_id),
        name=str(item.get("name") or "").removeprefix("running tool: "),
        kind=kind,
        start=seconds_of(item.get("startTime")),
        end=seconds_of(item.get("endTime")),
        record=record,
        input=asked,
        output=gave,
        inputs=message_items(asked) if kind == "model" else [],
        outputs=_answer(gave) if kind == "model" else [],
        error=(error_text(item.get("statusMessage")) or "error") if is_error else "",
        model=str(item.get("model") or ""),
    )


def _answer(output: Any) -> list[Any]:
    return message_items(output) or (
        [{"role": "assistant", "content": output}] if isinstance(output, str) and output else []
    )


def _judgement(scores: Iterable[Mapping[str, Any]]) -> Judgement:
    judgement = Judgement()
    for score in scores:
        value = score.get("value")
        if str(score.get("dataType")).upper() == "BOOLEAN":
            value = value in (1, 1.0, True, "1", "1.0", "True", "true")
        elif score.get("stringValue"):
            value = score["stringValue"]
        judgement.add(str(score.get("name") or "score"), value, score.get("comment"))
    return judgement


def _value(value: object) -> Any:
    return parse_embedded(value) if isinstance(value, str) else value


def _kept(trace: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: trace[key] for key in _KEPT if trace.get(key) not in (None, "", [])}
    metadata = _value(kept.get("metadata"))
    if isinstance(metadata, dict):
        kept["metadata"] = {key: value for key, value in metadata.items() if key not in ("resourceAttributes", "scope")}
    return kept


def _camel(row: Mapping[str, Any]) -> dict[str, Any]:
    """Bucket exports write trace_id where everything else writes traceId."""
    return {_camel_name(key): value for key, value in row.items()} if any("_" in key for key in row) else dict(row)


def _camel_name(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(part.capitalize() for part in others) if first else name
