"""GEPA and DSPy reflective records: what a component got, what it made of it, and the feedback.

Written by gepa 0.1 and DSPy's optimizers: `{component: [{"Inputs", "Generated Outputs", "Feedback"}]}`; the names are
free text with spaces, and adapters choose others ("Message History", "Instruction Prompt", "Score"). The score is
often only in the feedback, so the outcome stays open unless a record says one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.messages import as_message_list, read_messages, task_of
from combee_core.importers.outcome import outcome_of, text_of
from combee_core.trace import Trace

_INPUTS = ("Inputs", "Program Inputs", "Input", "Question", "Instruction Prompt")
_OUTPUTS = ("Generated Outputs", "Generated Output", "Output", "Program Outputs", "Response")
_REFERENCES = ("Expected Output", "Expected Outputs", "Reference Answer", "Ground Truth")
_MAPPED = {"Feedback", "Message History", *_INPUTS, *_OUTPUTS, *_REFERENCES}


class Gepa:
    """Reflective records."""

    name = "gepa"
    title = "GEPA reflective records"
    gathers = False

    def recognise(self, record: object) -> str | None:
        if not isinstance(record, dict):
            return None
        if "Feedback" in record:
            return 'has "Feedback"'
        for key, value in record.items():
            first = value[0] if isinstance(value, list) and value else None
            if isinstance(first, dict) and "Feedback" in first:
                return f'has "{key[:40]}", a list of records with Feedback'
        return None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            for component, number, item in _items(record.value):
                try:
                    yield _read_item(item, component, Record(item, record.line, number), context)
                except RecordError as error:
                    yield context.reject(Record(item, record.line, number), str(error))


def _items(value: Mapping[str, Any]) -> Iterator[tuple[str, int | None, Mapping[str, Any]]]:
    if "Feedback" in value:
        yield "", None, value
        return
    for component, items in value.items():
        for number, item in enumerate(items if isinstance(items, list) else []):
            if isinstance(item, dict):
                yield component, number, item


def _read_item(item: Mapping[str, Any], component: str, record: Record, context: Context) -> Trace:
    history = as_message_list(item.get("Message History"))
    asked = _text(next((item[key] for key in _INPUTS if item.get(key)), ""))
    said = _text(next((item[key] for key in _OUTPUTS if item.get(key)), ""))
    messages = read_messages(history) if history else ()
    if not messages:
        messages = read_messages([{"role": "user", "content": asked}, {"role": "assistant", "content": said}])
    if not messages:
        raise RecordError("The record holds neither inputs nor outputs.")
    kept = {key: value for key, value in item.items() if key not in _MAPPED}
    return Trace(
        task=asked or task_of(messages) or messages[0].text,
        messages=messages,
        source=context.source(record),
        outcome=outcome_of({key.lower(): value for key, value in kept.items()}),
        feedback=text_of(item.get("Feedback")),
        reference=_text(next((item[key] for key in _REFERENCES if item.get(key)), "")),
        metadata=kept | ({"component": component} if component else {}),
    )


def _text(value: object) -> str:
    """One input by itself, several as JSON."""
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    return text_of(value)
