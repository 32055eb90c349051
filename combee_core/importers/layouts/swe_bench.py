"""SWE-bench reports beside the trajectories that they judge, joined by the id of the instance.

Written by SWE-bench's evaluation: one report a run (`resolved_ids`, `unresolved_ids`; SWE-agent's own `results.json`
has `ids_resolved`), or one for each instance (`{id: {resolved, tests_status}}`). SWE-agent and mini-swe-agent write
trajectories without an outcome: the file's name is the id. Where several reports judge an instance, the one that lies
nearest counts, and where two that lie equally near disagree, none does. An instance whose evaluation broke has no
outcome.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from combee_core.importers.base import Importer, Reject
from combee_core.importers.blob import peek, unpacked
from combee_core.importers.formats.mini_swe_agent import MiniSweAgent
from combee_core.importers.formats.swe_agent import SweAgent
from combee_core.importers.reading import read_blob
from combee_core.importers.runs import Files, Run, parent
from combee_core.trace import Outcome, Trace

_ENDINGS = (".traj.json", ".traj")
_RESOLVED = ("resolved_ids", "ids_resolved")
_UNRESOLVED = ("unresolved_ids", "ids_unresolved", "empty_patch_ids")
_TEST_GROUPS = ("FAIL_TO_PASS", "PASS_TO_PASS")
_IMPORTERS: tuple[Importer, ...] = (MiniSweAgent(), SweAgent())


@dataclass(frozen=True)
class Verdict:
    """What a report says about an instance; `feedback` names the tests that failed."""

    resolved: bool
    feedback: str = ""


class SweBenchReports:
    """Trajectories with the reports on them."""

    name = "swe-bench"
    title = "SWE-agent and mini-swe-agent trajectories with SWE-bench reports"

    def runs(self, files: Files) -> Iterator[Run]:
        trajectories = [path for folder in files.folders for path in files.in_folder(folder) if path.endswith(_ENDINGS)]
        reports = _reports(files, frozenset(trajectories)) if trajectories else {}
        known = {instance_of(path) for path in trajectories}
        parts = {report: _word(verdicts, known) for report, verdicts in reports.items()}
        for path in trajectories:
            report = _nearest(path, reports)
            importer = _importer_of(files, path) if report else None
            if report and importer:
                reason = f"is a trajectory, judged by the SWE-bench report {report}"
                read = _reader(files, path, importer, reports[report][instance_of(path)])
                yield Run(files[path], self.name, reason, read, parts)


def _importer_of(files: Files, path: str) -> Importer | None:
    document = files.json(path)
    return next((importer for importer in _IMPORTERS if importer.recognise(document)), None)


def _reader(files: Files, path: str, importer: Importer, verdict: Verdict) -> Callable[[], Iterator[Trace | Reject]]:
    def read() -> Iterator[Trace | Reject]:
        for entry in read_blob(files[path], importer):
            yield _judged(entry, instance_of(path), verdict) if isinstance(entry, Trace) else entry

    return read


def instance_of(path: str) -> str:
    """The id of the instance that a trajectory is named after."""
    name = path.rpartition("/")[2]
    return next((name.removesuffix(ending) for ending in _ENDINGS if name.endswith(ending)), name)


def verdicts_in(report: object) -> dict[str, Verdict]:
    """What a report says about each instance; empty when the value is no report."""
    if not isinstance(report, dict):
        return {}
    if any(isinstance(report.get(key), list) for key in _RESOLVED):
        lost = {id_: Verdict(False) for key in _UNRESOLVED for id_ in _ids(report.get(key))}
        return lost | {id_: Verdict(True) for key in _RESOLVED for id_ in _ids(report.get(key))}
    judged = {
        str(id_): Verdict(item["resolved"], _failed_tests(item.get("tests_status")))
        for id_, item in report.items()
        if isinstance(item, dict) and isinstance(item.get("resolved"), bool)
    }
    return judged if len(judged) == len(report) else {}


def _ids(value: object) -> list[str]:
    return [id_ for id_ in value if isinstance(id_, str)] if isinstance(value, list) else []


def _reports(files: Files, trajectories: frozenset[str]) -> dict[str, dict[str, Verdict]]:
    """The reports among the files, by path, with their verdicts."""
    return {
        path: verdicts
        for folder in files.folders
        for path in files.in_folder(folder)
        if path not in trajectories and path.endswith(".json") and _may_be_report(files, path)
        if (verdicts := verdicts_in(files.json(path)))
    }


def _may_be_report(files: Files, path: str) -> bool:
    with unpacked(files[path]) as reader:
        return b"resolved" in peek(reader)


def _nearest(path: str, reports: Mapping[str, Mapping[str, Verdict]]) -> str | None:
    """The report on a trajectory's instance with which it shares most folders; None where such reports disagree."""
    judging = [report for report, verdicts in reports.items() if instance_of(path) in verdicts]
    most = max((_shared(path, report) for report in judging), default=0)
    nearest = [report for report in judging if _shared(path, report) == most]
    # Of those that agree, the one for the instance alone names the tests.
    nearest.sort(key=lambda report: len(reports[report]))
    agreed = {reports[report][instance_of(path)].resolved for report in nearest}
    return nearest[0] if len(agreed) == 1 else None


def _shared(path: str, other: str) -> int:
    """How many folders two paths have in common."""
    count = 0
    for mine, theirs in zip(parent(path).split("/"), parent(other).split("/"), strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _word(verdicts: Mapping[str, Verdict], trajectories: set[str]) -> str:
    """What a report is, and how many of its instances and of the trajectories found no partner."""
    alone, unjudged = len(verdicts.keys() - trajectories), len(trajectories - verdicts.keys())
    word = f"SWE-bench report on {len(verdicts)} instance{'s'[: len(verdicts) != 1]}, joined to trajectories by id"
    missing = [
        f"{alone} of them without a trajectory here" if alone else "",
        f"{unjudged} trajector{'ies' if unjudged != 1 else 'y'} not in it" if unjudged else "",
    ]
    return "; ".join(filter(None, (word, *missing)))


def _failed_tests(status: Any) -> str:
    lines = []
    for group in _TEST_GROUPS:
        tests = status.get(group) if isinstance(status, dict) else None
        failed = tests.get("failure") if isinstance(tests, dict) else None
        if isinstance(failed, list) and failed:
            lines.append(f"{group}, failed: {', '.join(map(str, failed))}")
    return "\n".join(lines)


def _judged(trace: Trace, instance: str, verdict: Verdict) -> Trace:
    said = "\n".join(filter(None, (trace.feedback, verdict.feedback)))
    return trace.model_copy(
        update={
            "source": replace(trace.source, format=SweBenchReports.name),
            "outcome": Outcome(success=verdict.resolved),
            "feedback": said,
            "metadata": {"instance_id": instance, **trace.metadata},
        }
    )
