"""Logs of other agents that hold one session a file: Gemini CLI and Hermes.

Gemini CLI writes `{sessionId, messages[{type, content, thoughts, toolCalls}]}`, with a tool's result inside its call;
Hermes `{session, messages}` with chat messages. Seen: gemini-cli of 2025, Hermes of 2026. Neither holds an outcome.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.messages import as_message_list, read_message, read_messages, task_of
from combee_core.importers.parts import call_of, json_of
from combee_core.trace import Message, ToolResult, Trace


class GeminiCli:
    """Sessions of Gemini CLI."""

    name = "gemini-cli"
    title = "Gemini CLI logs"
    gathers = False

    def recognise(self, record: object) -> str | None:
        items = record.get("messages") if isinstance(record, dict) else None
        is_session = isinstance(record, dict) and "sessionId" in record and isinstance(items, list)
        is_typed = isinstance(items, list) and any(
            isinstance(item, dict) and item.get("type") in ("user", "gemini") for item in items
        )
        return 'has "sessionId" and "messages" of the type gemini' if is_session and is_typed else None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            messages = tuple(
                message for item in record.value["messages"] if isinstance(item, dict) for message in _gemini(item)
            )
            kept = {
                key: record.value[key] for key in ("sessionId", "startTime", "lastUpdated") if record.value.get(key)
            }
            yield _trace(messages, record, context, kept)


class Hermes:
    """Sessions of Hermes."""

    name = "hermes"
    title = "Hermes logs"
    gathers = False

    def recognise(self, record: object) -> str | None:
        if not isinstance(record, dict) or not isinstance(record.get("session"), dict):
            return None
        return 'has "session" and "messages"' if as_message_list(record.get("messages")) is not None else None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            session: Mapping[str, Any] = record.value["session"]
            messages = read_messages(as_message_list(record.value.get("messages")) or [])
            prompt = session.get("system_prompt")
            if isinstance(prompt, str) and prompt and messages and messages[0].role != "system":
                messages = (Message(role="system", text=prompt), *messages)
            kept = {key: session[key] for key in ("id", "source", "model", "started_at", "title") if session.get(key)}
            yield _trace(messages, record, context, kept)


def _trace(messages: tuple[Message, ...], record: Record, context: Context, kept: dict[str, Any]) -> Trace:
    if not messages:
        raise RecordError("The session holds no message.")
    return Trace(
        task=task_of(messages) or messages[0].text, messages=messages, source=context.source(record), metadata=kept
    )


def _gemini(item: Mapping[str, Any]) -> Iterator[Message]:
    thoughts = item.get("thoughts")
    reasoning = "\n".join(
        ": ".join(str(thought[key]) for key in ("subject", "description") if thought.get(key))
        for thought in (thoughts if isinstance(thoughts, list) else [])
        if isinstance(thought, dict)
    )
    found = item.get("toolCalls")
    calls = [call for call in found if isinstance(call, dict)] if isinstance(found, list) else []
    role = "assistant" if item.get("type") == "gemini" else item.get("type")
    yield from read_message({"role": role, "content": item.get("content"), "reasoning": reasoning, "tool_calls": calls})
    for call in calls:
        if call.get("result") is not None or call.get("resultDisplay") is not None:
            asked = call_of(call)
            text = _result_text(call.get("result")) or json_of(call.get("resultDisplay"))
            result = ToolResult(
                text=text,
                name=asked.name if asked else "",
                call_id=asked.id if asked else "",
                error=str(call.get("status")) in ("error", "cancelled"),
            )
            yield Message(role="tool", tool_results=(result,))


def _result_text(result: object) -> str:
    items = read_message({"role": "user", "parts": result if isinstance(result, list) else [result]}) if result else []
    return "\n".join(found.text for message in items for found in message.tool_results) or "\n".join(
        item.text for item in items
    )
