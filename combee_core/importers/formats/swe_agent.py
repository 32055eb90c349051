"""SWE-agent trajectories (`.traj`): versions 0.x and 1.x, and demonstrations that hold a history only.

Written by SWE-agent. Seen: 0.x with `state` as JSON text, 1.x with `replay_config`. The file says how the run ended
(`info.exit_status`) and what was submitted, not whether that solves the issue: SWE-bench reports say so.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.json_text import parse_embedded
from combee_core.importers.messages import read_message, task_of
from combee_core.trace import Message, ToolCall, ToolResult, Trace


class SweAgent:
    """Trajectories of SWE-agent."""

    name = "swe-agent"
    title = "SWE-agent trajectories"
    gathers = False

    def recognise(self, record: object) -> str | None:
        if not isinstance(record, dict):
            return None
        steps, history = record.get("trajectory"), record.get("history")
        first = steps[0] if isinstance(steps, list) and steps else None
        if isinstance(first, dict) and "action" in first and "observation" in first and ("info" in record or history):
            return 'has "trajectory" with action and observation'
        said = history[0] if isinstance(history, list) and history else None
        is_demonstration = isinstance(said, dict) and "agent" in said and "role" in said
        return 'has "history" of an agent' if is_demonstration else None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            yield _read_trajectory(record, context)


def _read_trajectory(record: Record, context: Context) -> Trace:
    value: Mapping[str, Any] = record.value
    history = value.get("history")
    messages = tuple(_from_history(history)) if isinstance(history, list) else ()
    messages = messages or tuple(_from_steps(value.get("trajectory")))
    if not messages:
        raise RecordError("The trajectory holds neither a history nor steps.")
    info = value.get("info")
    kept = (
        {key: item for key, item in info.items() if not key.startswith("edited_files")}
        if isinstance(info, dict)
        else {}
    )
    return Trace(
        task=_problem(value) or task_of(messages) or messages[0].text,
        messages=messages,
        source=context.source(record),
        metadata={"environment": value["environment"], **kept} if value.get("environment") else kept,
    )


def _problem(value: Mapping[str, Any]) -> str:
    """The issue's text as the run was configured with it."""
    config = value.get("replay_config")
    config = parse_embedded(config) if isinstance(config, str) else config
    statement = config.get("problem_statement") if isinstance(config, dict) else None
    text = statement.get("text") if isinstance(statement, dict) else None
    return text.strip() if isinstance(text, str) else ""


def _from_history(history: Sequence[Any]) -> Iterator[Message]:
    """Messages without the demonstration that some runs show to the model first."""
    for item in history:
        if isinstance(item, dict) and not item.get("is_demo"):
            ids = item.get("tool_call_ids")
            call_id = {"tool_call_id": ids[0]} if isinstance(ids, list) and ids and "tool_call_id" not in item else {}
            yield from read_message({**item, **call_id})


def _from_steps(steps: object) -> Iterator[Message]:
    for number, step in enumerate(steps if isinstance(steps, list) else [], 1):
        if isinstance(step, dict):
            call = ToolCall(name="shell", arguments=str(step.get("action") or ""), id=f"step-{number}")
            yield Message(role="assistant", text=str(step.get("thought") or ""), tool_calls=(call,))
            observed = str(step.get("observation") or "")
            yield Message(role="tool", tool_results=(ToolResult(text=observed, name="shell", call_id=call.id),))
