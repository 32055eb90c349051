"""Whole runs of each strategy, with a scripted learner in place of a model."""

import pytest

from combee_core.engine.fates import lesson_fates
from combee_core.engine.outlook import planned_nodes
from combee_core.engine.report import merge_tree, run_summary
from combee_core.engine.settings import RunSettings
from combee_core.lesson import Reflection
from combee_core.llm.base import CallFailed, Meter
from combee_core.playbook import render
from combee_core.strategies import STRATEGIES
from tests.engine.bench import Bench
from tests.engine.scripted import Scripted, add_each, make_trace


class Writing(Scripted):
    """A scripted learner that also writes summaries: the texts one after the other."""

    def __init__(self, fails: bool = False, **scripts: object) -> None:
        super().__init__(**scripts)
        self.summarised: list[tuple[str, ...]] = []
        self._fails = fails

    async def summarise(self, items, meter: Meter) -> str:
        self.summarised.append(tuple(item.id for item in items))
        meter.requests += 1
        if self._fails:
            raise CallFailed("not_json", "The answer was no JSON.")
        return " / ".join(item.text for item in items)


def kinds_of(place: Bench, run: str) -> list[str]:
    return [node["kind"] for node in merge_tree(place.database, run)["iterations"][0]["nodes"]]


@pytest.mark.parametrize("name", list(STRATEGIES))
def test_every_lesson_of_every_strategy_is_kept_or_counted_and_the_plan_is_what_ran(bench, name):
    place = bench(9)
    run, version = place.learn(Writing(), batch=9, strategy=name, parallel=4)
    summary = run_summary(place.database, run)
    assert summary["strategy"] == name
    assert summary["lessons"] == 9
    fates = [
        fate for number in range(1, summary["iterations"] + 1) for fate in lesson_fates(place.runs.nodes(run, number))
    ]
    assert sum(fate.fate == "in_prompt" for fate in fates) == 9 - summary["dropped_lessons"]
    covered = {entry["trace"] for entries in version.sources.values() for entry in entries}
    assert len(covered) == 9 - summary["dropped_lessons"]
    stored = place.runs.nodes(run, 1)
    assert [node["id"] for node in planned_nodes(place.database, run, 1)] == [node["id"] for node in stored]
    progress = place.host.progress(run)
    assert progress.done == progress.total, "what was planned is what was counted"


@pytest.mark.parametrize("name", list(STRATEGIES))
def test_the_playbook_of_every_strategy_is_the_same_bytes_for_any_parallelism(bench, name):
    place = bench(12)
    texts = {
        render(place.learn(Writing(), batch=12, strategy=name, parallel=parallel, seed=3)[1].playbook)
        for parallel in (1, 16)
    }
    assert len(texts) == 1


def test_sequential_takes_one_trace_an_iteration_whatever_the_batch_size_says(bench):
    place = bench(4)
    run, version = place.learn(Writing(), batch=32, strategy="sequential")
    assert [row["batch_size"] for row in place.runs.iterations(run)] == [1] * 4
    assert len(version.playbook) == 4
    assert RunSettings(prompt="p", strategy="sequential", batch=8).batch == 1


def test_naive_merges_a_batch_in_one_call_that_sees_every_lesson_once(bench):
    learner = Writing()
    run, _ = (place := bench(9)).learn(learner, batch=9, strategy="naive")
    assert kinds_of(place, run) == ["reflection"] * 9 + ["final"]
    assert learner.merged == [tuple(f"r{number}-1" for number in range(1, 10))]


def test_top_k_passes_one_lesson_a_cluster_on_without_a_call_and_drops_the_others_openly(bench):
    learner, place = Writing(), bench(9)
    run, version = place.learn(learner, batch=9, strategy="top-k")
    nodes = merge_tree(place.database, run)["iterations"][0]["nodes"]
    selection = next(node for node in nodes if node["kind"] == "selection")
    assert len(selection["operations"]) == 3
    assert len(selection["dropped"]) == 6 == run_summary(place.database, run)["dropped_lessons"]
    assert (selection["attempts"], len(learner.merged), len(learner.merged[0])) == (0, 1, 3)
    known = {make_trace(i).feedback for i in range(9)}
    assert {bullet.content for bullet in version.playbook.bullets} < known, "word for word"
    assert all(len(entries) == 1 for entries in version.sources.values())


def test_a_summary_stands_for_everything_that_it_was_written_from(bench):
    learner, place = Writing(), bench(9)
    run, version = place.learn(learner, batch=9, strategy="summary")
    assert kinds_of(place, run) == ["reflection"] * 9 + ["summary", "final"]
    assert [len(items) for items in (*learner.summarised, *learner.merged)] == [9, 1]
    (entries,) = version.sources.values()
    assert {entry["trace"] for entry in entries} == set(place.ids)
    assert {via for entry in entries for via in entry["via"]} == {"i1.m1.1"}


def test_a_hierarchy_of_summaries_keeps_what_each_stands_for(bench):
    learner, place = Writing(), bench(6)
    run, version = place.learn(learner, batch=6, strategy="hierarchical-summary", fan_in=3)
    assert kinds_of(place, run) == ["reflection"] * 6 + ["summary"] * (6 + 2 + 1) + ["final"]
    (entries,) = version.sources.values()
    assert {entry["trace"] for entry in entries} == set(place.ids)


def test_a_summary_that_fails_for_good_passes_its_items_up(bench):
    place = bench(4)
    run, version = place.learn(Writing(fails=True), batch=4, strategy="summary")
    states = {node["kind"]: node["state"] for node in merge_tree(place.database, run)["iterations"][0]["nodes"]}
    assert states["summary"] == "carried"
    assert len(version.playbook) == 4


def test_a_learner_that_writes_no_summaries_ends_the_run_with_a_sentence(bench):
    place = bench(3)
    summary = place.finish(place.begin(Scripted(), strategy="summary"))
    assert summary["state"] == "failed"
    assert summary["error"] == "scripted writes no summaries: choose another strategy, or set an endpoint."


def test_without_lessons_no_step_makes_a_call(bench):
    for name in STRATEGIES:
        learner = Writing(reflect=lambda trace: Reflection(), merge=add_each)
        bench(4).learn(learner, batch=4, strategy=name)
        assert (learner.summarised, learner.merged) == ([], [])
