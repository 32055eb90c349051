"""Tables of which nobody but their owner knows what the columns mean: the owner says it, column by column."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rapidfuzz import fuzz

from combee_core.errors import CombeeError
from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.messages import as_message_list, read_messages, task_of
from combee_core.importers.outcome import feedback_of, number_of, outcome_of, reference_of, text_of
from combee_core.trace import Message, Outcome, Trace

FIELDS: dict[str, str] = {
    "task": "what the agent was asked",
    "answer": "what the agent answered",
    "messages": "the whole conversation, as a list of messages",
    "context": "what the agent was given beside the task",
    "reference": "the expected answer",
    "score": "a score or reward; 1 is a success and 0 a failure, unless some row has a number outside 0 to 1",
    "success": "whether it went well",
    "feedback": "what a judge, a test or a person said",
}


_LIKELY: dict[str, tuple[str, ...]] = {
    "task": ("task", "question", "prompt", "query", "instruction", "input", "request", "problem", "wanted", "asked"),
    "messages": ("messages", "conversation", "dialogue", "chat", "transcript"),
    "answer": ("answer", "response", "output", "completion", "prediction", "generation", "reply", "result"),
    "reference": ("reference", "expected", "target", "label", "gold", "truth", "correct answer"),
    "context": ("context", "document", "passage", "background"),
    "score": ("score", "reward", "rating", "grade", "stars", "points"),
    "success": ("success", "correct", "passed", "solved", "outcome", "ok"),
    "feedback": ("feedback", "comment", "remark", "critique", "rationale", "explanation", "review", "note"),
}
ALIKE = 85
"""Likeness of two words, of 100, from which a column's name is taken for a field's."""


def guess_mapping(columns: Sequence[str]) -> dict[str, str]:
    """What the names of columns suggest; each column is one field at most, and what is unclear is left out."""
    alike = sorted(
        (
            (-_likeness(column, words), place, column, field)
            for field, words in _LIKELY.items()
            for place, column in enumerate(columns)
        ),
    )
    mapping: dict[str, str] = {}
    for likeness, _, column, field in alike:
        if -likeness >= ALIKE and field not in mapping and column not in mapping.values():
            mapping[field] = column
    return mapping


def _likeness(column: str, words: Sequence[str]) -> float:
    """0 to 100: a name that is the word itself comes before one that holds it among others."""
    parts = re.sub(r"(?<=[a-z])(?=[A-Z])|[\W_]+", " ", column).lower().split()
    whole = max(fuzz.ratio(" ".join(parts), word) for word in words)
    return max([whole, *(fuzz.ratio(part, word) - 5 for part in parts for word in words)])


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
    """Rows whose columns the user has named; `mapping` says for each field which column it is.

    `is_rating` says that the scores are on another scale than 0 to 1, of which nobody knows what a success is.
    """

    name = "table"
    title = "tables with chosen columns"
    gathers = False

    def __init__(self, mapping: Mapping[str, str], is_rating: bool = False) -> None:
        self._columns = checked(mapping)
        self._is_rating = is_rating

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
            outcome=self._outcome(stated),
            feedback=feedback_of(stated),
            reference=reference_of(stated),
            metadata={key: value for key, value in record.value.items() if key not in taken and value is not None},
        )

    def _outcome(self, stated: Mapping[str, Any]) -> Outcome:
        outcome = outcome_of(stated)
        if self._is_rating and number_of(stated["score"]) is not None:
            return replace(outcome, success=outcome_of({"success": stated["success"]}).success)
        return outcome
