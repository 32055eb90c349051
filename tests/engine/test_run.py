"""Whole runs through the background host, with a scripted learner in place of a model."""

import asyncio
import threading
from collections import Counter

import pytest

from combee_core.engine.batch_sizes import batch_sizes_of
from combee_core.engine.fates import lesson_fates
from combee_core.engine.report import merge_tree, run_summary
from combee_core.errors import CombeeError
from combee_core.lesson import Lesson, Reflection
from combee_core.llm.base import CallFailed
from combee_core.playbook import Contradiction, Merged, Operation, render
from combee_core.store.traces import Traces
from combee_core.store.versions import Versions
from tests.engine.scripted import Scripted, add_each, make_trace, one_lesson, opened


def test_every_lesson_reaches_the_playbook_with_its_trace_as_source(bench):
    place = bench(10)
    _, version = place.learn(Scripted(), batch=10)
    assert {bullet.content for bullet in version.playbook.bullets} == {make_trace(i).feedback for i in range(10)}
    for bullet in version.playbook.bullets:
        (entry,) = version.sources[bullet.id]
        assert Traces(place.database).get(entry["trace"]).feedback == bullet.content
        assert entry["node"] == "i1.final"
        assert len(entry["via"]) == 2, "both copies went through a group of their own"


def test_the_playbook_is_the_same_bytes_for_any_parallelism(bench):
    place = bench(40)
    texts = {
        render(place.learn(Scripted(), batch=16, parallel=parallel, seed=3)[1].playbook) for parallel in (1, 7, 64)
    }
    assert len(texts) == 1


def test_another_seed_gives_another_order(bench):
    place = bench(40)
    assert render(place.learn(Scripted(), seed=1)[1].playbook) != render(place.learn(Scripted(), seed=2)[1].playbook)


def test_no_more_calls_are_in_flight_than_parallel(bench):
    held: list[asyncio.Future[None]] = []

    def gate(what):
        """Nobody is answered before five wait: fewer at once would never end."""
        if len(held) < 5:
            held.append(asyncio.get_running_loop().create_future())
            if len(held) == 5:
                for each in held:
                    each.set_result(None)
            return held[-1]
        return None

    learner = Scripted(gate=gate)
    bench(30).learn(learner, batch=30, parallel=5)
    assert learner.most_at_once == 5


def test_a_batch_becomes_n_reflections_k_merges_and_one_final_merge(bench):
    place = bench(17)
    run, _ = place.learn(Scripted(), batch=16)
    first, second = merge_tree(place.database, run)["iterations"]
    kinds = [node["kind"] for node in first["nodes"]]
    assert (kinds.count("reflection"), kinds.count("merge"), kinds.count("final")) == (16, 4, 1)
    assert [node["kind"] for node in second["nodes"]] == ["reflection", "final"]
    known = {node["id"] for node in first["nodes"]}
    assert all(set(node["inputs"]) <= known for node in first["nodes"])


def test_a_lesson_that_no_operation_cites_is_counted_and_listed(bench):
    lost = make_trace(3).feedback
    place = bench(9)
    run, version = place.learn(Scripted(merge=lambda items: add_each([i for i in items if i.text != lost])), batch=9)
    assert lost not in {bullet.content for bullet in version.playbook.bullets}
    assert run_summary(place.database, run)["dropped_lessons"] == 1
    nodes = merge_tree(place.database, run)["iterations"][0]["nodes"]
    assert {item["text"] for node in nodes for item in node["dropped"]} == {lost}


def test_invented_sources_are_not_believed(bench):
    place = bench(4)

    def invent(items):
        return tuple(op.model_copy(update={"sources": (*op.sources, "r99-1")}) for op in add_each(items))

    _, version = place.learn(Scripted(merge=invent), batch=4)
    assert all(entry["trace"] in place.ids for entries in version.sources.values() for entry in entries)


def test_a_failed_reflection_is_left_out_and_reported(bench):
    bad = make_trace(2)

    def reflect(trace):
        if trace.id == bad.id:
            raise CallFailed("not_json", "The answer was no JSON.")
        return one_lesson(trace)

    place = bench(6)
    run, version = place.learn(Scripted(reflect=reflect), batch=6)
    assert len(version.playbook) == 5
    failed = [n for n in merge_tree(place.database, run)["iterations"][0]["nodes"] if n["state"] == "failed"]
    assert [(node["traces"], node["error"]) for node in failed] == [([bad.id], "The answer was no JSON.")]


