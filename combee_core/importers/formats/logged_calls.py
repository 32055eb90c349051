"""Logged model calls: request and response side by side, one a line or one a file.

Written by litellm-based agents (OpenHands' completion logs), AppWorld (`lm_calls.jsonl`), DSPy's LM history, proxies
and everybody's own wrappers. A call repeats the conversation before it; calls of one conversation become one trace.
AppWorld runs of ACE mix the calls of generator, reflector and curator in one file: they differ from their first message
on, hence come out apart. There is no outcome, unless a row says one.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.llm_calls import chains
from combee_core.importers.messages import as_message_list, read_messages, task_of
from combee_core.importers.outcome import feedback_of, outcome_of, reference_of
from combee_core.importers.parts import json_of
from combee_core.importers.spans import message_items
from combee_core.trace import Message, Trace

_KEPT = ("id", "model", "cost", "timestamp", "usage", "latency_sec", "uuid", "custom_id")


class LoggedCalls:
    """Rows with what a model got and what it said."""

    name = "llm-calls"
    title = "logged model calls (request and response)"
    gathers = True

    def recognise(self, record: object) -> str | None:
        if not isinstance(record, dict):
            return None
        if as_message_list(record.get("messages")) is not None:
            if isinstance(record.get("response"), dict):
                return 'has "messages" and "response"'
            if isinstance(record.get("outputs"), list) and "kwargs" in record:
                return 'has "messages" and "outputs" of a model call'
        for asked in ("input", "request", "body"):
            inner = record.get(asked)
            if isinstance(inner, dict) and as_message_list(inner.get("messages")) is not None:
                answer = next((key for key in ("output", "response") if isinstance(record.get(key), dict)), None)
                return f'has "{asked}" with messages, and "{answer}"' if answer else None
        return None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        found = chains((record, *call_of(record.value)) for record in records)
        if not found:
            raise RecordError("The logged calls hold no messages.")
        for chain in found:
            row: Mapping[str, Any] = chain.records[-1].value
            yield Trace(
                task=task_of(chain.messages) or chain.messages[0].text,
                messages=chain.messages,
                source=context.source(chain.records[0]),
                outcome=outcome_of(row),
                feedback=feedback_of(row),
                reference=reference_of(row),
                metadata={"calls": len(chain.records), **{key: row[key] for key in _KEPT if row.get(key) is not None}},
            )


def call_of(row: Mapping[str, Any]) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """(what the model got, what it said) of one logged call."""
    request = next((row[key] for key in ("input", "request", "body") if isinstance(row.get(key), dict)), row)
    asked = message_items({key: request[key] for key in ("messages", "system", "instructions") if key in request})
    answer: Mapping[str, Any] = next((row[key] for key in ("response", "output") if isinstance(row.get(key), dict)), {})
    body = answer.get("body")
    said = message_items(body if isinstance(body, dict) else answer)
    outputs = row.get("outputs")
    if not said and isinstance(outputs, list) and outputs:
        first = outputs[0]
        text = first.get("text") if isinstance(first, dict) else first
        said = [{"role": "assistant", "content": text if isinstance(text, str) else json_of(first)}]
    return read_messages(asked), read_messages(said)
