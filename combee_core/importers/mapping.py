"""Tables of which nobody but their owner knows what the columns mean: the owner says it, column by column."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from combee_core.errors import CombeeError
from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.messages import as_message_list, read_messages, task_of
from combee_core.importers.outcome import feedback_of, outcome_of, reference_of, text_of
from combee_core.trace import Message, Trace

FIELDS: dict[str, str] = {
    "task": "what the agent was asked",
    "answer": "what the agent answered",
    "messages": "the whole conversation, as a list of messages",
    "context": "what the agent was given beside the task",
    "reference": "the expected answer",
    "score": "a score or reward",
    "success": "whether it went well",
    "feedback": "what a judge, a test or a person said",
}


def parse_mapping(text: str) -> dict[str, str]:
    """A mapping written as `task=COLUMN,answer=COLUMN`. Raises CombeeError for fields that do not exist."""
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    if not pairs or any(not column.strip() for _, _, column in pairs):
        raise CombeeError(f"{text!r} is no mapping: write it like task=COLUMN,answer=COLUMN.")
    return checked({field.strip(): column.strip() for field, _, column in pairs})


def checked(mapping: Mapping[str, str]) -> dict[str, str]:
    """The mapping, when its fields exist and say at least what was asked. Raises CombeeError."""
    unknown = [field for field in mapping if field not in FIELDS]
    if unknown:
        raise CombeeError(f"There is no field {unknown[0]}: a column can be one of {', '.join(FIELDS)}.")
    if "task" not in mapping and "messages" not in mapping:
        raise CombeeError("Say which column is the task, or which holds the messages: task=COLUMN or messages=COLUMN.")
    return dict(mapping)


class MappedTable:
    """Rows whose columns the user has named; `mapping` says for each field which column it is."""

    name = "table"
    title = "tables with chosen columns"
    gathers = False

    def __init__(self, mapping: Mapping[str, str]) -> None:
        self._columns = checked(mapping)

    def recognise(self, record: object) -> str | None:
        known = [column for column in self._columns.values() if isinstance(record, dict) and column in record]
        main = self._columns.get("task") or self._columns["messages"]
        return f"has the chosen columns {', '.join(known)}" if main in known else None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            yield self._read_row(record, context)

    def _read_row(self, record: Record, context: Context) -> Trace:
        named: dict[str, Any] = {field: record.value.get(column) for field, column in self._columns.items()}
        task, answer = text_of(named.get("task")), text_of(named.get("answer"))
        messages = read_messages(as_message_list(named.get("messages")) or [])
        if not messages and task:
            asked = "\n\n".join(filter(None, (text_of(named.get("context")), task)))
            messages = tuple(
                message
                for message in (Message(role="user", text=asked), Message(role="assistant", text=answer))
                if message.text
            )
        if not messages:
            raise RecordError("Its task is empty, and it has no messages.")
        stated = {field: named.get(field) for field in ("score", "success", "feedback", "reference")}
        taken = set(self._columns.values())
        return Trace(
            task=task or task_of(messages) or messages[0].text,
            messages=messages,
            source=context.source(record),
            outcome=outcome_of(stated),
            feedback=feedback_of(stated),
            reference=reference_of(stated),
            metadata={key: value for key, value in record.value.items() if key not in taken and value is not None},
        )