def test_a_mistake_of_our_own_is_the_failure_of_one_node_and_logged_once(bench, caplog):
    bad = {make_trace(2).id, make_trace(4).id}

    def reflect(trace):
        if trace.id in bad:
            raise TypeError("no \x00 such thing")
        return one_lesson(trace)

    def merge(items):
        if items[0].id.startswith("r"):
            raise RecursionError("too deep")
        return add_each(items)

    place = bench(6)
    run, version = place.learn(Scripted(reflect=reflect, merge=merge), batch=6)
    assert len(version.playbook) == 4
    summary = run_summary(place.database, run)
    assert summary["calls"] == 6 + 2 + 1
    assert summary["failures"] == {"unexpected": 4}
    nodes = merge_tree(place.database, run)["iterations"][0]["nodes"]
    broken = [node for node in nodes if "broke on this call" in (node["error"] or "")]
    assert sorted(node["state"] for node in broken) == ["carried", "carried", "failed", "failed"]
    told = [record.getMessage() for record in caplog.records if "broke" in record.getMessage()]
    assert len(told) == 2, "each mistake once, however many calls it breaks"


def test_a_run_whose_every_reflection_fails_ends_as_failed_with_the_reason(bench):
    def reflect(trace):
        raise CallFailed("connection", "No answer from the endpoint.")

    place = bench(6)
    summary = place.finish(place.begin(Scripted(reflect=reflect)))
    assert summary["state"] == "failed"
    assert "No answer from the endpoint." in summary["error"]
    assert summary["version"] is None


def test_a_group_merge_that_fails_for_good_passes_its_items_up(bench):
    def merge(items):
        if items[0].id.startswith("r"):
            raise CallFailed("not_json", "The answer was no JSON.")
        return add_each(items)

    place = bench(9)
    run, version = place.learn(Scripted(merge=merge), batch=9)
    assert len(version.playbook) == 9
    states = {n["kind"]: n["state"] for n in merge_tree(place.database, run)["iterations"][0]["nodes"]}
    assert states == {"reflection": "done", "merge": "carried", "final": "done"}


def test_a_failed_final_merge_fails_the_run_and_resume_repeats_only_it(bench):
    endpoint_is_down = threading.Event()
    endpoint_is_down.set()

    def merge(items):
        if items[0].id.startswith("m") and endpoint_is_down.is_set():
            raise CallFailed("connection", "No answer from the endpoint.")
        return add_each(items)

    place = bench(9)
    learner = Scripted(merge=merge)
    run = place.begin(learner, batch=9)
    assert place.finish(run)["state"] == "failed"
    endpoint_is_down.clear()
    place.host.start(run, opened(learner))
    assert place.finish(run)["state"] == "done"
    assert set(learner.reflected.values()) == {1}
    assert len(learner.merged) == 3 + 2


def test_a_cancelled_run_keeps_what_has_finished_and_resumes_to_the_same_playbook(bench):
    place = bench(25)
    _, expected = place.learn(Scripted(), batch=25, parallel=4)
    held = threading.Event()

    def gate(what):
        if learner.reflected.total() > 12:
            held.set()
            return asyncio.get_running_loop().create_future()
        return None

    learner = Scripted(gate=gate)
    run = place.begin(learner, batch=25, parallel=4)
    assert held.wait(30)
    place.host.stop_run(run, "cancelled")
    assert place.finish(run)["state"] == "cancelled"
    finished = {node["trace"] for node in place.runs.nodes(run) if node["state"] == "done"}
    again = Scripted()
    place.host.start(run, opened(again))
    summary = place.finish(run)
    assert summary["state"] == "done"
    assert finished
    assert not finished & set(again.reflected), "a finished call was made again"
    version = Versions(place.database).get("p", int(summary["version"].split("@")[1]))
    assert render(version.playbook) == render(expected.playbook)


def test_a_live_run_cannot_be_started_twice(bench):
    entered, place = threading.Event(), bench(3)

    def gate(what):
        entered.set()
        return asyncio.get_running_loop().create_future()

    run = place.begin(Scripted(gate=gate))
    assert entered.wait(30)
    with pytest.raises(CombeeError, match="running already"):
        place.host.start(run, opened(Scripted()))
    place.host.stop_run(run, "cancelled")
    place.finish(run)


def test_a_group_merges_as_soon_as_its_own_reflections_are_there(bench):
    place = bench(16)
    released = threading.Event()
    loops: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []

    def gate(what):
        if what == "merge" and not released.is_set():
            released.set()
            loop, held = loops[0]
            loop.call_soon(held.set_result, None)
        if what.startswith("t-") and not loops:
            loop = asyncio.get_running_loop()
            loops.append((loop, loop.create_future()))
            return loops[0][1]
        return None

    # The one reflection that is held back is let go by the first merge: with a barrier the run would never end.
    place.learn(Scripted(gate=gate), batch=16, parallel=16, copies=1)
    assert released.is_set()


