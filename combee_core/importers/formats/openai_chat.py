"""Chat messages: the lowest common denominator of agent traces.

One conversation is a row with a list of messages (`messages`, `conversation`, `trajectory`, …) as OpenAI's chat API has
them, written by trainers, evaluators and everybody's own scripts as JSON Lines, as a JSON array, as one object, or as
the bare list itself. Seen: OpenAI fine-tuning files, LLaMA-Factory (parts with `value`, boolean `label`), SWE-smith,
tau-bench rows, litellm call logs with `response`; content as text, null or parts; lists as JSON text or Python literal.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.messages import as_message_list, is_bare_message_list, read_messages, task_of
from combee_core.importers.outcome import FEEDBACK, REFERENCES, feedback_of, outcome_of, reference_of, text_of
from combee_core.trace import Message, Trace

STEPS = ("messages", "conversation", "conversations", "trajectory", "history", "traj", "steps", "input")
_TASKS = ("instruction", "question", "problem_statement", "prompt", "query", "task", "task_description")
_MAPPED = {"reward", "score", "success", "resolved", "passed", "correct", "label", "rating", *FEEDBACK, *REFERENCES}


class OpenAIChat:
    """Rows with a list of chat messages, or such a list alone."""

    name = "openai-chat"
    title = "OpenAI chat messages (JSON or JSON Lines)"
    gathers = False

    def recognise(self, record: object) -> str | None:
        if isinstance(record, dict):
            found = _steps(record)
            return f'has "{found[0]}", a list of chat messages' if found else None
        return "is a list of chat messages" if is_bare_message_list(record) else None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            yield read_row(record, context)


def read_row(record: Record, context: Context) -> Trace:
    """The trace of one row. Raises RecordError when it holds no message with text."""
    row: Mapping[str, Any] = record.value if isinstance(record.value, dict) else {"messages": record.value}
    found = _steps(row)
    if found is None:
        raise RecordError(what_is_missing(row) or "It has no list of messages.")
    key, items = found
    messages = read_messages(items) + _reply_of(row)
    messages = _with_system_prompt(row, messages)
    if not messages:
        raise RecordError(f'"{key}" has messages, but all of them are empty.')
    asked = any(message.role == "user" for message in messages)
    task = "" if asked else next((text_of(row[name]) for name in _TASKS if row.get(name)), "")
    return Trace(
        task=task or task_of(messages) or messages[0].text,
        messages=messages,
        source=context.source(record),
        outcome=outcome_of(row),
        feedback=feedback_of(row),
        reference=reference_of(row),
        metadata=_metadata(row, key),
    )


def _steps(row: Mapping[str, Any]) -> tuple[str, list[Any]] | None:
    """The field with the messages, and the messages."""
    for key in STEPS:
        if key in row and (items := as_message_list(row[key])) is not None:
            return key, items
    return None


def what_is_missing(row: Mapping[str, Any]) -> str | None:
    """Why a row with a field for messages is no trace; None when it has no such field."""
    key = next((key for key in STEPS if key in row), None)
    if key is None:
        return None
    return f'"{key}" holds no list of messages with a role and content.' if row[key] else f'"{key}" is empty.'


def _reply_of(row: Mapping[str, Any]) -> tuple[Message, ...]:
    """The model's answer where a row is one logged call: request messages and, apart from them, the response."""
    response = row.get("response")
    if isinstance(response, str):
        return (Message(role="assistant", text=response),) if response else ()
    choices = response.get("choices") if isinstance(response, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return ()
    message = choices[0].get("message")
    return read_messages([{"role": "assistant", **message}]) if isinstance(message, dict) else ()


def _with_system_prompt(row: Mapping[str, Any], messages: tuple[Message, ...]) -> tuple[Message, ...]:
    prompt = row.get("system") or row.get("system_prompt")
    if not isinstance(prompt, str) or any(message.role == "system" for message in messages):
        return messages
    return (Message(role="system", text=prompt), *messages)


def _metadata(row: Mapping[str, Any], steps_key: str) -> dict[str, Any]:
    """What no other field of the trace holds; the row's own `metadata` comes first."""
    inner = row.get("metadata")
    metadata: dict[str, Any] = dict(inner) if isinstance(inner, dict) else {}
    for key, value in row.items():
        mapped = key == steps_key or (key == "metadata" and isinstance(inner, dict)) or value is None
        if not mapped and (key not in _MAPPED or isinstance(value, dict | list)):
            metadata[key] = value
    return metadata
