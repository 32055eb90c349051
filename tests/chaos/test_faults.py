"""Whatever a third of the calls meets: the run ends, its totals are the server's, and every lesson has its place."""

from collections import Counter

import pytest

from combee_core.engine.fates import lesson_fates
from tests.chaos.conftest import settings
from tests.stand_in import FAULTS

TRACES = 36
THIRD = {fault: 0.3 / len(FAULTS) for fault in FAULTS if fault != "prose"}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_with_faults_in_a_third_of_the_calls_nothing_is_lost_and_everything_is_counted(place, stand_in, seed):
    stand_in.set(faults=THIRD, seed=seed, drop=0.2)
    workspace = place(TRACES)
    summary = workspace.learn(settings(stand_in, parallel=8, timeout_s=1.0, seed=seed, batch=TRACES))
    assert summary["state"] == "done", summary["error"]
    assert stand_in.by_fault.total() > 5

    nodes = workspace.nodes(summary["run"], 1)
    assert summary["calls"] == stand_in.requests == sum(node["attempts"] for node in nodes)
    assert summary["failed_calls"] == sum(summary["failures"].values())
    # A busy machine may be late with an answer that is no hanging one; every other failure is one that was made.
    late = summary["failures"].get("timeout", 0) - stand_in.by_fault["hang"]
    assert late >= 0
    assert summary["failed_calls"] - late == stand_in.by_fault.total()
    assert len(nodes) == TRACES + 6 + 1

    reflections = [node for node in nodes if node["kind"] == "reflection"]
    assert {node["state"] for node in reflections} <= {"done", "failed"}
    assert all(node["error"] for node in reflections if node["state"] == "failed")
    assert summary["failed_reflections"] == sum(node["state"] == "failed" for node in reflections)

    fates = lesson_fates(nodes)
    assert len(fates) == summary["lessons"] == sum(node["state"] == "done" for node in reflections)
    by_fate = Counter(fate.fate for fate in fates)
    assert by_fate["waiting"] == by_fate["failed"] == 0
    assert by_fate["dropped"] + by_fate["lost_above"] == summary["dropped_lessons"]
    texts = [bullet.content for bullet in workspace.version(summary["version"]).playbook.bullets]
    assert {fate.text for fate in fates if fate.fate == "in_prompt"} <= set(texts)


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault not in ("prose", "hang")])
def test_a_run_ends_with_a_reason_even_when_every_call_fails(place, stand_in, fault):
    stand_in.set(faults={fault: 1.0})
    summary = place(3).learn(settings(stand_in))
    assert summary["state"] == "failed", "no reflection has worked"
    assert summary["error"].startswith("No reflection has worked. ")
    assert summary["calls"] == summary["failed_calls"] == stand_in.requests


def test_the_same_faults_give_the_same_playbook_at_any_parallelism(place, stand_in):
    stand_in.set(faults={"429": 0.1, "malformed": 0.1, "reset": 0.1}, seed=7)
    workspace = place(TRACES)
    exports = set()
    for parallel in (1, 16):
        stand_in.asked.clear()
        summary = workspace.learn(settings(stand_in, parallel=parallel))
        assert summary["state"] == "done", summary["error"]
        exports.add(workspace.export(summary["version"]))
    assert len(exports) == 1