def test_no_merge_holds_up_a_reflection_of_its_batch(bench):
    asked = []

    def gate(what):
        asked.append(what)
        # Answers take longer than it takes to write one down, so that merges are ready while reflections wait.
        return asyncio.ensure_future(asyncio.sleep(0.04))

    bench(16).learn(Scripted(gate=gate), batch=16, parallel=3)
    assert [what.startswith("t-") for what in asked] == [True] * 16 + [False] * 5


def test_calls_that_may_go_at_once_set_out_one_by_one(bench):
    order = []

    async def answer(trace):
        order.append(("answered", trace))

    def gate(what):
        order.append(("asked", what))
        return asyncio.ensure_future(answer(what))

    bench(16).learn(Scripted(gate=gate), batch=16, parallel=16)
    reflections = [(event, what) for event, what in order if what.startswith("t-")]
    asked = [what for event, what in reflections if event == "asked"]
    assert reflections.index(("answered", asked[0])) < reflections.index(("asked", asked[-1]))


def test_updates_keep_the_sources_a_bullet_had(bench):
    place = bench(2)

    def merge(items):
        kind = "ADD" if not place.runs.all()[0]["version"] else "UPDATE"
        bullets = () if kind == "ADD" else ("rules-00001",)
        sources = tuple(item.id for item in items)
        return (Operation(kind=kind, section="RULES", content=f"{kind} text", bullets=bullets, sources=sources),)

    _, version = place.learn(Scripted(merge=merge), batch=1)
    assert [bullet.content for bullet in version.playbook.bullets] == ["UPDATE text"]
    assert {entry["trace"] for entry in version.sources["rules-00001"]} == set(place.ids)


def test_a_trace_without_lessons_costs_no_merge_call(bench):
    learner = Scripted(reflect=lambda trace: Reflection())
    _, version = bench(9).learn(learner, batch=9)
    assert learner.merged == []
    assert len(version.playbook) == 0


def test_an_automatic_batch_size_learns_from_every_trace_once_and_says_why(bench):
    place, learner = bench(40), Scripted()
    run, version = place.learn(learner, batch="auto", batch_candidates=(2, 4, 8))
    assert set(learner.reflected.values()) == {1}
    assert len(version.playbook.bullets) == 40
    rows = place.runs.iterations(run)
    trials = [row["batch_size"] for row in rows if row["why"].startswith("trial: ")]
    assert trials[:3] == [2, 4, 8]
    assert all(row["why"].split(":")[0] in ("trial", "plateau", "refit", "fixed") for row in rows)
    report = batch_sizes_of(place.database, run).report()
    assert [trial["batch_size"] for trial in report["trials"]] == trials
    assert report["fit"].keys() == {"A", "alpha", "tau", "plateau", "r2"}
    assert [choice["batch_size"] for choice in report["choices"]] == [row["batch_size"] for row in rows]


def test_an_iteration_that_was_cut_in_two_says_nothing_of_its_batch_size(bench):
    place = bench(20)
    held = threading.Event()

    def gate(what):
        if learner.reflected.total() > 2 + 2:
            held.set()
            return asyncio.get_running_loop().create_future()
        return None

    learner = Scripted(gate=gate)
    run = place.begin(learner, batch="auto", batch_candidates=(2, 4, 8), parallel=1)
    assert held.wait(30)
    place.host.stop_run(run, "cancelled")
    place.finish(run)
    dealt = place.runs.batches(run)
    assert [len(batch["trace_ids"]) for batch in dealt] == [2, 4]
    place.host.start(run, opened(Scripted()))
    assert place.finish(run)["state"] == "done"
    assert place.runs.batches(run)[:2] == dealt
    assert [row["whole"] for row in place.runs.iterations(run)][:3] == [True, False, True]


