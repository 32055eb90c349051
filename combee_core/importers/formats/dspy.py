"""DSPy evaluations: triples of example, prediction and score as users dump them.

Written by scripts around DSPy's Evaluate. Seen: dicts of example and prediction with a score. DSPy's LM history is read
as logged model calls.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.outcome import feedback_of, outcome_of, text_of
from combee_core.importers.spans import asked_in
from combee_core.trace import Message, Trace

_ANSWERS = ("answer", "output", "label", "response", "target", "gold")


class DSPyEvaluation:
    """Evaluated examples of DSPy."""

    name = "dspy"
    title = "DSPy evaluations"
    gathers = False

    def recognise(self, record: object) -> str | None:
        is_triple = isinstance(record, dict) and isinstance(record.get("example"), dict) and "prediction" in record
        return 'has "example" and "prediction"' if is_triple else None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            yield _read_triple(record, context)


def _read_triple(record: Record, context: Context) -> Trace:
    example: Mapping[str, Any] = {
        key: value for key, value in record.value["example"].items() if not key.startswith("dspy_")
    }
    prediction = record.value["prediction"]
    prediction = prediction if isinstance(prediction, dict) else {"answer": prediction}
    answer_key = next((key for key in _ANSWERS if key in example), None)
    inputs = {key: value for key, value in example.items() if key != answer_key}
    task = asked_in(inputs) or text_of(inputs)
    said = {key: value for key, value in prediction.items() if key not in ("reasoning", "rationale")}
    answer = text_of(next(iter(said.values()))) if len(said) == 1 else text_of(said)
    if not task:
        raise RecordError("The example holds no input.")
    reasoning = text_of(prediction.get("reasoning") or prediction.get("rationale"))
    messages = [Message(role="user", text=task if len(inputs) == 1 else text_of(inputs))]
    if answer or reasoning:
        messages.append(Message(role="assistant", text=answer, reasoning=reasoning))
    return Trace(
        task=task,
        messages=tuple(messages),
        source=context.source(record),
        outcome=outcome_of(record.value),
        feedback=feedback_of(record.value),
        reference=text_of(example[answer_key]) if answer_key else "",
        metadata={key: value for key, value in record.value["example"].items() if key.startswith("dspy_")},
    )
