"""MLflow traces: `Trace.to_json` (info and spans), and the table that `search_traces` returns.

Written by MLflow's tracing API. Seen: MLflow 3.18 (trace schema 3); MLflow 2 differs in names (`request_id`, spans with
`context`). Attribute values are JSON text, ids base64, times nanoseconds. Assessments give outcome, feedback and the
expected answer. Previews in `trace_metadata` are cut and are not used.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.json_text import parse_embedded
from combee_core.importers.span_traces import Judgement, build
from combee_core.importers.spans import Kind, Span, assemble, message_items
from combee_core.importers.times import seconds_of
from combee_core.trace import Trace

_KINDS: dict[str, Kind] = {"CHAT_MODEL": "model", "LLM": "model", "TOOL": "tool"}
_KEPT = ("request_time", "state", "status", "execution_duration_ms", "client_request_id")


class MLflow:
    """Traces of MLflow, one a record."""

    name = "mlflow"
    title = "MLflow traces"
    gathers = False

    def recognise(self, record: object) -> str | None:
        if not isinstance(record, dict):
            return None
        data = record.get("data")
        if isinstance(record.get("info"), dict) and isinstance(data, dict) and "spans" in data:
            return 'has "info" and "data" with spans'
        if ("trace_id" in record or "request_id" in record) and ("trace" in record or "spans" in record):
            return (
                'has "trace_id" and "spans", a row of search_traces'
                if "state" in record or "status" in record
                else None
            )
        return None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            yield _read_trace(record, context)


def _read_trace(record: Record, context: Context) -> Trace:
    info, spans = _parts(record.value)
    judgement = Judgement()
    for assessment in _objects(info.get("assessments")):
        _add_assessment(judgement, assessment)
    found = list(_spans(spans, record))
    if not found:
        raise RecordError("The trace holds no spans.")
    assembled = assemble(found)
    if not assembled.messages:
        raise RecordError("The spans of the trace hold neither messages nor an input and output.")
    metadata = {key: info[key] for key in _KEPT if info.get(key) not in (None, "")}
    models = sorted({span.model for span in found if span.model})
    about = {"trace_id": info.get("trace_id") or info.get("request_id"), "name": assembled.root.name, "models": models}
    return build(assembled, judgement, context, {**about, **metadata, "tags": _value(info.get("tags"))})


def _parts(row: Mapping[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    """(info, spans) of a trace, or of a table row that holds a trace as text."""
    whole = _value(row.get("trace"))
    if isinstance(whole, dict):
        info, spans = _parts(whole)
        return {**{key: _value(value) for key, value in row.items() if key != "trace"}, **info}, spans
    data, about = row.get("data"), row.get("info")
    if isinstance(about, dict) and isinstance(data, dict):
        return about, _objects(data.get("spans"))
    return {key: _value(value) for key, value in row.items() if key != "spans"}, _objects(_value(row.get("spans")))


def _spans(spans: Iterable[Mapping[str, Any]], record: Record) -> Iterator[Span]:
    for span in spans:
        known: Any = _value(span.get("attributes"))
        attributes = {key: _value(value) for key, value in known.items()} if isinstance(known, dict) else {}
        context = span.get("context")
        place: Mapping[str, Any] = context if isinstance(context, dict) else {}
        kind = _KINDS.get(str(attributes.get("mlflow.spanType") or span.get("span_type")), "agent")
        asked = attributes.get("mlflow.spanInputs", span.get("inputs"))
        gave = attributes.get("mlflow.spanOutputs", span.get("outputs"))
        yield Span(
            id=str(span.get("span_id") or place.get("span_id") or ""),
            parent=str(span.get("parent_span_id") or span.get("parent_id") or ""),
            name=str(span.get("name") or ""),
            kind=kind,
            start=seconds_of(span.get("start_time_unix_nano") or span.get("start_time")),
            end=seconds_of(span.get("end_time_unix_nano") or span.get("end_time")),
            record=record,
            input=asked,
            output=gave,
            inputs=message_items(asked) if kind == "model" else [],
            outputs=message_items(gave) if kind == "model" else [],
            error=_error(span),
            model=str(attributes.get("mlflow.llm.model") or attributes.get("mlflow.chat.model") or ""),
        )


def _error(span: Mapping[str, Any]) -> str:
    status = span.get("status")
    code = status.get("code") if isinstance(status, dict) else span.get("status_code")
    if "ERROR" not in str(code).upper():
        return ""
    message = status.get("message") if isinstance(status, dict) else span.get("status_message")
    return str(message or "error")


def _add_assessment(judgement: Judgement, assessment: Mapping[str, Any]) -> None:
    name = str(assessment.get("assessment_name") or assessment.get("name") or "assessment")
    expectation, feedback = assessment.get("expectation"), assessment.get("feedback")
    if isinstance(expectation, dict):
        value = expectation.get("value")
        if value is not None and not judgement.reference:
            judgement.reference = str(value)
        elif value is not None:
            judgement.reference += f"\n{name}: {value}"
    elif isinstance(feedback, dict):
        judgement.add(name, feedback.get("value"), assessment.get("rationale"))


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _value(value: object) -> Any:
    return parse_embedded(value) if isinstance(value, str) else value
