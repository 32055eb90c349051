"""OpenTelemetry traces: OTLP JSON (one export request, or one a line as the collector's file exporter writes them),
OTLP protobuf turned into the same shape, and the dumps of the Python and JavaScript SDKs.

Written by every OpenTelemetry exporter. Seen: OTLP 1.x JSON, `instrumentationLibrarySpans` of older ones, console
exporter of the Python SDK, ReadableSpan dumps of the JS SDK. Conventions for model calls: see `attributes`. A trace is
spread over many lines, children first; its outcome comes from `gen_ai.evaluation.result` events, annotations, or the
status of the root span.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from combee_core.importers.attributes import is_about_models, kind_of, messages_in, tool_name, values_in
from combee_core.importers.base import Context, Record, Reject
from combee_core.importers.span_traces import Judgement, grouped, read_spans
from combee_core.importers.spans import Span
from combee_core.importers.times import seconds_of
from combee_core.trace import Trace

_NOTHING: Mapping[str, Any] = {}


class Otlp:
    """Export requests of OpenTelemetry."""

    name = "otlp"
    title = "OpenTelemetry traces (OTLP)"
    gathers = True

    def recognise(self, record: object) -> str | None:
        if not isinstance(record, dict):
            return None
        key = next((key for key in ("resourceSpans", "resource_spans") if isinstance(record.get(key), list)), None)
        return f'has "{key}"' if key else None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        yield from read_plain_spans(
            ((plain, record) for record in records for plain in _spans_in(record.value)), context
        )


class SdkSpans:
    """Spans as SDKs print them and as Phoenix stores them."""

    name = "openinference"
    title = "OpenInference and SDK spans (Phoenix, console exporters)"
    gathers = True

    def recognise(self, record: object) -> str | None:
        if not isinstance(record, dict):
            return None
        if isinstance(record.get("context"), dict) and "trace_id" in record["context"] and "attributes" in record:
            return 'has "context" with trace_id, and "attributes"'
        if "context.span_id" in record and "context.trace_id" in record:
            return 'has columns "context.span_id" and "context.trace_id"'
        if isinstance(record.get("spanContext"), dict) and "attributes" in record:
            return 'has "spanContext" and "attributes"'
        return None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        yield from read_plain_spans(((_sdk_span(record.value), record) for record in records), context)


def read_plain_spans(spans: Iterable[tuple[dict[str, Any], Record]], context: Context) -> Iterator[Trace | Reject]:
    """Traces of spans with trace_id, span_id, parent_id, name, start, end, attributes, events, error."""
    judgements: dict[str, Judgement] = {}
    found: list[tuple[str, Span]] = []
    for plain, record in spans:
        judgement = judgements.setdefault(plain["trace_id"], Judgement())
        for name, body in plain["events"]:
            if name == "gen_ai.evaluation.result":
                _add_evaluation(judgement, body)
        _add_annotations(judgement, plain["attributes"])
        found.append((plain["trace_id"], span_of(plain, record)))
    yield from read_spans(grouped(found), context, judgements)


def span_of(plain: Mapping[str, Any], record: Record) -> Span:
    """A plain span with its messages found."""
    attributes, events = plain["attributes"], plain["events"]
    about_models = is_about_models(attributes) or any(str(name).startswith("gen_ai.") for name, _ in events)
    kind = kind_of(attributes, plain["name"])
    inputs, outputs = messages_in(attributes, events) if about_models and kind != "tool" else ([], [])
    asked, gave = values_in(attributes)
    is_tool = kind == "tool"
    return Span(
        id=plain["span_id"],
        parent=plain["parent_id"],
        name=tool_name(attributes, plain["name"]) if is_tool else plain["name"],
        kind=kind,
        start=plain["start"],
        end=plain["end"],
        record=record,
        input=asked,
        output=gave,
        inputs=inputs,
        outputs=outputs,
        call_id=str(attributes.get("gen_ai.tool.call.id") or attributes.get("tool_call.id") or ""),
        error=plain["error"],
        model=str(attributes.get("gen_ai.request.model") or attributes.get("llm.model_name") or ""),
    )


def _spans_in(request: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for resource in _list(request, "resourceSpans", "resource_spans"):
        for scope in _list(resource, "scopeSpans", "scope_spans", "instrumentationLibrarySpans"):
            for span in _list(scope, "spans"):
                yield _otlp_span(span)


def _otlp_span(span: Mapping[str, Any]) -> dict[str, Any]:
    events = [(str(event.get("name")), _attributes(event.get("attributes"))) for event in _list(span, "events")]
    return _plain(
        span.get("traceId") or span.get("trace_id"),
        span.get("spanId") or span.get("span_id"),
        span.get("parentSpanId") or span.get("parent_span_id"),
        span.get("name"),
        span.get("startTimeUnixNano") or span.get("start_time_unix_nano"),
        span.get("endTimeUnixNano") or span.get("end_time_unix_nano"),
        _attributes(span.get("attributes")),
        events,
        span.get("status"),
    )


def _sdk_span(span: Mapping[str, Any]) -> dict[str, Any]:
    """A span with plain attributes: Python SDK, Phoenix (nested, or flat columns), JS SDK."""
    place = span.get("context") or span.get("spanContext")
    place = place if isinstance(place, dict) else _NOTHING
    attributes = span.get("attributes")
    if not isinstance(attributes, dict):
        attributes = {
            key.removeprefix("attributes."): value for key, value in span.items() if key.startswith("attributes.")
        }
    parent = span.get("parentSpanContext")
    events = [(str(event.get("name")), event.get("attributes") or {}) for event in _list(span, "events")]
    return _plain(
        place.get("trace_id") or place.get("traceId") or span.get("context.trace_id"),
        place.get("span_id") or place.get("spanId") or span.get("context.span_id"),
        span.get("parent_id") or span.get("parentSpanId") or (parent.get("spanId") if isinstance(parent, dict) else ""),
        span.get("name"),
        span.get("start_time") or span.get("startTime"),
        span.get("end_time") or span.get("endTime"),
        {"span_kind": span.get("span_kind"), **attributes},
        [(name, body) for name, body in events if isinstance(body, dict)],
        span.get("status") or {"code": span.get("status_code"), "message": span.get("status_message")},
    )


def _plain(
    trace: object,
    span: object,
    parent: object,
    name: object,
    start: object,
    end: object,
    attributes: Mapping[str, Any],
    events: Sequence[tuple[str, Mapping[str, Any]]],
    status: object,
) -> dict[str, Any]:
    return {
        "trace_id": _id(trace),
        "span_id": _id(span),
        "parent_id": _id(parent),
        "name": str(name or ""),
        "start": seconds_of(start),
        "end": seconds_of(end),
        "attributes": {key: value for key, value in attributes.items() if value is not None},
        "events": events,
        "error": _error(status, events, attributes),
    }


def _error(status: object, events: Sequence[tuple[str, Mapping[str, Any]]], attributes: Mapping[str, Any]) -> str:
    """What a span says about its failure, empty when it did not fail."""
    status = status if isinstance(status, dict) else {"code": status}
    code = str(status.get("code") or status.get("status_code") or "").upper()
    if code not in ("2", "ERROR", "STATUS_CODE_ERROR") and "error.type" not in attributes:
        return ""
    said = [str(status.get("message") or status.get("description") or "")]
    for name, body in events:
        if name == "exception":
            said.append(": ".join(str(body[key]) for key in ("exception.type", "exception.message") if body.get(key)))
    return next(filter(None, said), str(attributes.get("error.type") or "error"))


def _add_evaluation(judgement: Judgement, body: Mapping[str, Any]) -> None:
    name = str(body.get("gen_ai.evaluation.name") or "evaluation")
    value = body.get("gen_ai.evaluation.score.value")
    label = body.get("gen_ai.evaluation.score.label")
    judgement.add(name, value if value is not None else label, body.get("gen_ai.evaluation.explanation"))


def _add_annotations(judgement: Judgement, attributes: Mapping[str, Any]) -> None:
    for prefix in ("annotations.", "evaluations."):
        for key, value in attributes.items():
            name, _, last = key.removeprefix(prefix).rpartition(".")
            if key.startswith(prefix) and last in ("score", "label") and name:
                judgement.add(name, value, attributes.get(f"{prefix}{name}.explanation"))


def _attributes(items: object) -> dict[str, Any]:
    """OTLP's list of keys and typed values as a plain object."""
    if isinstance(items, dict):
        return items
    pairs = items if isinstance(items, list) else []
    return {str(pair.get("key")): _value(pair.get("value")) for pair in pairs if isinstance(pair, dict)}


def _value(value: object) -> Any:
    if not isinstance(value, dict):
        return value
    for key, item in value.items():
        kind = key.replace("_", "").lower()
        if kind == "arrayvalue":
            return [_value(inner) for inner in _list(item, "values")] if isinstance(item, dict) else []
        if kind == "kvlistvalue":
            return _attributes(item.get("values")) if isinstance(item, dict) else {}
        if kind == "intvalue" and isinstance(item, str) and item.lstrip("-").isdecimal():
            return int(item)
        return item
    return None


def _list(value: object, *keys: str) -> list[dict[str, Any]]:
    """The objects in the first of these fields that is a list."""
    for key in keys:
        items = value.get(key) if isinstance(value, Mapping) else None
        if isinstance(items, list):
            return [item for item in items if isinstance(item, dict)]
    return []


def _id(value: object) -> str:
    text = str(value or "")
    return "" if not text.strip("0=A") else text.removeprefix("0x").lower() if text.startswith("0x") else text
