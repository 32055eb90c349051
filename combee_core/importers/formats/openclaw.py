"""OpenClaw and Pi: JSON Lines that start with a `session` line, followed by `message` lines and others.

Written by the OpenClaw and Pi agents; kayba's framework ships one as an example. Seen: session versions 3 and 7. A line
may have stray text in front. The format holds no outcome.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.messages import read_message
from combee_core.trace import Trace

_OTHERS = {"model_change", "thinking_level_change", "custom", "compaction", "branch_summary", "label", "session_info"}


class OpenClaw:
    """Lines of OpenClaw and Pi, one trace a session."""

    name = "openclaw"
    title = "OpenClaw and Pi logs"
    gathers = True

    def recognise(self, record: object) -> str | None:
        if not isinstance(record, dict):
            return None
        kind = record.get("type")
        if kind == "session" and ("version" in record or "cwd" in record):
            return 'is a session line with "version" or "cwd"'
        if kind == "message" and "parentId" in record and isinstance(record.get("message"), dict):
            return 'is a message line with "parentId"'
        return (
            f'is a line of the type {kind} with "parentId"'
            if isinstance(kind, str) and kind in _OTHERS and "parentId" in record
            else None
        )

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        sessions: list[list[Record]] = [[]]
        for record in records:
            if record.value.get("type") == "session" and sessions[-1]:
                sessions.append([])
            sessions[-1].append(record)
        for lines in sessions:
            try:
                yield _read_session(lines, context)
            except RecordError as error:
                yield context.reject(lines[0], str(error))


def _read_session(lines: Sequence[Record], context: Context) -> Trace:
    said = [line.value["message"] for line in lines if isinstance(line.value.get("message"), dict)]
    messages = tuple(message for item in said for message in read_message(item))
    if not messages:
        raise RecordError("The session holds no message.")
    asked = next((message.text for message in messages if message.role == "user" and message.text), "")
    head: dict[str, Any] = lines[0].value if lines[0].value.get("type") == "session" else {}
    models = sorted({str(item["model"]) for item in said if item.get("model")})
    metadata = {
        "session": head.get("id"),
        "version": head.get("version"),
        "started": head.get("timestamp"),
        "models": models,
    }
    return Trace(
        task=asked or next((message.text for message in messages if message.text), ""),
        messages=messages,
        source=context.source(lines[0]),
        metadata={key: value for key, value in metadata.items() if value},
    )
