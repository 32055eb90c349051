"""Chat rows: shapes of files, of messages and of their parts."""

import json
from pathlib import Path
from typing import Any

import pytest

from combee_core.trace import Message, ToolCall, ToolResult
from tests.importers.reading import chat, lines, read_text

ROWS = [chat("one", "1"), chat("two", "2"), chat("three", "3")]


@pytest.mark.parametrize(
    ("text", "tasks"),
    [
        (lines(*ROWS), ["one", "two", "three"]),
        (json.dumps(ROWS), ["one", "two", "three"]),
        (json.dumps(ROWS, indent=2), ["one", "two", "three"]),
        (json.dumps(ROWS[0]), ["one"]),
        (json.dumps({"total": 3, "data": ROWS}), ["one", "two", "three"]),
        (json.dumps({"a": ROWS[0], "b": ROWS[1]}), ["one", "two"]),
        (json.dumps(ROWS[0]["messages"]), ["one"]),
        (json.dumps([row["messages"] for row in ROWS]), ["one", "two", "three"]),
        (lines(*(row["messages"] for row in ROWS)), ["one", "two", "three"]),
        ("\n".join(json.dumps(row, indent=1) for row in ROWS), ["one", "two", "three"]),
        ("".join(json.dumps(row) for row in ROWS), ["one", "two", "three"]),
        (lines(ROWS[0]) + json.dumps(ROWS[1], indent=2) + "\n" + json.dumps(ROWS[2]), ["one", "two", "three"]),
        ("\r".join(json.dumps(row) for row in ROWS), ["one", "two", "three"]),
    ],
)
def test_rows_are_found_however_the_file_is_laid_out(tmp_path: Path, text: str, tasks: list[str]) -> None:
    found = read_text(tmp_path, text)
    assert [trace.task for trace in found.traces] == tasks
    assert found.reading.format == "openai-chat"
    assert not found.rejects


def messages_of(tmp_path: Path, *messages: dict[str, Any]) -> tuple[Message, ...]:
    (trace,) = read_text(tmp_path, lines({"messages": [{"role": "user", "content": "go"}, *messages]})).traces
    return trace.messages[1:]


def test_tool_calls_and_results_in_the_current_and_the_old_way(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    assert messages_of(
        tmp_path,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "2"},
        {"role": "assistant", "content": "", "function_call": {"name": "add", "arguments": "not json"}},
        {"role": "function", "name": "add", "content": "failed"},
    ) == (
        Message(role="assistant", tool_calls=(ToolCall(name="add", arguments='{"a": 1}', id="c1"),)),
        Message(role="tool", tool_results=(ToolResult(text="2", call_id="c1"),)),
        Message(role="assistant", tool_calls=(ToolCall(name="add", arguments="not json"),)),
        Message(role="tool", tool_results=(ToolResult(text="failed", name="add"),)),
    )


def test_reasoning_is_found_in_its_field_in_tags_and_in_parts(tmp_path: Path) -> None:
    expected = Message(role="assistant", text="42", reasoning="six times seven")
    assert messages_of(
        tmp_path,
        {"role": "assistant", "content": "42", "reasoning_content": "six times seven"},
        {"role": "assistant", "content": "<think>\nsix times seven\n</think>\n\n42"},
        {"role": "assistant", "content": "six times seven</think>42"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "six times seven", "signature": "x"},
                                          {"type": "text", "text": "42"}]},
    ) == (expected,) * 4  # fmt: skip


def test_anthropic_blocks_become_calls_and_results(tmp_path: Path) -> None:
    use = {"type": "tool_use", "id": "t1", "name": "ls", "input": {"path": "."}}
    result = {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": [{"type": "text", "text": "no"}]}
    assert messages_of(
        tmp_path,
        {"role": "assistant", "content": [{"type": "text", "text": "Looking."}, use]},
        {"role": "user", "content": [result, {"type": "text", "text": "Try again."}]},
    ) == (
        Message(
            role="assistant", text="Looking.", tool_calls=(ToolCall(name="ls", arguments='{"path":"."}', id="t1"),)
        ),
        Message(role="tool", tool_results=(ToolResult(text="no", call_id="t1", error=True),)),
        Message(role="user", text="Try again."),
    )


def test_pictures_become_markers_with_type_and_size(tmp_path: Path) -> None:
    inline = {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,AAAAAAAA"}}
    linked = {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}
    (message,) = messages_of(tmp_path, {"role": "user", "content": [{"type": "text", "text": "See:"}, inline, linked]})
    assert message.text == "See:\n[image: image/jpeg, 6 bytes]\n[image: https://example.org/cat.png]"


def test_roles_are_compared_without_regard_to_case(tmp_path: Path) -> None:
    roles = [
        message.role
        for message in messages_of(tmp_path, {"role": "Developer", "content": "a"}, {"role": "AI", "content": "b"})
    ]
    assert roles == ["system", "assistant"]


def test_fields_go_where_they_belong_and_the_rest_stays_in_metadata(tmp_path: Path) -> None:
    row = chat("q", "a", id=7, score=1, feedback="Good.", target="a", metadata={"split": "dev"}, model="m", note=None)
    (trace,) = read_text(tmp_path, lines(row)).traces
    assert (trace.feedback, trace.reference, trace.outcome.success) == ("Good.", "a", True)
    assert trace.metadata == {"split": "dev", "id": 7, "model": "m"}
    assert (trace.source.file, trace.source.format, trace.source.index) == ("file.dat", "openai-chat", 0)


def test_without_a_user_the_task_comes_from_the_row(tmp_path: Path) -> None:
    rows = {"messages": [{"role": "assistant", "content": "done"}], "instruction": "Sort the list."}
    assert read_text(tmp_path, lines(rows)).traces[0].task == "Sort the list."


def test_an_asked_for_format_takes_every_record_or_says_what_is_missing(tmp_path: Path) -> None:
    found = read_text(tmp_path, lines(chat("q", "a"), {"x": 1}), format="openai-chat")
    assert len(found.traces) == 1
    assert [(reject.line, reject.reason) for reject in found.rejects] == [(2, "It has no list of messages.")]
