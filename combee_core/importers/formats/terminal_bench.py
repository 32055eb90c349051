"""terminal-bench 0.1: `results.json` of a run, and of each trial in a folder of its own with the agent's logs.

Written by the terminal-bench harness before Harbor. Seen: files of its schema of 2025. The last episode's `debug.json`
holds the whole conversation, `response.json` the last reply; agents without such logs leave only the terminal's screen
and the keys that were sent. `is_resolved` may be null; a resolved trial may have timed out all the same.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, Reject
from combee_core.importers.messages import read_messages
from combee_core.importers.runs import Files, Run, join, parent
from combee_core.trace import Message, Outcome, ToolCall, ToolResult, Trace

_NO_FAILURE = ("", "unset", "none")
_INFRASTRUCTURE = ("agent_installation_failed", "test_timeout", "parse_error")
_KEPT = ("id", "trial_name", "task_id", "failure_mode", "total_input_tokens", "total_output_tokens", "trial_started_at")


class TerminalBench:
    """Results of terminal-bench 0.1 without the folders beside them."""

    name = "terminal-bench"
    title = "terminal-bench 0.1 runs"
    gathers = False

    def recognise(self, record: object) -> str | None:
        if not isinstance(record, dict):
            return None
        if "is_resolved" in record and ("parser_results" in record or "task_id" in record):
            return 'has "is_resolved" and "task_id"'
        results = record.get("results")
        first = results[0] if isinstance(results, list) and results else None
        return 'has "results" with "is_resolved"' if isinstance(first, dict) and "is_resolved" in first else None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            for number, trial in enumerate(_trials(record.value)):
                yield trace_of(trial, (), context, Record(trial, record.line, number))


class TerminalBenchRun:
    """Run folders of terminal-bench 0.1."""

    name = "terminal-bench"
    title = TerminalBench.title

    def runs(self, files: Files) -> Iterator[Run]:
        results = {folder: files.json_object(join(folder, "results.json")) for folder in files.folders
                   if join(folder, "results.json") in files}  # fmt: skip
        known = {folder: value for folder, value in results.items() if TerminalBench().recognise(value)}
        for folder in known:
            is_trial_of_a_run = any(
                folder.startswith(f"{other}/" if other else "") for other in known if other != folder
            )
            if not is_trial_of_a_run:
                main = join(folder, "results.json")
                parts = {path: "part of the terminal-bench run" for path in files.below(folder) if path != main}
                yield Run(
                    files[main], self.name, "is the result of a terminal-bench run", _reader(files, folder, main), parts
                )


def trace_of(trial: Mapping[str, Any], steps: Sequence[Message], context: Context, record: Record) -> Trace:
    """The trace of one trial; without logs it holds the instruction only."""
    instruction = str(trial.get("instruction") or trial.get("task_id") or "")
    resolved, failure = trial.get("is_resolved"), str(trial.get("failure_mode") or "")
    messages = tuple(steps) or (Message(role="user", text=instruction),)
    success = resolved if isinstance(resolved, bool) else None
    if success is None and failure not in _NO_FAILURE and failure not in _INFRASTRUCTURE:
        success = False
    kept = {key: trial[key] for key in _KEPT if trial.get(key) is not None}
    return Trace(
        task=instruction or messages[0].text,
        messages=messages,
        source=context.source(record),
        outcome=Outcome(success=success, score=_share(trial.get("parser_results"))),
        feedback=_feedback(trial.get("parser_results"), failure),
        metadata=kept | ({"infrastructure_failure": True} if failure in _INFRASTRUCTURE else {}),
    )


def _trials(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    results = value.get("results")
    return [trial for trial in results if isinstance(trial, dict)] if isinstance(results, list) else [dict(value)]


def _reader(files: Files, folder: str, main: str) -> Any:
    def read() -> Iterator[Trace]:
        blob = files[main]
        context = Context(blob.name, TerminalBenchRun.name, blob.member)
        for number, trial in enumerate(_trials(files.json_object(main))):
            place = _folder_of(files, folder, str(trial.get("trial_name") or ""))
            yield trace_of(trial, _steps(files, place), context, Record(trial, index=number))

    return read


def _folder_of(files: Files, run: str, trial: str) -> str:
    places = (parent(path) for path in files.below(run) if path.endswith("/results.json"))
    return next((place for place in places if trial and place.rpartition("/")[2] == trial), run)


def _steps(files: Files, folder: str) -> list[Message]:
    """The conversation of the last episode, else what the terminal showed."""
    episodes = sorted(
        (path for path in files.below(join(folder, "agent-logs")) if path.endswith("/debug.json")), key=_episode_number
    )
    for path in reversed(episodes):
        log = files.json_object(path)
        items = log.get("input") if isinstance(log.get("input"), list) else log.get("messages")
        messages = read_messages(items if isinstance(items, list) else [])
        if messages:
            reply = files.text(join(parent(path), "response.json")).strip()
            return [*messages, *([Message(role="assistant", text=reply)] if reply else [])]
    return _terminal(files, folder)


def _episode_number(path: str) -> int:
    digits = parent(path).rpartition("-")[2]
    return int(digits) if digits.isdecimal() and len(digits) < 10 else 0


def _terminal(files: Files, folder: str) -> list[Message]:
    keys = files.text(join(folder, "commands.txt")).strip()
    screen = files.text(join(folder, "panes/post-agent.txt")).strip()
    messages = []
    if keys:
        messages.append(Message(role="assistant", tool_calls=(ToolCall(name="terminal", arguments=keys, id="keys"),)))
    if screen:
        messages.append(Message(role="tool", tool_results=(ToolResult(text=screen, name="terminal", call_id="keys"),)))
    return messages


def _share(results: object) -> float | None:
    if not isinstance(results, dict) or not results:
        return None
    return sum(str(result) == "passed" for result in results.values()) / len(results)


def _feedback(results: object, failure: str) -> str:
    lines = [f"{test}: {result}" for test, result in results.items()] if isinstance(results, dict) else []
    return "\n".join([*lines, *([f"failure mode: {failure}"] if failure not in _NO_FAILURE else [])])
