"""The stream of events: complete, in order, and the same numbers as the database has."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from combee_core.engine.events import (
    CallEnded,
    CallStarted,
    Event,
    IterationDealt,
    LimitChanged,
    NodeSettled,
    RunEnded,
    RunStarted,
)
from combee_core.engine.report import run_summary
from combee_core.lesson import Reflection
from combee_core.llm.base import CallFailed
from combee_core.trace import Trace
from tests.engine.bench import Bench
from tests.engine.scripted import Scripted, make_trace, one_lesson, opened

MakeBench = Callable[[int], Bench]
Kind = TypeVar("Kind")


def watched(place: Bench) -> list[Event]:
    seen: list[Event] = []
    place.host.events.subscribe(lambda run, event: seen.append(event))
    return seen


def of_kind(seen: list[Event], kind: type[Kind]) -> list[Kind]:
    return [event for event in seen if isinstance(event, kind)]


def test_events_tell_a_run_from_its_start_to_its_end(bench: MakeBench) -> None:
    place = bench(12)
    seen = watched(place)
    run, _ = place.learn(Scripted(), batch=8, parallel=3)
    assert isinstance(seen[0], RunStarted)
    assert seen[-1] == RunEnded("done", None)
    assert LimitChanged(3) in seen
    assert of_kind(seen, IterationDealt) == [
        IterationDealt(1, 2, 8, {"reflection": 8, "merge": 2, "final": 1}),
        IterationDealt(2, 2, 4, {"reflection": 4, "merge": 2, "final": 1}),
    ]
    nodes = {node["id"] for node in place.runs.nodes(run)}
    for kind in (CallStarted, CallEnded, NodeSettled):
        assert Counter(event.node for event in of_kind(seen, kind)) == dict.fromkeys(nodes, 1)
    spent = [event.spent for event in of_kind(seen, CallEnded)]
    summary = run_summary(place.database, run)
    assert sum(each.calls for each in spent) == summary["calls"]


def test_a_node_settles_after_its_call_and_before_what_builds_on_it_is_sent(bench: MakeBench) -> None:
    place = bench(9)
    seen = watched(place)
    run, _ = place.learn(Scripted(), batch=9)
    ended = {event.node: place_ for place_, event in enumerate(seen) if isinstance(event, CallEnded)}
    settled = {event.node: place_ for place_, event in enumerate(seen) if isinstance(event, NodeSettled)}
    started = {event.node: place_ for place_, event in enumerate(seen) if isinstance(event, CallStarted)}
    for node in place.runs.nodes(run):
        assert started[node["id"]] < ended[node["id"]] < settled[node["id"]]
        assert all(settled[name] < started[node["id"]] for name in node["inputs"])


def test_a_failed_reflection_ends_and_settles_as_failed(bench: MakeBench) -> None:
    bad = make_trace(1).id

    def reflect(trace: Trace) -> Reflection:
        if trace.id == bad:
            raise CallFailed("not_json", "The answer was no JSON.")
        return one_lesson(trace)

    place = bench(4)
    seen = watched(place)
    place.learn(Scripted(reflect=reflect), batch=4)
    assert [event.state for event in of_kind(seen, CallEnded)].count("failed") == 1
    assert [event.state for event in of_kind(seen, NodeSettled)].count("failed") == 1
    assert sum(len(event.lessons) for event in of_kind(seen, NodeSettled)) == 3


def test_a_resumed_run_tells_what_it_had_spent_and_which_nodes_it_keeps(bench: MakeBench) -> None:
    held, place = threading.Event(), bench(9)

    def gate(what: str) -> "asyncio.Future[None] | None":
        if not what.startswith("t-"):
            held.set()
            return asyncio.get_running_loop().create_future()
        return None

    run = place.begin(Scripted(gate=gate), batch=9)
    assert held.wait(30)
    place.host.stop_run(run, "cancelled")
    spent = place.finish(run)["calls"]
    seen = watched(place)
    place.host.start(run, opened(Scripted()))
    place.finish(run)
    (started,) = of_kind(seen, RunStarted)
    assert started.spent.calls == spent
    kept = {event.node for event in of_kind(seen, NodeSettled) if event.kept}
    called = {event.node for event in of_kind(seen, CallStarted)}
    assert kept == {f"i1.r{number}" for number in range(1, 10)}
    assert not kept & called


def test_progress_is_a_fold_of_the_events_and_a_copy_that_stays_as_it_was_read(bench: MakeBench) -> None:
    place, held, copies = bench(4), threading.Event(), []

    def at_the_first_merge(run: str, event: Event) -> None:
        if isinstance(event, CallStarted) and event.kind == "merge" and not held.is_set():
            copies.append(place.host.progress(run))
            held.set()

    place.host.events.subscribe(at_the_first_merge)
    run, _ = place.learn(Scripted(), batch=4, parallel=2)
    (early,), late = copies, place.host.progress(run)
    assert (early.done["final"], early.in_flight, early.limit) == (0, 1, 2)
    assert late.done == {"reflection": 4, "merge": 2, "final": 1}
    assert (late.in_flight, late.calls) == (0, 7)
    assert sorted(late.latest) == sorted(make_trace(number).feedback for number in range(4))


def test_a_watcher_that_breaks_breaks_nothing_and_one_that_left_is_told_nothing(bench: MakeBench) -> None:
    place, told = bench(3), []

    def broken(run: str, event: Event) -> None:
        raise RuntimeError("a fault in a page")

    place.host.events.subscribe(broken)
    leave = place.host.events.subscribe(lambda run, event: told.append(event))
    leave()
    _, version = place.learn(Scripted(), batch=3)
    assert len(version.playbook) == 3
    assert told == []
