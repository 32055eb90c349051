"""Prompt and completion rows: rollouts of the verifiers library, and everybody's prompt/completion tables.

Written by verifiers (`results.jsonl`), by trainers and evaluators. Seen: fields of verifiers' output writer. Prompt and
completion are message lists or text, the completion may be null; `example_id` repeats for each rollout.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.messages import as_message_list, read_messages, task_of
from combee_core.importers.outcome import FEEDBACK, feedback_of, outcome_of, reference_of
from combee_core.trace import Message, Trace

_ANSWERS = ("completion", "response", "output", "model_output")
_MAPPED = {"prompt", "reward", "answer", *_ANSWERS, *FEEDBACK}


class PromptCompletion:
    """Rows with a prompt and a completion."""

    name = "verifiers"
    title = "prompt and completion rows (verifiers)"
    gathers = False

    def recognise(self, record: object) -> str | None:
        if not isinstance(record, dict) or not _is_text_or_messages(record.get("prompt")):
            return None
        key = next((key for key in _ANSWERS if key in record and _is_text_or_messages(record[key])), None)
        key = key or ("completion" if "completion" in record and "reward" in record else None)
        return f'has "prompt" and "{key}"' if key else None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            row: Mapping[str, Any] = record.value
            answer = next((row[key] for key in _ANSWERS if row.get(key) is not None), None)
            asked, said = _messages(row.get("prompt"), "user"), _messages(answer, "assistant")
            if not asked:
                raise RecordError("The prompt is empty.")
            yield Trace(
                task=task_of(asked) or asked[0].text,
                messages=(*asked, *said),
                source=context.source(record),
                outcome=outcome_of(row),
                feedback=feedback_of(row),
                reference=reference_of(row),
                metadata={key: value for key, value in row.items() if key not in _MAPPED and value is not None},
            )


def _messages(value: object, role: str) -> tuple[Message, ...]:
    items = as_message_list(value)
    return read_messages(items if items is not None else [{"role": role, "content": value}])


def _is_text_or_messages(value: object) -> bool:
    return (isinstance(value, str) and bool(value.strip())) or as_message_list(value) is not None
