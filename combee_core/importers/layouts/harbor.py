"""Harbor job folders: Terminal-Bench 2 and whatever else runs under Harbor.

A job folder holds a folder for each trial: `result.json` (task, agent, rewards, exception), `agent/trajectory.json` in
ATIF with continuations and subagents beside it, `verifier/` with the reward and a test report (`ctrf.json`). Agents
without ATIF leave their own log in `agent/`, which is then read instead. Seen: public jobs of 89 trials, TrialResult
files of NeMo Gym. A reward counts even when the trial also had an exception; an exception without a reward is a
failure, unless it is one of the infrastructure, which says nothing about the agent.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.formats.atif import Atif, read_trajectory
from combee_core.importers.outcome import number_of, outcome_of_scores
from combee_core.importers.reading import read_blob
from combee_core.importers.runs import Files, Run, join, parent
from combee_core.trace import Outcome, Trace

_OF_THE_JOB = ("result.json", "config.json", "lock.json", "job.log")
_NATIVE_LOGS = (".jsonl", ".txt", ".json")
_INFRASTRUCTURE = (
    "environment",
    "rewardfile",
    "setup",
    "install",
    "docker",
    "sandbox",
    "download",
    "verifier",
    "build",
)
_HIDDEN_FIELDS = {"trial_uri", "trials_dir", "config", "verifier_result", "exception_info", "task_name", "id"}
_MOST_FEEDBACK = 20_000


class HarborJob:
    """Trial folders of a Harbor job."""

    name = "harbor"
    title = "Harbor job folders"

    def runs(self, files: Files) -> Iterator[Run]:
        trials = [folder for folder in files.folders if _is_trial(files, folder)]
        for folder in trials:
            main = _main_file(files, folder)
            if main is not None:
                parts = {path: f"part of the trial {_name(folder)}" for path in files.below(folder) if path != main}
                for name in _OF_THE_JOB if folder else ():
                    if (path := join(parent(folder), name)) in files:
                        parts[path] = "part of the Harbor job, holds no trace itself"
                yield Run(files[main], self.name, _reason(files, folder, main), _reader(files, folder, main), parts)


def _is_trial(files: Files, folder: str) -> bool:
    agent = join(folder, "agent")
    has_log = any(path.startswith(agent + "/") for path in files.below(agent))
    return has_log and (join(folder, "result.json") in files or bool(files.below(join(folder, "verifier"))))


def _main_file(files: Files, folder: str) -> str | None:
    trajectory = join(folder, "agent/trajectory.json")
    if trajectory in files:
        return trajectory
    logs = [path for path in files.below(join(folder, "agent")) if path.endswith(_NATIVE_LOGS)]
    return next((path for path in logs if read_blob(files[path]).format is not None), None)


def _reason(files: Files, folder: str, main: str) -> str:
    beside = "result.json" if join(folder, "result.json") in files else "verifier/"
    return f"is the log of a Harbor trial, with {beside} beside it"


def _reader(files: Files, folder: str, main: str) -> Any:
    return lambda: _read_trial(files, folder, main)


def _read_trial(files: Files, folder: str, main: str) -> Iterable[Trace | Reject]:
    blob = files[main]
    result = files.json_object(join(folder, "result.json"))
    context = Context(blob.name, HarborJob.name, blob.member)
    try:
        trace = _joined(files, main, context) or _from_native_log(files, main, context)
    except RecordError as error:
        yield Reject(blob.shown, None, None, str(error), "")
        return
    exception = result.get("exception_info")
    exception = exception if isinstance(exception, dict) else {}
    failed_by = str(exception.get("exception_type") or "")
    yield trace.model_copy(
        update={
            "outcome": _outcome(files, folder, result, failed_by),
            "feedback": _feedback(files, folder, exception),
            "metadata": {**trace.metadata, **_metadata(result, failed_by, folder)},
        }
    )


def _joined(files: Files, main: str, context: Context) -> Trace | None:
    """The trajectory with its continuations joined and its subagents beside it; None when it is no ATIF."""
    document = files.json_object(main)
    if Atif().recognise(document) is None:
        return None
    steps = list(document.get("steps") or [])
    agent, used = parent(main), {main}
    following = document.get("continued_trajectory_ref")
    while isinstance(following, str) and (path := join(agent, following)) in files and path not in used:
        used.add(path)
        part = files.json_object(path)
        steps += part.get("steps") or []
        following = part.get("continued_trajectory_ref")
    others = [path for path in files.in_folder(agent) if path.rpartition("/")[2].startswith("trajectory.")]
    children = [files.json_object(path) for path in others if path not in used]
    record = Record(document, index=0)
    return read_trajectory({**document, "steps": steps}, [child for child in children if child], record, context)


def _from_native_log(files: Files, main: str, context: Context) -> Trace:
    for entry in read_blob(files[main]):
        if isinstance(entry, Trace):
            return entry.model_copy(update={"source": context.source(Record(None, index=0))})
    raise RecordError("The trial has no log that holds a trace.")


def _outcome(files: Files, folder: str, result: Mapping[str, Any], failed_by: str) -> Outcome:
    rewards = _rewards(files, folder, result)
    if rewards:
        return outcome_of_scores(rewards)
    return Outcome(success=False if failed_by and not _is_infrastructure(failed_by) else None)


def _rewards(files: Files, folder: str, result: Mapping[str, Any]) -> dict[str, float]:
    verdict = result.get("verifier_result")
    rewards = verdict.get("rewards") if isinstance(verdict, dict) else None
    if not isinstance(rewards, dict):
        rewards = files.json_object(join(folder, "verifier/reward.json"))
    if not rewards:
        rewards = {"reward": files.text(join(folder, "verifier/reward.txt")).strip()}
    return {str(name): number for name, value in rewards.items() if (number := number_of(value)) is not None}


def _is_infrastructure(exception: str) -> bool:
    return any(word in exception.lower() for word in _INFRASTRUCTURE)


def _feedback(files: Files, folder: str, exception: Mapping[str, Any]) -> str:
    """The exception, then what the tests said: the report where there is one, else their output."""
    said = []
    if exception:
        said.append(f"{exception.get('exception_type')}: {exception.get('exception_message') or ''}".strip())
    report = _test_report(files.json_object(join(folder, "verifier/ctrf.json")))
    said.append(report or files.text(join(folder, "verifier/test-stdout.txt")).strip()[-_MOST_FEEDBACK:])
    return "\n".join(filter(None, said))


def _test_report(report: Mapping[str, Any]) -> str:
    results = report.get("results")
    tests = results.get("tests") if isinstance(results, dict) else None
    lines = []
    for test in tests if isinstance(tests, list) else []:
        if isinstance(test, dict):
            lines.append(f"{test.get('name')}: {test.get('status')}")
            if test.get("status") != "passed":
                lines += [str(test[key]) for key in ("message", "trace") if test.get(key)]
    return "\n".join(lines)[:_MOST_FEEDBACK]


def _metadata(result: Mapping[str, Any], failed_by: str, folder: str) -> dict[str, Any]:
    kept = {key: value for key, value in result.items() if key not in _HIDDEN_FIELDS and value is not None}
    kept["task_name"] = result.get("task_name") or _name(folder).rpartition("__")[0]
    if failed_by:
        kept["exception_type"] = failed_by
        kept["infrastructure_failure"] = _is_infrastructure(failed_by)
    return kept


def _name(folder: str) -> str:
    return folder.rpartition("/")[2] or "in this folder"
