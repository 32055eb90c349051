"""ACE question files: the FiNER and Formula benchmarks of the ACE repository, and files of one's own in that shape.

A row has `context` and `target`, own files also `question`, `answer`, `metadata`. Formula's context ends in
`Question: "…". Answer:`, FiNER's in four numbered questions and "Output US GAAP tags:". Rows are tasks without a run;
with a prediction column (`prediction`, `output`, `final_answer`, …) they are runs of one step, and the outcome comes
from comparing prediction and target: numbers as numbers, a comma-separated list position by position.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.outcome import feedback_of, number_of, outcome_of, text_of
from combee_core.trace import Message, Outcome, Trace

PREDICTIONS = (
    "prediction",
    "predicted",
    "final_answer",
    "model_answer",
    "model_output",
    "output",
    "response",
    "answer",
)
_MAPPED = {"context", "question", "target", "feedback"}
_QUESTION, _ANSWER, _TAGS = "Question:", "Answer:", "Output US GAAP tags:"
_NUMBERED = re.compile(r"^1\.[ \t]", re.MULTILINE)
_QUOTES = "\"'“”‘’"
_TOLERANCE = 1e-6


class Ace:
    """Rows with context and target."""

    name = "ace"
    title = "ACE question files (context and target)"
    gathers = False

    def recognise(self, record: object) -> str | None:
        if isinstance(record, dict) and _is_text(record.get("context")) and "target" in record:
            return 'has "context" and "target"'
        return None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            yield _read_row(record, context)


def question_in(context: str) -> str:
    """The question inside a context: after "Question:", or FiNER's numbered questions; else the whole context."""
    numbered = _NUMBERED.search(context) if "US GAAP" in context else None
    if numbered:
        return context[numbered.start() :].rstrip().removesuffix(_TAGS).strip()
    question = context.partition(_QUESTION)[2].rstrip().removesuffix(_ANSWER).strip()
    if question and question[0] in _QUOTES:
        question = question.rstrip(".").strip().strip(_QUOTES)
    return question.strip() or context.strip()


def share_right(prediction: str, target: str) -> float:
    """How much of the target a prediction has: 1.0 or 0.0, for a list of several tags the share of right positions."""
    tags = [tag.strip() for tag in target.split(",")]
    if len(tags) > 1 and number_of(target) is None:
        given = [tag.strip() for tag in prediction.split(",")]
        return sum(_same(one, other) for one, other in zip(given, tags, strict=False)) / len(tags)
    return 1.0 if _same(prediction, target) else 0.0


def _read_row(record: Record, context: Context) -> Trace:
    row: Mapping[str, Any] = record.value if isinstance(record.value, dict) else {}
    asked, question, target = (text_of(row.get(key)) for key in ("context", "question", "target"))
    if not asked and not question:
        raise RecordError('It has no text in "context" or "question".')
    column = next((key for key in PREDICTIONS if row.get(key) is not None and not isinstance(row[key], dict)), None)
    prediction = text_of(row[column]) if column else ""
    messages = [Message(role="user", text="\n\n".join(filter(None, (asked, question))))]
    if prediction:
        messages.append(Message(role="assistant", text=prediction))
    return Trace(
        task=question or question_in(asked),
        messages=tuple(messages),
        source=context.source(record),
        outcome=_outcome(row, prediction, target),
        feedback=feedback_of(row),
        reference=target,
        metadata={key: value for key, value in row.items() if key not in _MAPPED and key != column},
    )


def _outcome(row: Mapping[str, Any], prediction: str, target: str) -> Outcome:
    """What the row states; else the comparison of prediction and target."""
    stated = outcome_of({key: value for key, value in row.items() if key != "target"})
    if not prediction or not target or stated.success is not None or stated.score is not None:
        return stated
    score = share_right(prediction, target)
    return Outcome(success=score == 1.0, score=score)


def _same(one: str, other: str) -> bool:
    first, second = _number(one), _number(other)
    if first is not None and second is not None:
        return abs(first - second) <= _TOLERANCE * max(1.0, abs(second))
    return one.strip().casefold() == other.strip().casefold()


def _number(text: str) -> float | None:
    """A number as people write answers: "$1,250.00", "15 %", "15.0"."""
    bare = text.strip().strip("$€£%").strip()
    return number_of(bare.replace(",", "")) if re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", bare) else number_of(bare)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
