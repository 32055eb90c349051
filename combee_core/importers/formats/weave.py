"""Weights & Biases Weave: calls, one a line, as JSON, or flattened to columns in CSV.

Written by the product's export and its API (CallSchema). Seen: client 0.51. Objects may be references
(`weave:///…`) instead of values. Feedback sits in `summary.weave.feedback`: reactions, notes, outputs of scorers.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from combee_core.importers.attributes import nested
from combee_core.importers.base import Context, Record, Reject
from combee_core.importers.json_text import parse_embedded
from combee_core.importers.span_traces import Judgement, grouped, read_spans
from combee_core.importers.spans import Kind, Span, error_text, message_items
from combee_core.importers.times import seconds_of
from combee_core.trace import Trace

_LIKES = {"👍": True, "👎": False}


class Weave:
    """Calls of Weave."""

    name = "weave"
    title = "Weave calls"
    gathers = True

    def recognise(self, record: object) -> str | None:
        is_call = isinstance(record, dict) and "op_name" in record and "started_at" in record
        return 'has "op_name" and "started_at"' if is_call else None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        judgements: dict[str, Judgement] = {}
        spans: list[tuple[str, Span]] = []
        for record in records:
            call = _unflattened(record.value)
            trace_id = str(call.get("trace_id") or call.get("id") or "")
            spans.append((trace_id, _span(call, record)))
            judgement = judgements.setdefault(trace_id, Judgement())
            for feedback in _feedback(call):
                _judge(judgement, feedback)
        yield from read_spans(grouped(spans), context, judgements)


def _unflattened(row: Mapping[str, Any]) -> dict[str, Any]:
    """CSV exports spell `inputs.question` what JSON nests."""
    call = {key: value for key, value in row.items() if "." not in key}
    for prefix in ("inputs", "output", "summary", "attributes"):
        inner = nested(row, prefix)
        if inner and prefix not in call:
            call[prefix] = inner
    return call


def _span(call: Mapping[str, Any], record: Record) -> Span:
    name = str(call.get("op_name") or "").rpartition("/op/")[2].partition(":")[0] or str(call.get("op_name"))
    inputs, output = _plain(call.get("inputs")), call.get("output")
    asked = message_items(inputs)
    answered = message_items(output)
    kind: Kind = "model" if asked and answered else "agent" if not call.get("parent_id") else "tool"
    return Span(
        id=str(call.get("id") or ""),
        parent=str(call.get("parent_id") or ""),
        name=name,
        kind=kind,
        start=seconds_of(call.get("started_at")),
        end=seconds_of(call.get("ended_at")),
        record=record,
        input=inputs,
        output=output,
        inputs=asked if kind == "model" else [],
        outputs=answered if kind == "model" else [],
        error=error_text(call.get("exception")),
        model=str(inputs.get("model") or "") if isinstance(inputs, dict) and kind == "model" else "",
    )


def _plain(inputs: object) -> Any:
    """Inputs without the object that the method belongs to."""
    if not isinstance(inputs, dict):
        return inputs
    return {key: value for key, value in inputs.items() if key != "self" and not _is_reference(value)}


def _is_reference(value: object) -> bool:
    return isinstance(value, str) and value.startswith("weave:///")


def _feedback(call: Mapping[str, Any]) -> list[dict[str, Any]]:
    summary = call.get("summary")
    weave = summary.get("weave") if isinstance(summary, dict) else None
    found = weave.get("feedback") if isinstance(weave, dict) else None
    found = parse_embedded(found) if isinstance(found, str) else found
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _judge(judgement: Judgement, feedback: Mapping[str, Any]) -> None:
    name = str(feedback.get("feedback_type") or "feedback")
    payload = feedback.get("payload")
    payload = payload if isinstance(payload, dict) else {}
    if "emoji" in payload:
        judgement.add("reaction", _LIKES.get(str(payload["emoji"]), str(payload["emoji"])))
    elif "note" in payload:
        judgement.add("note", None, str(payload["note"]))
    else:
        output = payload.get("output", payload.get("value"))
        if isinstance(output, dict):
            reason = next(
                (output[key] for key in ("reason", "explanation", "rationale", "comment") if output.get(key)), None
            )
            for key, value in output.items():
                if isinstance(value, bool | int | float):
                    judgement.add(str(key), value, reason)
                    reason = None
        else:
            judgement.add(name, output)
