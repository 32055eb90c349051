"""tau-bench results: a JSON array of conversations between an agent and a simulated customer.

Written by tau-bench. Seen: its historical trajectories of GPT-4o. What the customer was told to want stands in
`info.task`, apart from what was said; the task is the customer's first message.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.messages import read_messages, task_of
from combee_core.importers.outcome import number_of, success_of
from combee_core.importers.parts import json_of
from combee_core.trace import Outcome, Trace


class TauBench:
    """Results of tau-bench."""

    name = "tau-bench"
    title = "tau-bench results"
    gathers = False

    def recognise(self, record: object) -> str | None:
        is_result = (
            isinstance(record, dict)
            and "task_id" in record
            and "reward" in record
            and isinstance(record.get("traj"), list)
        )
        return 'has "task_id", "reward" and "traj"' if is_result else None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            row: Mapping[str, Any] = record.value
            messages = read_messages(row["traj"])
            if not messages:
                raise RecordError("The conversation is empty.")
            info = row.get("info")
            task = info.get("task") if isinstance(info, dict) else None
            task = task if isinstance(task, dict) else {}
            reward = number_of(row.get("reward"))
            kept: dict[str, Any] = {key: row[key] for key in ("task_id", "trial") if key in row}
            if task.get("instruction"):
                kept["instruction"] = task["instruction"]
            yield Trace(
                task=task_of(messages) or str(task.get("instruction") or ""),
                messages=messages,
                source=context.source(record),
                outcome=Outcome(success=success_of(reward), score=reward),
                reference=json_of(task.get("actions")) if task.get("actions") else "",
                metadata=kept,
            )
