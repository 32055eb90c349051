"""Rows of `harbor traces export`: one row an episode, each with the conversation so far.

Written by Harbor as a data set (parquet). Seen: columns conversations, task, episode, run_id, trial_name, result. Rows
of one trial grow; the last one holds the whole conversation. `result` is a reward as text, the name of an exception, or
nothing. Public sets of Terminal-Bench 2 runs have one row a trial with `steps` and `reward` instead: chat messages.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.formats.atif import task_in
from combee_core.importers.messages import as_message_list, read_messages, task_of
from combee_core.importers.outcome import number_of, success_of
from combee_core.trace import Outcome, Trace

_KEPT = ("agent", "model", "model_provider", "date", "task", "episode", "run_id", "trial_name", "trace_source")


class HarborTraces:
    """Exported episodes of Harbor trials."""

    name = "harbor-traces"
    title = "Harbor trace exports"
    gathers = True

    def recognise(self, record: object) -> str | None:
        if not isinstance(record, dict) or not {"trial_name", "episode"} <= record.keys():
            return None
        return (
            'has "conversations", "trial_name" and "episode"' if as_message_list(record.get("conversations")) else None
        )

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        trials: dict[tuple[str, str, str], Record] = {}
        for record in records:
            row: Mapping[str, Any] = record.value
            key = (str(row.get("run_id")), str(row.get("trial_name")), str(row.get("trace_source")))
            known = trials.get(key)
            if known is None or _episode(record) >= _episode(known):
                trials[key] = record
        for record in trials.values():
            try:
                yield _read_trial(record, context)
            except RecordError as error:
                yield context.reject(record, str(error))


def _episode(record: Record) -> int:
    digits = re.findall(r"\d+", str(record.value.get("episode")))
    return int(digits[-1][:9]) if digits else 0


def _read_trial(record: Record, context: Context) -> Trace:
    row: Mapping[str, Any] = record.value
    messages = read_messages(as_message_list(row.get("conversations")) or [])
    if not messages:
        raise RecordError("The conversation is empty.")
    result = row.get("result")
    reward = number_of(result)
    exception = str(result) if isinstance(result, str) and result.strip() and reward is None else ""
    instruction = row.get("instruction")
    return Trace(
        task=instruction
        if isinstance(instruction, str) and instruction
        else task_in(task_of(messages)) or messages[0].text,
        messages=messages,
        source=context.source(record),
        outcome=Outcome(success=False if exception else success_of(reward), score=reward),
        feedback=exception,
        metadata={key: row[key] for key in _KEPT if row.get(key) is not None},
    )
