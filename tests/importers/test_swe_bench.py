"""SWE-bench reports give trajectories their outcome, by the id of the instance."""

import json
from pathlib import Path
from typing import Any

import pytest

from combee_core.trace import Trace
from tests.importers.reading import read_all

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data" / "formats"
TRAJECTORY = (SAMPLES / "swe-agent.traj").read_text()
MINI = (SAMPLES / "mini-swe-agent.traj.json").read_text()
TESTS = {"FAIL_TO_PASS": {"success": ["t_a"], "failure": ["t_b", "t_c"]}, "PASS_TO_PASS": {"failure": []}}


def write(folder: Path, files: dict[str, Any]) -> Path:
    for number, (name, content) in enumerate(files.items()):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        # Traces with the same content are one.
        text = (
            content.replace("price list", f"price list {number}") if isinstance(content, str) else json.dumps(content)
        )
        path.write_text(text)
    return folder


def outcomes(folder: Path) -> dict[str, bool | None]:
    traces = [trace for result in read_all(folder) for trace in result.traces]
    return {name(trace): trace.outcome.success for trace in traces}


def name(trace: Trace) -> str:
    return trace.source.file.rpartition("/")[2]


@pytest.mark.parametrize(
    "report",
    [
        {"resolved_ids": ["a__a-1"], "unresolved_ids": ["b__b-2"], "error_ids": ["c__c-3"], "resolved_instances": 1},
        {"ids_resolved": ["a__a-1"], "ids_unresolved": ["b__b-2"]},
        {"resolved_ids": ["a__a-1"], "empty_patch_ids": ["b__b-2"]},
        {"a__a-1": {"resolved": True}, "b__b-2": {"resolved": False, "tests_status": TESTS}},
    ],
)
def test_a_report_says_which_trajectories_solved_their_issue(tmp_path: Path, report: dict[str, Any]) -> None:
    folder = write(tmp_path, {
        "a__a-1/a__a-1.traj": TRAJECTORY,
        "b__b-2.traj.json": MINI,
        "c__c-3.traj": TRAJECTORY,
        "report.json": report,
    })  # fmt: skip
    assert outcomes(folder) == {"a__a-1.traj": True, "b__b-2.traj.json": False, "c__c-3.traj": None}


def test_the_tests_that_failed_are_the_feedback(tmp_path: Path) -> None:
    report = {"b-2": {"resolved": False, "tests_status": TESTS}}
    folder = write(tmp_path, {"b-2.traj": TRAJECTORY, "report.json": report})
    (trace,) = [trace for result in read_all(folder) for trace in result.traces]
    assert trace.feedback == "FAIL_TO_PASS, failed: t_b, t_c"
    assert trace.metadata["instance_id"] == "b-2"


def test_the_nearest_report_counts_and_contradictions_do_not(tmp_path: Path) -> None:
    folder = write(tmp_path, {
        "one/a.traj": TRAJECTORY,
        "one/report.json": {"resolved_ids": ["a"]},
        "two/a.traj": TRAJECTORY,
        "two/report.json": {"resolved_ids": [], "unresolved_ids": ["a"]},
        "three/b.traj": TRAJECTORY,
        "four.json": {"resolved_ids": ["b"]},
        "five.json": {"resolved_ids": [], "unresolved_ids": ["b"]},
    })  # fmt: skip
    found = {trace.source.file: trace.outcome.success for result in read_all(folder) for trace in result.traces}
    assert [success for _, success in sorted(found.items())] == [True, None, False]


def test_the_report_says_how_many_found_no_partner(tmp_path: Path) -> None:
    report = {"resolved_ids": ["a"], "unresolved_ids": ["x", "y"]}
    folder = write(tmp_path, {"a.traj": TRAJECTORY, "b.traj": TRAJECTORY, "report.json": report})
    (skipped,) = [result.reading.skipped for result in read_all(folder) if result.reading.skipped]
    assert "report on 3 instances" in skipped
    assert "2 of them without a trajectory here; 1 trajectory not in it" in skipped


@pytest.mark.parametrize(
    "report",
    [
        {"resolved_ids": 5, "unresolved_ids": []},
        {"resolved_ids": ["a", None, {"b": 1}], "unresolved_ids": 7},
        {"a": {"resolved": True, "tests_status": [1]}},
        {"a": {"resolved": "yes"}},
        ["resolved"],
        '{"resolved_ids": ["a"], "unres',
    ],
)
def test_a_report_of_another_shape_stops_nothing(tmp_path: Path, report: Any) -> None:
    folder = write(tmp_path, {"a.traj": TRAJECTORY, "b.traj": TRAJECTORY, "report.json": report})
    assert set(outcomes(folder)) == {"a.traj", "b.traj"}


def test_a_report_alone_is_named_and_skipped(tmp_path: Path) -> None:
    (result,) = read_all(write(tmp_path, {"report.json": {"resolved_ids": ["a"]}}))
    assert "SWE-bench report" in (result.reading.skipped or "")
