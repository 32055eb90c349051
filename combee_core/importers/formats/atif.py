"""ATIF, the Agent Trajectory Interchange Format of Harbor and Terminal-Bench 2.

A document has `schema_version` "ATIF-v1.N" and `steps`; each step has `source` (system, user, agent), `message`, and
may hold tool calls together with their results. Written by Harbor's agents (Terminus 2, OpenHands, …), NeMo Agent
Toolkit, Phoenix and others. Seen: 1.4 to 1.7 in files, 1.0 to 1.8 in readers' tests; newer ones are read the same way.
Looser dialects: version without the prefix, `agent.model`, several trajectories in one object. The format holds no
outcome: that comes from result files beside it, or from fields that a writer adds.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.messages import task_of
from combee_core.importers.outcome import feedback_of, outcome_of, reference_of
from combee_core.importers.parts import Content, calls_of, json_of
from combee_core.trace import Message, Role, ToolResult, Trace

_ROLES: dict[str, Role] = {"system": "system", "user": "user", "agent": "assistant", "assistant": "assistant"}
_ROOT_FIELDS = {"schema_version", "steps", "subagent_trajectories"}
_HEADING = re.compile(r"^[ \t]*(?:#+[ \t]*)?\**Task Description:?\**:?[ \t]*\n", re.IGNORECASE | re.MULTILINE)
_AFTER_TASK = re.compile(r"^[ \t]*(?:#+[ \t]*)?\**Current terminal (?:state|screen)", re.IGNORECASE | re.MULTILINE)
_HANDED_OVER, _SUMMARY = "**Original Task:**", "\n**Summary"

Document = Mapping[str, Any]


class Atif:
    """Whole trajectories, one a record."""

    name = "atif"
    title = "ATIF trajectories (Harbor, Terminal-Bench)"
    gathers = False

    def recognise(self, record: object) -> str | None:
        if not isinstance(record, dict):
            return None
        if reason := _why(record):
            return reason
        inner = [value for value in record.values() if isinstance(value, dict) and _why(value)]
        return f"holds {len(inner)} ATIF trajectories" if inner and len(inner) == len(record) else None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            if not isinstance(record.value, dict):
                raise RecordError("It is no ATIF trajectory: an object with steps is expected.")
            for parent, children in _families(record.value):
                yield read_trajectory(parent, children, record, context)


def read_trajectory(document: Document, children: Sequence[Document], record: Record, context: Context) -> Trace:
    """The trace of one trajectory with those of its subagents. Raises RecordError when no step holds anything."""
    steps = [step for step in _steps(document) if isinstance(step, dict)]
    own = [step for step in steps if not step.get("is_copied_context")] or steps
    messages = tuple(message for step in own for message in _messages(step))
    if not messages:
        raise RecordError("None of its steps holds a message, a tool call or a result.")
    whole = messages if len(own) == len(steps) else tuple(message for step in steps for message in _messages(step))
    metadata = _metadata(document)
    if children:
        metadata["subagents"] = [_subagent(child) for child in children]
    return Trace(
        task=task_in(task_of(whole)) or messages[0].text,
        messages=messages,
        source=context.source(record),
        outcome=outcome_of(document),
        feedback=feedback_of(document),
        reference=reference_of(document),
        metadata=metadata,
    )


def task_in(message: str) -> str:
    """The task inside an agent's first message: Terminus puts its instructions in front, under a heading of its own."""
    heading = _HEADING.search(message)
    if heading is None:
        _, found, handed_over = message.partition(_HANDED_OVER)
        return (handed_over.partition(_SUMMARY)[0] if found else message).strip()
    task = message[heading.end() :]
    end = _AFTER_TASK.search(task)
    return (task[: end.start()] if end else task).strip() or message.strip()


def _why(record: Document) -> str | None:
    steps, version = record.get("steps"), record.get("schema_version")
    if not isinstance(steps, list):
        return None
    if isinstance(version, str) and version.upper().startswith("ATIF-"):
        return f'has "schema_version" {version[:20]}'
    first = steps[0] if steps else None
    if "agent" in record and isinstance(first, dict) and "step_id" in first and "source" in first:
        return 'has "agent" and "steps" with step_id and source'
    return None


def _steps(document: Document) -> list[Any]:
    steps = document.get("steps")
    return steps if isinstance(steps, list) else []


def _families(value: dict[str, Any]) -> Iterator[tuple[Document, list[Document]]]:
    """Each trajectory that is a run of its own, with the subagents' trajectories that its steps refer to."""
    documents: list[Document] = (
        [value]
        if isinstance(value.get("steps"), list)
        else [inner for inner in value.values() if isinstance(inner, dict)]
    )
    for document in documents:
        if not any(_refers(other, document) for other in documents if other is not document):
            children = [other for other in documents if other is not document and _refers(document, other)]
            embedded = document.get("subagent_trajectories")
            children += [child for child in embedded if isinstance(child, dict)] if isinstance(embedded, list) else []
            yield document, children


def _refers(parent: Document, child: Document) -> bool:
    names = {name for key in ("session_id", "trajectory_id") if isinstance(name := child.get(key), str)}
    return any(
        isinstance(value, str) and value in names and value != parent.get("session_id")
        for step in _steps(parent)
        for result in _results(step)
        for reference in _references(result)
        for value in reference.values()
    )


def _messages(step: Document) -> list[Message]:
    role = _ROLES.get(str(step.get("source")).lower(), "user")
    content = Content()
    content.add(step.get("message"))
    calls = calls_of(step.get("tool_calls"))
    thought = step.get("reasoning_content")
    reasoning = thought if isinstance(thought, str) else content.reasoning
    messages = []
    if content.text or calls or reasoning:
        messages.append(Message(role=role, text=content.text, reasoning=reasoning, tool_calls=tuple(calls)))
    names = {call.id: call.name for call in calls if call.id}
    results = tuple(_result(result, names) for result in _results(step))
    if any(result.text for result in results):
        messages.append(Message(role="tool", tool_results=results))
    return messages


def _results(step: object) -> list[dict[str, Any]]:
    observation = step.get("observation") if isinstance(step, dict) else None
    results = observation.get("results") if isinstance(observation, dict) else observation
    if isinstance(results, str):
        return [{"content": results}]
    return [result for result in results if isinstance(result, dict)] if isinstance(results, list) else []


def _references(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = result.get("subagent_trajectory_ref")
    return [one for one in (found if isinstance(found, list) else [found]) if isinstance(one, dict)]


def _result(result: Mapping[str, Any], names: Mapping[str, str]) -> ToolResult:
    content = Content()
    content.add(result.get("content"))
    call_id = str(result.get("source_call_id") or "")
    return ToolResult(
        text=content.text, name=names.get(call_id, ""), call_id=call_id, error=result.get("is_error") is True
    )


def _metadata(document: Document) -> dict[str, Any]:
    metadata = {key: value for key, value in document.items() if key not in _ROOT_FIELDS and value is not None}
    metadata["schema_version"] = json_of(document.get("schema_version"))
    return metadata


def _subagent(child: Document) -> dict[str, Any]:
    """A subagent's run, kept with its parent: it is no trial of its own."""
    messages = [message for step in _steps(child) if isinstance(step, dict) for message in _messages(step)]
    return {**_metadata(child), "messages": [message.plain() for message in messages]}
