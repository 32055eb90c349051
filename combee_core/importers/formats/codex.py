"""Codex: rollouts that the command-line tool keeps on disk, its `exec --json` events, and the oldest bare rollouts.

Written by OpenAI's Codex CLI. Seen: rollouts of 0.140 and 0.142. Items of the Responses API come in `response_item`
lines; `event_msg` lines repeat them and are used only where no item says the same. Texts in tags such as
`<environment_context>` are the tool's own. The format holds no outcome; an aborted turn is noted.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.json_text import parse_embedded
from combee_core.importers.messages import merge_turns, read_message
from combee_core.trace import Message, ToolCall, ToolResult, Trace

_LINES = {"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"}
_EVENTS = {
    "thread.started",
    "turn.started",
    "turn.completed",
    "turn.failed",
    "item.started",
    "item.updated",
    "item.completed",
}
_ITEMS = {"message", "function_call", "function_call_output", "reasoning", "custom_tool_call",
          "custom_tool_call_output", "local_shell_call", "web_search_call"}  # fmt: skip
_OWN_WORDS = re.compile(
    r"<(environment_context|user_instructions|permissions instructions|turn_aborted|user_shell_command|INSTRUCTIONS)>",
    re.IGNORECASE,
)


class Codex:
    """Lines of Codex's rollouts and event streams, one trace a file."""

    name = "codex"
    title = "Codex logs"
    gathers = True

    def recognise(self, record: object) -> str | None:
        if not isinstance(record, dict):
            return None
        kind = record.get("type")
        if isinstance(kind, str) and kind in _LINES and "payload" in record:
            return f'has "payload" and the type {kind}'
        if isinstance(kind, str) and kind in _EVENTS:
            return f"is an event of the type {kind}"
        if {"id", "timestamp", "instructions"} <= record.keys() and kind is None:
            return 'has "id", "timestamp" and "instructions"'
        if (
            isinstance(kind, str)
            and kind in _ITEMS
            and ("call_id" in record or "role" in record or "summary" in record)
        ):
            return f"is an item of the type {kind}"
        return None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        items = [item for record in records for item in _items(record.value)]
        messages = merge_turns(_messages(items)) or merge_turns(_event_messages(records))
        if not messages:
            raise RecordError("The log holds no message.")
        asked = next((message.text for message in messages if message.role == "user" and message.text), "")
        yield Trace(
            task=asked or next((message.text for message in messages if message.text), ""),
            messages=messages,
            source=context.source(records[0]),
            feedback="\n".join(_failures(records)),
            metadata=_metadata(records),
        )


def _items(line: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Items of the Responses API, also those that events of `exec --json` stand for."""
    payload = line.get("payload")
    if line.get("type") == "response_item" and isinstance(payload, dict):
        yield payload
    elif line.get("type") == "item.completed" and isinstance(line.get("item"), dict):
        yield from _event_items(line["item"])
    elif line.get("type") in _ITEMS:
        yield line


def _event_items(item: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    kind, identity = item.get("type"), str(item.get("id") or "")
    if kind == "agent_message":
        yield {"type": "message", "role": "assistant", "content": item.get("text")}
    elif kind == "reasoning":
        yield {"type": "reasoning", "summary": [{"type": "summary_text", "text": item.get("text")}]}
    elif kind == "command_execution":
        yield {"type": "function_call", "name": "shell", "arguments": item.get("command"), "call_id": identity}
        failed = item.get("exit_code") not in (0, None)
        output = item.get("aggregated_output")
        yield {"type": "function_call_output", "call_id": identity, "output": output, "is_error": failed}
    elif kind in ("mcp_tool_call", "file_change", "web_search"):
        name = item.get("tool") or kind
        given = {key: value for key, value in item.items() if key not in ("id", "type", "status", "result", "error")}
        yield {"type": "function_call", "name": name, "arguments": given, "call_id": identity}
        if item.get("result") is not None or item.get("error") is not None:
            yield {
                "type": "function_call_output",
                "call_id": identity,
                "output": item.get("result"),
                "error": item.get("error"),
            }


def _messages(items: Iterable[Mapping[str, Any]]) -> Iterator[Message]:
    for given in items:
        item, kind = given, str(given.get("type"))
        if kind.endswith("_output") and kind not in (
            "function_call_output",
            "custom_tool_call_output",
            "local_shell_call_output",
        ):
            item = {**given, "type": "function_call_output", "output": given.get("output") or given.get("tools")}
        for message in read_message(_unwrapped(item)):
            if not (message.role == "user" and _OWN_WORDS.match(message.text.lstrip())):
                yield message


def _unwrapped(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Shell output comes as JSON text with `output` and `metadata.exit_code`."""
    output = item.get("output")
    inner = parse_embedded(output) if isinstance(output, str) else output
    if not isinstance(inner, dict) or "output" not in inner:
        return item
    about = inner.get("metadata")
    failed = isinstance(about, dict) and about.get("exit_code") not in (0, None)
    return {**item, "output": inner["output"], "is_error": failed or item.get("is_error") is True}


def _event_messages(records: Iterable[Record]) -> Iterator[Message]:
    """What `event_msg` lines say, for logs that hold nothing else."""
    for record in records:
        payload = record.value.get("payload")
        if record.value.get("type") != "event_msg" or not isinstance(payload, dict):
            continue
        text = str(payload.get("message") or payload.get("text") or "")
        if payload.get("type") == "user_message" and text:
            yield Message(role="user", text=text)
        elif payload.get("type") == "agent_message" and text:
            yield Message(role="assistant", text=text)
        elif payload.get("type") == "exec_command_end":
            call = str(payload.get("call_id") or "")
            yield Message(
                role="assistant",
                tool_calls=(ToolCall(name="shell", arguments=str(payload.get("command") or ""), id=call),),
            )
            output = str(payload.get("aggregated_output") or payload.get("stdout") or "")
            yield Message(role="tool", tool_results=(ToolResult(text=output, call_id=call),))


def _failures(records: Iterable[Record]) -> Iterator[str]:
    for record in records:
        payload = record.value.get("payload")
        event = payload if record.value.get("type") == "event_msg" and isinstance(payload, dict) else record.value
        if event.get("type") in ("turn_aborted", "error", "turn.failed"):
            error = event.get("error")
            said = error.get("message") if isinstance(error, dict) else event.get("message") or event.get("reason")
            yield f"{event['type']}: {said}" if said else str(event["type"])


def _metadata(records: Sequence[Record]) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    for record in records:
        payload = record.value.get("payload")
        payload = payload if isinstance(payload, dict) else {}
        for key, value in (
            (
                "session",
                payload.get("id") if record.value.get("type") == "session_meta" else record.value.get("thread_id"),
            ),
            ("version", payload.get("cli_version")),
            ("started", record.value.get("timestamp")),
            ("model", payload.get("model") if record.value.get("type") == "turn_context" else None),
        ):
            if value and key not in metadata:
                metadata[key] = value
    return metadata
