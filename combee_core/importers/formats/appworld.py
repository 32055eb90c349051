"""AppWorld experiment outputs: a folder for each task, with interactions, model calls and an evaluation.

Written by the `appworld` package and by the AppWorld code of ACE. Seen: file writers of package 0.1.3. Steps are in
`logs/environment_io.md` (code and output, under a heading each), the instruction only in `lm_calls.jsonl` or
`loggger.log` (three g), the outcome in `evaluations/<dataset>.json` or `evaluation/report.md`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, RecordError, Reject
from combee_core.importers.formats.logged_calls import call_of
from combee_core.importers.json_text import TextError, parse
from combee_core.importers.llm_calls import chains
from combee_core.importers.messages import task_of
from combee_core.importers.runs import Files, Run, join, parent
from combee_core.trace import Message, Outcome, ToolCall, ToolResult, Trace

_HEADING = re.compile(r"^#{2,4} (?:Environment Interaction|Execution) \d+[ \t]*$", re.MULTILINE)
_CODE = re.compile(r"\A\s*(?:-{10,}\s*)?```(?:python)?\n(.*?)\n?```\s*(?:```\n?)?", re.DOTALL)
_CLOSING = re.compile(r"\n?```\s*\Z")
_INSTRUCTION, _BOX = "Instruction:", " │╭╮╰╯─\t"
_PASSED, _TOTAL = re.compile(r"Num Passed Tests\s*:\s*(\d+)"), re.compile(r"Num Total\s+Tests\s*:\s*(\d+)")
_FAILS = re.compile(r"^─+ Fails ─+$", re.MULTILINE)
_FAILED_OUTPUT = "Execution failed."


class AppWorldLog:
    """`environment_io.md` by itself."""

    name = "appworld"
    title = "AppWorld experiment folders"
    gathers = False

    def recognise(self, record: object) -> str | None:
        is_log = isinstance(record, dict) and isinstance(record.get("environment_io"), str)
        return "is an AppWorld interaction log" if is_log else None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        for record in records:
            messages = tuple(interactions(str(record.value.get("environment_io") or "")))
            if not messages:
                raise RecordError("The log holds no interaction.")
            task = "An AppWorld task (its instruction is not in this log)"
            yield Trace(task=task, messages=messages, source=context.source(record))


class AppWorldRun:
    """Experiment folders of AppWorld."""

    name = "appworld"
    title = AppWorldLog.title

    def runs(self, files: Files) -> Iterator[Run]:
        for folder in files.folders:
            logs = join(folder, "logs")
            main = next(
                (path for name in ("environment_io.md", "lm_calls.jsonl") if (path := join(logs, name)) in files), None
            )
            if main is not None and parent(folder).rpartition("/")[2] == "tasks":
                task_id = folder.rpartition("/")[2]
                parts = {path: f"part of the AppWorld task {task_id}" for path in files.below(folder) if path != main}
                root = parent(parent(folder))
                parts |= dict.fromkeys(files.below(join(root, "evaluations")), "evaluation of the AppWorld experiment")
                yield Run(
                    files[main],
                    self.name,
                    f"is the log of the AppWorld task {task_id}",
                    _reader(files, folder, main),
                    parts,
                )


def interactions(text: str) -> Iterator[Message]:
    """Code that the agent ran and what it printed; split at the headings, because output may hold fences itself."""
    for number, section in enumerate(_HEADING.split(text)[1:], 1):
        code = _CODE.match(section)
        if code is None:
            continue
        output = _CLOSING.sub("", section[code.end() :]).strip("\n")
        call = f"interaction-{number}"
        yield Message(role="assistant", tool_calls=(ToolCall(name="python", arguments=code.group(1), id=call),))
        failed = output.startswith(_FAILED_OUTPUT)
        yield Message(role="tool", tool_results=(ToolResult(text=output, name="python", call_id=call, error=failed),))


def _reader(files: Files, folder: str, main: str) -> Any:
    return lambda: _read_task(files, folder, main)


def _read_task(files: Files, folder: str, main: str) -> Iterator[Trace | Reject]:
    task_id, blob = folder.rpartition("/")[2], files[main]
    conversation = _conversation(files.text(join(folder, "logs/lm_calls.jsonl")))
    steps = tuple(interactions(files.text(join(folder, "logs/environment_io.md"))))
    opening = tuple(message for message in conversation[:2] if message.role in ("system", "user"))
    messages = (*opening, *steps) if steps else conversation
    if not messages:
        yield Reject(blob.shown, None, None, "The task folder holds no interaction and no model call.", "")
        return
    task = _instruction(files.text(join(folder, "logs/loggger.log"))) or task_of(opening)
    verdict = _verdict(files, folder, task_id)
    yield Trace(
        task=task or task_id,
        messages=messages,
        source=Context(blob.name, AppWorldRun.name, blob.member).source(Record(None, index=0)),
        outcome=verdict[0],
        feedback=verdict[1],
        metadata={"task_id": task_id, "scenario": task_id.rpartition("_")[0], **verdict[2]},
    )


def _conversation(log: str) -> tuple[Message, ...]:
    """The longest conversation among the logged calls: that of the agent, not of reflector or curator."""
    rows = []
    for line in log.splitlines():
        try:
            value = parse(line) if line.strip() else None
        except TextError:
            continue
        if isinstance(value, dict):
            rows.append(value)
    found = chains((Record(row), *call_of(row)) for row in rows)
    return max((chain.messages for chain in found), key=len, default=())


def _instruction(log: str) -> str:
    """The instruction in the console log: it may go over several lines of the box that is drawn around it."""
    said = []
    for line in log.partition(_INSTRUCTION)[2].splitlines():
        words = line.strip(_BOX)
        if not words or "╰" in line:
            break
        said.append(words)
    return " ".join(said)


def _verdict(files: Files, folder: str, task_id: str) -> tuple[Outcome, str, dict[str, Any]]:
    """(outcome, feedback, metadata) by the experiment's evaluation of this task, else by its own report."""
    report = files.text(join(folder, "evaluation/report.md"))
    for path in files.below(join(parent(parent(folder)), "evaluations")):
        individual = files.json_object(path).get("individual")
        if isinstance(individual, dict) and isinstance(individual.get(task_id), dict):
            return _by_evaluation(individual[task_id], report)
    return _by_report(report)


def _by_evaluation(entry: Mapping[str, Any], report: str) -> tuple[Outcome, str, dict[str, Any]]:
    passes, failures = entry.get("passes") or [], entry.get("failures") or []
    total = len(passes) + len(failures) or 1
    said = [
        f"{failure.get('requirement')}\n{failure.get('trace') or ''}".strip()
        for failure in failures
        if isinstance(failure, dict)
    ]
    success = next(
        (entry[key] for key in ("success", "passes_fully", "strict") if isinstance(entry.get(key), bool)), None
    )
    score = len(passes) / total if passes or failures else None
    metadata = {"difficulty": entry["difficulty"]} if "difficulty" in entry else {}
    return Outcome(success=success, score=score), "\n\n".join(said) or _by_report(report)[1], metadata


def _by_report(report: str) -> tuple[Outcome, str, dict[str, Any]]:
    passed, total = _PASSED.search(report), _TOTAL.search(report)
    if not passed or not total or total.group(1) == "0":
        return Outcome(), "", {}
    score = int(passed.group(1)) / int(total.group(1))
    fails = _FAILS.split(report)
    said = fails[1].strip() if len(fails) > 1 else ""
    return Outcome(success=score == 1.0, score=score), "" if said == "None" else said, {}
