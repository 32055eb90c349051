"""Spans to traces: order of time, whatever order they come in; a history that grows is told once."""

import base64
import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from combee_core.importers.base import Context, Record
from combee_core.importers.formats.otlp import SdkSpans
from combee_core.trace import Trace
from tests.importers.reading import lines, read_text

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}
HISTORY: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "How many?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "3"},
]
ANSWER = {"role": "assistant", "content": "Three."}


def span(name: str, start: int, parent: str | None = "root", trace: str = "t", **attributes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "context": {"trace_id": trace, "span_id": f"{trace}-{name}"},
        "parent_id": f"{trace}-{parent}" if parent else None,
        "start_time": f"2026-01-01T00:00:{start:02}Z",
        "end_time": f"2026-01-01T00:00:{start + 1:02}Z",
        "status_code": "OK",
        "attributes": attributes,
    }


def flat(side: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Messages as OpenInference flattens them."""
    found: dict[str, Any] = {}
    for number, message in enumerate(messages):
        place = f"llm.{side}_messages.{number}.message"
        found[f"{place}.role"] = message["role"]
        if message.get("content"):
            found[f"{place}.content"] = message["content"]
        if message.get("tool_call_id"):
            found[f"{place}.tool_call_id"] = message["tool_call_id"]
        for index, call in enumerate(message.get("tool_calls", [])):
            inner = f"{place}.tool_calls.{index}.tool_call"
            found |= {f"{inner}.id": call["id"], f"{inner}.function.name": call["function"]["name"],
                      f"{inner}.function.arguments": call["function"]["arguments"]}  # fmt: skip
    return found


def run(trace: str = "t") -> list[dict[str, Any]]:
    model = {"openinference.span.kind": "LLM", "llm.model_name": "m"}
    first = {**model, **flat("input", HISTORY[:2]), **flat("output", HISTORY[2:3])}
    second = {**model, **flat("input", HISTORY), **flat("output", [ANSWER])}
    tool = {"openinference.span.kind": "TOOL", "tool.name": "look", "output.value": "3"}
    root = {"openinference.span.kind": "AGENT", "input.value": "How many?", "output.value": "Three."}
    return [
        span("root", 0, None, trace, **root),
        span("first", 1, trace=trace, **first),
        span("tool", 3, trace=trace, **tool),
        span("second", 5, trace=trace, **second),
    ]


EXPECTED = ["Be brief.", "How many?", "", "", "Three."]


@given(st.permutations(run("a") + run("b")))
@settings(max_examples=40, deadline=None)
def test_the_order_of_arrival_does_not_matter(spans: list[dict[str, Any]]) -> None:
    records = [Record(item, line) for line, item in enumerate(spans, 1)]
    traces = [entry for entry in SdkSpans().read(records, Context("f", "openinference")) if isinstance(entry, Trace)]
    assert [trace.task for trace in traces] == ["How many?", "How many?"]
    for trace in traces:
        assert [message.text for message in trace.messages] == EXPECTED
        assert trace.messages[2].tool_calls[0].name == "look"
        assert [(result.text, result.call_id) for result in trace.messages[3].tool_results] == [("3", "c1")]


def test_a_missing_parent_is_treated_as_a_root(tmp_path: Path) -> None:
    found = read_text(tmp_path, lines(*run()[1:]))
    (trace,) = found.traces
    assert [message.text for message in trace.messages] == EXPECTED


def test_the_answer_of_the_whole_run_stands_at_the_end_when_no_call_says_it(tmp_path: Path) -> None:
    (trace,) = read_text(tmp_path, lines(*run()[:3])).traces
    assert [message.text for message in trace.messages] == EXPECTED
    assert trace.messages[3].tool_results[0].call_id == "c1"


def test_a_failed_run_is_a_failure_with_its_error(tmp_path: Path) -> None:
    spans = run()
    spans[0] |= {"status_code": "ERROR", "status_message": "boom"}
    (trace,) = read_text(tmp_path, lines(*spans)).traces
    assert (trace.outcome.success, trace.feedback) == (False, "boom")


def test_calls_without_recorded_messages_are_named_and_not_imported(tmp_path: Path) -> None:
    found = read_text(tmp_path, lines(span("call", 0, None, **{"gen_ai.operation.name": "chat"})))
    assert not found.traces
    assert "whose messages were not recorded" in found.rejects[0].reason


def otlp(attributes: dict[str, str]) -> dict[str, Any]:
    plain = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    times = {"startTimeUnixNano": "1767225600000000000", "endTimeUnixNano": "1767225601000000000"}
    ids = {"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331"}
    one = {**ids, **times, "name": "chat m", "attributes": plain}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [one]}]}]}


MESSAGES = {
    "gen_ai.operation.name": "chat",
    "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Hi?"}]}]),
    "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Ho."}]}]),
}


def test_protobuf_is_read_like_its_json_form(tmp_path: Path) -> None:
    request = otlp(MESSAGES)
    one = request["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    message = TracesData()
    inner = message.resource_spans.add().scope_spans.add().spans.add()
    inner.trace_id, inner.span_id = bytes.fromhex(one["traceId"]), bytes.fromhex(one["spanId"])
    inner.name, inner.start_time_unix_nano = "chat m", 1767225600000000000
    for key, value in MESSAGES.items():
        pair = inner.attributes.add(key=key)
        pair.value.string_value = value
    packed = message.SerializeToString()
    framed = len(packed).to_bytes(4, "big") + packed
    for content in (json.dumps(request).encode(), packed, framed, framed + framed):
        found = read_text(tmp_path, content)
        assert found.reading.format == "otlp"
        assert [[message.text for message in trace.messages] for trace in found.traces] == [["Hi?", "Ho."]]
    assert base64.b64encode(inner.trace_id).decode() == found.traces[0].metadata["trace_id"]


def test_ids_of_all_spellings_join_spans(tmp_path: Path) -> None:
    prompts = {"llm.request.type": "chat", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Hi?",
               "gen_ai.completion.0.content": "Ho."}  # fmt: skip
    dump = {**span("call", 0, None, **prompts), "context": {"trace_id": "0x01", "span_id": "0x02"}}
    child = {**span("inner", 1, **{"traceloop.span.kind": "tool", "traceloop.entity.name": "look"}),
             "context": {"trace_id": "0x01", "span_id": "0x03"}, "parent_id": "0x02"}  # fmt: skip
    pretty = json.dumps(dump, indent=4) + "\n" + json.dumps(child, indent=4)
    (trace,) = read_text(tmp_path, pretty).traces
    assert (trace.task, trace.metadata["spans"]) == ("Hi?", 2)
