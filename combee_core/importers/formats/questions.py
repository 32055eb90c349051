"""Question rows: a question with an answer or an expected answer, as evaluators and spreadsheets have them.

Also kayba's own records (`question`, `context`, `ground_truth`, `feedback`, `reasoning`, `answer`). With a prediction
beside the expected answer they are runs of one step, and the outcome comes from comparing the two when the row says
none.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.formats.ace import share_right
from combee_core.importers.outcome import feedback_of, outcome_of, text_of
from combee_core.trace import Message, Outcome, Trace

_QUESTIONS = ("question", "prompt", "query", "instruction", "problem")
_EXPECTED = ("ground_truth", "target", "expected", "expected_answer", "reference", "gold", "correct_answer", "ideal")
_GIVEN = ("prediction", "response", "model_answer", "model_output", "output", "completion", "final_answer", "answer")
_ASKED = frozenset(_QUESTIONS)
_MAPPED = {*_QUESTIONS, *_EXPECTED, *_GIVEN, "context", "reasoning", "feedback"}


class Questions:
    """Rows with a question and an answer."""

    name = "questions"
    title = "question and answer rows"
    gathers = False

    def recognise(self, record: object) -> str | None:
        if not isinstance(record, dict) or _ASKED.isdisjoint(record):
            return None
        question = next((key for key in _QUESTIONS if isinstance(record.get(key), str) and record[key].strip()), None)
        answer = next((key for key in (*_EXPECTED, *_GIVEN) if _is_answer(record.get(key))), None)
        return f'has "{question}" and "{answer}"' if question and answer else None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            yield _read_row(record, context)


def _read_row(record: Record, context: Context) -> Trace:
    row: Mapping[str, Any] = record.value
    question = next((text for key in _QUESTIONS if (text := text_of(row.get(key)))), "")
    if not question:
        raise RecordError("It has no question.")
    expected = next((text for key in _EXPECTED if (text := text_of(row.get(key)))), "")
    given = next((text for key in _GIVEN if (text := text_of(row.get(key)))), "")
    if not expected and "answer" in row and given == text_of(row["answer"]) and not outcome_of(row).score:
        expected, given = (given, "") if _is_key_only(row) else (expected, given)
    asked = "\n\n".join(filter(None, (text_of(row.get("context")), question)))
    messages = [Message(role="user", text=asked)]
    if given:
        messages.append(Message(role="assistant", text=given, reasoning=text_of(row.get("reasoning"))))
    return Trace(
        task=question,
        messages=tuple(messages),
        source=context.source(record),
        outcome=_outcome(row, given, expected),
        feedback=feedback_of(row),
        reference=expected,
        metadata={key: value for key, value in row.items() if key not in _MAPPED and value is not None},
    )


def _is_key_only(row: Mapping[str, Any]) -> bool:
    """A lone `answer` without any judgement of it is the expected answer of a data set."""
    stated = outcome_of(row)
    return stated.success is None and stated.score is None and not feedback_of(row) and not row.get("reasoning")


def _outcome(row: Mapping[str, Any], given: str, expected: str) -> Outcome:
    stated = outcome_of({key: value for key, value in row.items() if key not in _EXPECTED})
    if not given or not expected or stated.success is not None or stated.score is not None:
        return stated
    score = share_right(given, expected)
    return Outcome(success=score == 1.0, score=score)


def _is_answer(value: object) -> bool:
    return not isinstance(value, bool) and bool(text_of(value))
