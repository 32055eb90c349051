"""No bytes make an importer raise, and none make it stumble: every record is a trace or has a reason in plain words."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from combee_core.importers import FORMATS
from combee_core.trace import Trace
from tests.importers.reading import read_text

WORDS = [
    "messages", "role", "content", "user", "assistant", "tool", "tool_calls", "function", "name", "arguments", "id",
    "type", "text", "image_url", "url", "reward", "score", "scores", "metadata", "info", "feedback", "context",
    "target", "question", "prediction", "schema_version", "ATIF-v1.6", "steps", "step_id", "source", "agent", "message",
    "observation", "results", "source_call_id", "subagent_trajectories", "subagent_trajectory_ref", "session_id",
    "is_copied_context", "response", "choices", "system", "tool_use", "tool_result", "thinking", "reasoning", "value",
    "from", "lc", "kwargs", "parts", "functionCall", "functionResponse", "input", "output", "<think>", "</think>",
    "label", "threshold", "error", "additional_kwargs", "reasoning_content", "conversations", "function_call",
]  # fmt: skip

texts = st.one_of(st.sampled_from(WORDS), st.text(max_size=12))


def any_of(*taken: str) -> dict[str, Any]:
    return {word: values for word in WORDS if word not in taken}


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=5)),
    max_leaves=25,
)
messages = st.lists(
    st.fixed_dictionaries({"role": texts}, optional={"content": values, "tool_calls": values, "type": texts}),
    max_size=4,
)
steps = st.lists(st.fixed_dictionaries({"step_id": values, "source": texts}, optional={
    "message": values, "tool_calls": values, "observation": values,
    "is_copied_context": values}), max_size=4)  # fmt: skip
rows = st.one_of(
    values,
    messages,
    st.fixed_dictionaries({"messages": messages}, optional=any_of("messages")),
    st.fixed_dictionaries({"context": texts, "target": values}, optional=any_of("context", "target")),
    st.fixed_dictionaries(
        {"schema_version": st.just("ATIF-v1.6"), "steps": steps}, optional=any_of("schema_version", "steps")
    ),
)


def check(content: bytes, format: str | None = None) -> None:
    with TemporaryDirectory() as folder:
        found = read_text(Path(folder), content, format=format)
    for trace in found.traces:
        assert isinstance(trace, Trace)
        assert trace.id
        assert trace.model_dump_json()
        assert trace.messages
    for reject in found.rejects:
        assert reject.reason
        assert len(reject.excerpt) <= 500
        assert not reject.reason.startswith("Its structure does not fit"), reject
        reject.excerpt.encode()
    assert (found.reading.format is None) == bool(found.reading.refusal)


@given(st.binary(max_size=300))
@settings(max_examples=200, deadline=None)
def test_no_bytes_raise(content: bytes) -> None:
    check(content)


@given(st.lists(rows, max_size=4), st.integers(0, 3), st.integers(0, 400))
@settings(max_examples=150, deadline=None)
def test_no_json_raises_whole_or_cut(found: list[Any], layout: int, cut: int) -> None:
    text = json.dumps(found) if layout == 0 else "\n".join(json.dumps(row, indent=layout - 1 or None) for row in found)
    content = text.encode("utf-8", "surrogatepass")
    check(content if layout < 3 else content[: len(content) - cut])


@given(st.sampled_from(sorted(FORMATS)), rows)
@settings(max_examples=150, deadline=None)
def test_no_record_makes_the_importer_of_an_asked_for_format_raise(name: str, row: Any) -> None:
    FORMATS[name].recognise(row)
    check(json.dumps([row]).encode(), name)
