"""mini-swe-agent trajectories: version 1.0 and 1.1 of its format (`trajectory_format`).

Written by mini-swe-agent 1 and 2. Seen: 2.4.6; fixtures of version 1 are bare message lists and are read as chat
messages. The task is the second message. The file says how the run ended and what was submitted, not whether that is
right.
"""

from collections.abc import Iterable, Sequence

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.messages import read_messages, task_of
from combee_core.importers.outcome import feedback_of, outcome_of
from combee_core.trace import Trace


class MiniSweAgent:
    """Trajectories of mini-swe-agent."""

    name = "mini-swe-agent"
    title = "mini-swe-agent trajectories"
    gathers = False

    def recognise(self, record: object) -> str | None:
        kind = record.get("trajectory_format") if isinstance(record, dict) else None
        return (
            f'has "trajectory_format" {kind[:40]}'
            if isinstance(kind, str) and kind.startswith("mini-swe-agent")
            else None
        )

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            items = record.value.get("messages")
            messages = read_messages(items if isinstance(items, list) else [])
            if not messages:
                raise RecordError("The trajectory holds no messages.")
            info = record.value.get("info")
            info = info if isinstance(info, dict) else {}
            kept = {
                key: info[key] for key in ("exit_status", "submission", "model_stats", "mini_version") if info.get(key)
            }
            yield Trace(
                task=task_of([message for message in messages if message.role == "user"]) or messages[0].text,
                messages=messages,
                source=context.source(record),
                outcome=outcome_of(info),
                feedback=feedback_of(info),
                metadata={**kept, "trajectory_format": record.value.get("trajectory_format")},
            )
