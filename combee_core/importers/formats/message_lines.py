"""One message a line or a row: message logs, spreadsheets with a row a turn, logs of Cursor and Grok.

Written by hand-made exports and by coding tools. Rows of one conversation share an id (`conversation_id`, `session_id`,
`thread_id`, …) and are put in the order of their turn numbers; without an id the whole file is one conversation.
Outcome, feedback and expected answer stand on one of the rows, mostly the last. Seen: Cursor's `{role, message}` lines,
Grok's lines with `tool_result`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.messages import ROLES, merge_turns, read_message, task_of
from combee_core.importers.outcome import FEEDBACK, feedback_of, number_of, outcome_of, reference_of
from combee_core.trace import Message, Trace

_IDS = (
    "conversation_id",
    "session_id",
    "thread_id",
    "chat_id",
    "dialogue_id",
    "dialog_id",
    "trace_id",
    "trajectory_id",
    "conv_id",
)
_TURNS = ("turn_index", "turn", "turn_id", "turn_number", "message_index", "step", "index", "position")
_CONTENTS = ("content", "text", "message", "tool_calls", "parts")
_PAIRS = (("user", "assistant"), ("question", "answer"), ("user_message", "assistant_message"), ("prompt", "response"))


class MessageLines:
    """Messages line by line."""

    name = "message-lines"
    title = "one message a line or row"
    gathers = True

    def recognise(self, record: object) -> str | None:
        if not isinstance(record, dict):
            return None
        role = str(record.get("role") or record.get("speaker") or record.get("type") or "").lower()
        if role in ROLES and any(key in record for key in _CONTENTS):
            return f'is a message with the role "{role}"'
        if _id_of(record) and any(key in record for key in _TURNS) and _pair(record):
            return "is a turn of a conversation"
        return None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        conversations: dict[str, list[Record]] = {}
        for record in records:
            conversations.setdefault(_id_of(record.value), []).append(record)
        for name, rows in conversations.items():
            try:
                yield _read_conversation(name, rows, context)
            except RecordError as error:
                yield context.reject(rows[0], str(error))


def _read_conversation(name: str, rows: Sequence[Record], context: Context) -> Trace:
    ordered = sorted(rows, key=lambda row: _turn(row.value))
    messages = merge_turns(message for row in ordered for message in _said(row.value))
    if not messages:
        raise RecordError("The messages of this conversation are empty.")
    known: dict[str, Any] = {}
    for row in ordered:
        known |= {key: value for key, value in row.value.items() if key not in _CONTENTS and value not in (None, "")}
    return Trace(
        task=task_of(messages) or messages[0].text,
        messages=messages,
        source=context.source(rows[0]),
        outcome=outcome_of(known),
        feedback=feedback_of(
            {key: value for key, value in known.items() if key in FEEDBACK or key.startswith("judge_")}
        ),
        reference=reference_of({key: value for key, value in known.items() if key != "answer"}),
        metadata={"conversation": name} if name else {},
    )


def _said(row: Mapping[str, Any]) -> list[Message]:
    inner = row.get("message")
    if isinstance(inner, dict):
        return read_message({"role": row.get("role") or row.get("type"), **inner})
    pair = None if row.get("role") or row.get("speaker") else _pair(row)
    if pair:
        sides: tuple[tuple[str, Any], ...] = (("user", row.get(pair[0])), ("assistant", row.get(pair[1])))
        return [message for role, content in sides for message in read_message({"role": role, "content": content})]
    content = next((row[key] for key in ("content", "text", "message") if row.get(key) is not None), None)
    return read_message({**row, "role": row.get("role") or row.get("speaker") or row.get("type"), "content": content})


def _pair(row: Mapping[str, Any]) -> tuple[str, str] | None:
    return next((pair for pair in _PAIRS if pair[0] in row or pair[1] in row), None)


def _id_of(row: Mapping[str, Any]) -> str:
    return next((str(row[key]) for key in _IDS if row.get(key) not in (None, "")), "")


def _turn(row: Mapping[str, Any]) -> float:
    return next((number for key in _TURNS if (number := number_of(row.get(key))) is not None), 0.0)
