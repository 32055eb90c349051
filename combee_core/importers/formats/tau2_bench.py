"""tau2-bench: one object with tasks and simulations, or a `results.json` with the simulations in files beside it.

Written by tau2-bench. Seen: results of 2026, with and without `simulation_index`. Tasks are joined by id. All ends but
`user_stop` and `agent_stop` count as failures; `infrastructure_error` is not the agent's fault. The simulated customer
may call tools too. The checks behind the reward make the feedback.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.messages import read_messages, task_of
from combee_core.importers.outcome import number_of, success_of
from combee_core.importers.parts import json_of
from combee_core.importers.runs import Files, Run, join
from combee_core.trace import Message, Outcome, Trace

_KEPT = ("id", "task_id", "trial", "seed", "termination_reason", "duration", "agent_cost", "user_cost")
_REGULAR_ENDS = ("user_stop", "agent_stop")


class Tau2Bench:
    """Results of tau2-bench with simulations, or one simulation."""

    name = "tau2-bench"
    title = "tau2-bench results"
    gathers = False

    def recognise(self, record: object) -> str | None:
        if not isinstance(record, dict):
            return None
        if isinstance(record.get("simulations"), list) and "tasks" in record and "info" in record:
            return 'has "simulations", "tasks" and "info"'
        if ("messages" in record or "ticks" in record) and "termination_reason" in record and "task_id" in record:
            return 'has "messages", "termination_reason" and "task_id"'
        return None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            simulations = record.value.get("simulations")
            if not isinstance(simulations, list):
                yield _read_simulation(record.value, record.value, record, context)
                continue
            for number, simulation in enumerate(simulations):
                yield from _safely(simulation, record.value, Record(simulation, record.line, number), context)


class Tau2Split:
    """`results.json` with a folder of simulations."""

    name = "tau2-bench"
    title = Tau2Bench.title

    def runs(self, files: Files) -> Iterator[Run]:
        for folder in files.folders:
            head, paths = join(folder, "results.json"), files.in_folder(join(folder, "simulations"))
            if head in files and paths:
                value = files.json_object(head)
                if "tasks" in value and "info" in value and not value.get("simulations"):
                    parts = dict.fromkeys(paths, "simulation of the tau2 run")
                    yield Run(
                        files[head],
                        self.name,
                        'has "tasks", with simulations/ beside it',
                        _reader(files, head, paths),
                        parts,
                    )


def _reader(files: Files, head: str, paths: Sequence[str]) -> Any:
    def read() -> Iterator[Trace | Reject]:
        value, blob = files.json_object(head), files[head]
        for number, path in enumerate(paths):
            simulation = files.json_object(path)
            yield from _safely(
                simulation, value, Record(simulation, index=number), Context(blob.name, Tau2Split.name, blob.member)
            )

    return read


def _safely(simulation: object, head: Mapping[str, Any], record: Record, context: Context) -> Iterator[Trace | Reject]:
    try:
        yield _read_simulation(simulation if isinstance(simulation, dict) else {}, head, record, context)
    except RecordError as error:
        yield context.reject(record, str(error))


def _read_simulation(simulation: Mapping[str, Any], head: Mapping[str, Any], record: Record, context: Context) -> Trace:
    items = simulation.get("messages")
    messages = read_messages(items if isinstance(items, list) else _ticks(simulation.get("ticks")))
    if not messages:
        raise RecordError("The simulation holds no messages.")
    task = _task(head, simulation.get("task_id"))
    policy = simulation.get("policy") or _policy(head)
    if policy and messages[0].role != "system":
        messages = (Message(role="system", text=str(policy)), *messages)
    reward_info = simulation.get("reward_info")
    reward_info = reward_info if isinstance(reward_info, dict) else {}
    end = str(simulation.get("termination_reason") or "")
    criteria = task.get("evaluation_criteria")
    return Trace(
        task=task_of(messages) or str(task.get("ticket") or simulation.get("task_id")),
        messages=messages,
        source=context.source(record),
        outcome=_outcome(number_of(reward_info.get("reward")), end),
        feedback=_feedback(reward_info, end),
        reference=json_of(criteria) if criteria else "",
        metadata=_metadata(simulation, task, end),
    )


def _outcome(reward: float | None, end: str) -> Outcome:
    if end == "infrastructure_error":
        return Outcome(score=reward)
    if reward is None and end and end not in _REGULAR_ENDS:
        return Outcome(success=False)
    return Outcome(success=success_of(reward), score=reward)


def _feedback(info: Mapping[str, Any], end: str) -> str:
    """What the checks found, one a line."""
    lines = [] if end in ("", *_REGULAR_ENDS) else [f"The conversation ended by {end}."]
    database = info.get("db_check")
    if isinstance(database, dict) and isinstance(database.get("db_match"), bool):
        lines.append("The database is as expected." if database["db_match"] else "The database is not as expected.")
    for check in _objects(info.get("action_checks")):
        action = check.get("action")
        action = action if isinstance(action, dict) else {}
        done = "done" if check.get("action_match") else "not done as expected"
        lines.append(f"{action.get('name')}({json_of(action.get('arguments'))}): {done}.")
    for kind, named in (("communicate_checks", "info"), ("nl_assertions", "nl_assertion")):
        lines += [_checked(str(check.get(named)), check) for check in _objects(info.get(kind))]
    return "\n".join(lines)


def _checked(what: str, check: Mapping[str, Any]) -> str:
    met = "met" if check.get("met") else "not met"
    return f"{what}: {met}. {check.get('justification') or ''}".strip()


def _metadata(simulation: Mapping[str, Any], task: Mapping[str, Any], end: str) -> dict[str, Any]:
    kept = {key: simulation[key] for key in _KEPT if simulation.get(key) is not None}
    for key in ("user_scenario", "ticket", "description"):
        if task.get(key):
            kept[key] = task[key]
    return kept | ({"infrastructure_failure": True} if end == "infrastructure_error" else {})


def _task(head: Mapping[str, Any], task_id: object) -> dict[str, Any]:
    return next((task for task in _objects(head.get("tasks")) if str(task.get("id")) == str(task_id)), {})


def _policy(head: Mapping[str, Any]) -> object:
    info = head.get("info")
    environment = info.get("environment_info") if isinstance(info, dict) else None
    return environment.get("policy") if isinstance(environment, dict) else None


def _ticks(ticks: object) -> list[Any]:
    """Voice runs keep what was said in ticks."""
    found = []
    for tick in _objects(ticks):
        for role, key in (("assistant", "agent_chunk"), ("user", "user_chunk")):
            chunk = tick.get(key)
            if isinstance(chunk, dict):
                found.append({"role": role, **chunk})
    return found


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
