"""Items of OpenAI's Responses API: NeMo Gym rollouts, run states of the OpenAI Agents SDK, batch outputs.

Written by NVIDIA's NeMo Gym (a rollout a line with `reward`, which may exceed 1), by the Agents SDK (versions 1.0 to
1.17 of its state), by OpenAI's batch API. Seen: NeMo Gym of 2026, state 1.13. Harbor runs under NeMo Gym carry the
whole trial result in `metadata`, and their output may be empty.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.formats.atif import task_in
from combee_core.importers.messages import merge_turns, read_messages, task_of
from combee_core.importers.outcome import feedback_of, outcome_of, reference_of
from combee_core.importers.spans import message_items
from combee_core.trace import Message, Outcome, Trace

_LEFT_OUT = {"responses_create_params", "response", "reward", "metadata", "expected_answer"}
_REASONS = ("failure_reason", "exception_info")


class NemoGym:
    """Rollouts of NeMo Gym."""

    name = "nemo-gym"
    title = "NeMo Gym rollouts (Responses API items)"
    gathers = False

    def recognise(self, record: object) -> str | None:
        is_rollout = isinstance(record, dict) and "responses_create_params" in record and "response" in record
        return 'has "responses_create_params" and "response"' if is_rollout else None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            yield _read_rollout(record, context)


class AgentsState:
    """Serialised run states of the OpenAI Agents SDK."""

    name = "openai-agents"
    title = "OpenAI Agents SDK run states"
    gathers = False

    def recognise(self, record: object) -> str | None:
        is_state = (
            isinstance(record, dict) and isinstance(record.get("generated_items"), list) and "original_input" in record
        )
        return 'has "generated_items" and "original_input"' if is_state else None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            asked = _input(record.value["original_input"])
            raw = [item.get("raw_item") for item in record.value["generated_items"] if isinstance(item, dict)]
            said = merge_turns(read_messages([_program(item) for item in raw if isinstance(item, dict)]))
            if not asked and not said:
                raise RecordError("The run state holds no items.")
            agent = record.value.get("current_agent")
            name = agent.get("name") if isinstance(agent, dict) else None
            yield Trace(
                task=task_of(asked) or (asked or said)[0].text,
                messages=(*asked, *said),
                source=context.source(record),
                metadata={"agent": name, "state_version": record.value.get("$schemaVersion")},
            )


class BatchOutput:
    """Lines of OpenAI's batch API: answers, whose questions lie in another file."""

    name = "openai-batch"
    title = "OpenAI batch outputs"
    gathers = False

    def recognise(self, record: object) -> str | None:
        response = record.get("response") if isinstance(record, dict) else None
        is_line = (
            isinstance(record, dict) and "custom_id" in record and isinstance(response, dict) and "body" in response
        )
        return 'has "custom_id" and "response" with a body' if is_line else None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            messages = merge_turns(read_messages(message_items(record.value["response"]["body"])))
            if not messages:
                raise RecordError("The answer is empty.")
            yield Trace(
                task=f"Batch request {record.value['custom_id']} (its question is in the input file)",
                messages=messages,
                source=context.source(record),
                metadata={"custom_id": record.value["custom_id"]},
            )


def _read_rollout(record: Record, context: Context) -> Trace:
    row: Mapping[str, Any] = record.value
    request, response = row["responses_create_params"], row["response"]
    request = request if isinstance(request, dict) else {}
    asked = _input(request.get("input"))
    instructions = request.get("instructions")
    if isinstance(instructions, str) and instructions:
        asked = (Message(role="system", text=instructions), *asked)
    output = response.get("output") if isinstance(response, dict) else None
    said = merge_turns(read_messages(output if isinstance(output, list) else []))
    trial = row.get("metadata")
    trial = trial if isinstance(trial, dict) else {}
    task = task_in(task_of(asked)) or str(trial.get("task_name") or row.get("instance_id") or "")
    if not asked and not said and not task:
        raise RecordError("The rollout holds no items.")
    return Trace(
        task=task or said[0].text,
        messages=(*asked, *said) or (Message(role="user", text=task),),
        source=context.source(record),
        outcome=_outcome(row),
        feedback=_feedback(row, trial),
        reference=reference_of(row),
        metadata=_metadata(row, trial),
    )


def _input(value: object) -> tuple[Message, ...]:
    if isinstance(value, str):
        return (Message(role="user", text=value),) if value else ()
    return read_messages(value if isinstance(value, list) else [])


def _program(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Programs that call tools are calls themselves."""
    kind = item.get("type")
    if kind == "program":
        return {**item, "type": "function_call", "name": "program", "arguments": item.get("code")}
    return {**item, "type": "function_call_output", "output": item.get("result")} if kind == "program_output" else item


def _outcome(row: Mapping[str, Any]) -> Outcome:
    """The reward decides; other score fields of the row are kept beside it."""
    stated = outcome_of({"reward": row.get("reward")})
    named = {key: float(value) for key, value in row.items() if _is_score(key, value)}
    return Outcome(success=stated.success, score=stated.score, scores=named if len(named) > 1 else {})


def _is_score(key: str, value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return (
        is_number
        and any(word in key for word in ("reward", "score", "accuracy", "overlap"))
        and not key.startswith("_")
    )


def _feedback(row: Mapping[str, Any], trial: Mapping[str, Any]) -> str:
    said = [feedback_of({key: value for key, value in row.items() if key != "metadata"})]
    for key in _REASONS:
        value = row.get(key) or trial.get(key)
        if isinstance(value, dict):
            said.append(f"{value.get('exception_type')}: {value.get('exception_message') or ''}".strip())
        elif isinstance(value, str):
            said.append(f"{key}: {value}")
    return "\n".join(filter(None, said))


def _metadata(row: Mapping[str, Any], trial: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in row.items() if key not in _LEFT_OUT and value is not None}
    return kept | {
        key: trial[key] for key in ("task_name", "trial_name", "agent_result", "eval_report") if trial.get(key)
    }