def test_a_merge_that_leaves_many_items_out_is_asked_once_for_the_rest(bench):
    def first_half(items):
        return add_each(items[: max(1, len(items) // 2)])

    place = bench(9)
    run, version = place.learn(Scripted(merge=first_half), batch=9)
    with_recheck = run_summary(place.database, run)
    assert with_recheck["rechecks"] == 4
    _, without = place.learn(Scripted(merge=first_half), batch=9, recheck=False)
    assert len(version.playbook) > len(without.playbook)


def test_retain_carry_loses_nothing_whatever_the_merge_leaves_out(bench):
    place = bench(9)
    run, version = place.learn(Scripted(merge=lambda items: ()), batch=9, retain="carry")
    assert len(version.playbook) == 9
    merges = [
        node for node in merge_tree(place.database, run)["iterations"][0]["nodes"] if node["kind"] != "reflection"
    ]
    assert all(row["carried"] for node in merges for row in node["operations"]), "each is marked"
    *groups, final = merges
    assert all(node["items"] == {"in": 6, "merged": 0, "carried": 6, "held": 0, "dropped": 0} for node in groups)
    assert final["items"]["carried"] == final["items"]["in"]
    summary = run_summary(place.database, run)
    assert (summary["lessons"], summary["dropped_lessons"], summary["carried_lessons"]) == (9, 0, 9)


def test_the_tree_counts_what_became_of_each_item_that_a_merge_was_given(bench):
    place = bench(9)
    run, _ = place.learn(Scripted(merge=lambda items: add_each(items[1:])), batch=9, recheck=False, min_support=2)
    for node in merge_tree(place.database, run)["iterations"][0]["nodes"]:
        if node["kind"] != "reflection":
            counts = dict(node["items"])
            assert counts["in"] == counts["merged"] + counts["carried"] + counts["held"] + counts["dropped"]
            assert counts["dropped"] == len(node["dropped"]) > 0
    assert run_summary(place.database, run)["carried_lessons"] == 0


def test_an_operation_without_sources_gets_those_that_its_text_shows(bench):
    def uncited(items):
        return tuple(op.model_copy(update={"sources": ()}) for op in add_each(items))

    place = bench(4)
    run, version = place.learn(Scripted(merge=uncited), batch=4, recheck=False)
    assert run_summary(place.database, run)["recovered_citations"] == 2 * 4 + 4, "two groups of four, one final merge"
    for bullet in version.playbook.bullets:
        texts = {Traces(place.database).get(entry["trace"]).feedback for entry in version.sources[bullet.id]}
        assert bullet.content in texts


def test_twins_do_not_reach_the_final_merge_unless_folding_is_off(bench):
    place, sizes = bench(16), []

    def merge(items):
        sizes.append(len(items))
        return tuple(Operation(kind="ADD", section="S", content=item.text, sources=(item.id,)) for item in items)

    _, version = place.learn(Scripted(merge=merge), batch=16)
    assert sizes[-1] == 16
    assert all(len(entries[0]["via"]) == 2 for entries in version.sources.values()), "both ways are on record"
    place.learn(Scripted(merge=merge), batch=16, fold_twins=False)
    assert sizes[-1] == 32


def test_fan_in_adds_levels_and_loses_nothing(bench):
    place = bench(30)
    run, version = place.learn(Scripted(), batch=30, fan_in=2)
    assert run_summary(place.database, run)["levels"] == 4
    assert len(version.playbook) == 30
    merges = [node for node in merge_tree(place.database, run)["iterations"][0]["nodes"] if node["level"] > 1]
    assert all(len(node["inputs"]) <= 2 for node in merges)


@pytest.mark.parametrize("parallel", [1, 4])
def test_a_budget_of_calls_is_never_passed_and_the_run_says_which_it_was(bench, parallel):
    learner = Scripted()
    place = bench(20)
    summary = place.finish(place.begin(learner, batch=20, parallel=parallel, max_calls=7))
    assert (summary["state"], summary["stopped_by"]) == ("cancelled", "max_calls")
    assert learner.reflected.total() + len(learner.merged) == summary["calls"] == 7
    assert "7 calls" in summary["error"]


def test_bullets_with_too_few_traces_are_held_back_and_neither_in_the_prompt_nor_dropped(bench):
    def reflect(trace):
        seen_twice = trace.feedback.startswith(("field_0 ", "field_1 "))
        return Reflection(lessons=(Lesson(text="seen twice" if seen_twice else trace.feedback),))

    place = bench(9)
    run, version = place.learn(Scripted(reflect=reflect), batch=9, min_support=2)
    assert [bullet.content for bullet in version.playbook.bullets] == ["seen twice"]
    summary = run_summary(place.database, run)
    assert (summary["lessons"], summary["held_lessons"], summary["dropped_lessons"]) == (9, 7, 0)
    final = merge_tree(place.database, run)["iterations"][0]["nodes"][-1]
    assert sorted(row["held"] for row in final["operations"] if "held" in row) == [1] * 7
    assert Counter(lesson.fate for lesson in lesson_fates(place.runs.nodes(run))) == {"in_prompt": 2, "held": 7}


def test_what_the_prompt_says_already_is_never_held_back(bench):
    place = bench(4)
    same = Reflection(lessons=(Lesson(text="said before"),))
    _, version = place.learn(Scripted(reflect=lambda trace: same), batch=3, min_support=2)
    assert version.support("rules-00001") == 4


def test_contradictions_that_a_merge_reports_are_kept_without_what_it_was_not_given(bench):
    def merge(items):
        found = (
            Contradiction(sources=(items[0].id, items[-1].id, "r99-1"), about="units"),
            Contradiction(sources=(items[0].id,), about="nothing on the other side"),
        )
        return Merged(operations=add_each(items), contradictions=found)

    place = bench(4)
    run, _ = place.learn(Scripted(merge=merge), batch=4)
    final = merge_tree(place.database, run)["iterations"][0]["nodes"][-1]
    assert [(row["about"], len(row["sources"])) for row in final["contradictions"]] == [("units", 2)]
