"""The bound that runs are measured against: never above what can be reached, reached where it can be told by hand."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.engine.schedule import (
    Call,
    calls_of,
    longest_way_first,
    lower_bound,
    makespan,
    merges_first,
    simulate,
    with_barriers,
)
from combee_core.engine import tree
from combee_core.scan import TreePlan, plan

# Whole numbers: sums of them are exact.
SECONDS = st.integers(1, 20).map(float)
RANKS = st.sampled_from([longest_way_first, merges_first])


def names_of(merge_tree: TreePlan) -> list[str]:
    merges = [tree.merge_id(1, merge, merge is merge_tree.final) for level in merge_tree.levels for merge in level]
    return [tree.reflection_id(1, index) for index in range(merge_tree.items)] + merges


@st.composite
def trees(draw: st.DrawFn) -> list[Call]:
    n = draw(st.integers(1, 25))
    merge_tree = plan(
        n, copies=draw(st.integers(1, 3)), seed=draw(st.integers(0, 9)), fan_in=draw(st.none() | st.just(2))
    )
    names = names_of(merge_tree)
    seconds = draw(st.lists(SECONDS, min_size=len(names), max_size=len(names)))
    return calls_of(merge_tree, dict(zip(names, seconds, strict=True)))


def equal_calls(n: int) -> list[Call]:
    merge_tree = plan(n)
    return calls_of(merge_tree, dict.fromkeys(names_of(merge_tree), 1.0))


@settings(max_examples=50)
@given(calls=trees(), parallel=st.integers(1, 30), rank=RANKS, barriers=st.booleans())
def test_no_schedule_beats_the_lower_bound_and_list_scheduling_is_within_twice_of_it(calls, parallel, rank, barriers):
    scheduled = with_barriers(calls) if barriers else calls
    took = makespan(scheduled, parallel, rank)
    assert lower_bound(calls, parallel) <= took
    assert took <= 2 * lower_bound(scheduled, parallel)


@settings(max_examples=50)
@given(calls=trees(), parallel=st.integers(1, 30), rank=RANKS)
def test_a_schedule_can_be_kept_to(calls, parallel, rank):
    ends = simulate(calls, parallel, rank)
    begins = {call.name: ends[call.name] - call.seconds for call in calls}
    assert ends.keys() == {call.name for call in calls}
    assert all(ends[name] <= begins[call.name] for call in calls for name in call.needs)
    for begin in begins.values():
        assert sum(begins[name] <= begin < ends[name] for name in ends) <= parallel


@settings(max_examples=50)
@given(calls=trees(), parallel=st.integers(1, 30))
def test_no_place_is_free_while_a_call_is_ready(calls, parallel):
    ends = simulate(calls, parallel)
    for call in calls:
        ready = max((ends[name] for name in call.needs), default=0.0)
        begin = ends[call.name] - call.seconds
        if begin > ready:
            middle = (ready + begin) / 2
            busy = sum(ends[other.name] - other.seconds <= middle < ends[other.name] for other in calls)
            assert busy == parallel


@settings(max_examples=50)
@given(calls=trees(), spare=st.integers(0, 20))
def test_dataflow_with_the_longest_way_first_is_never_slower_than_level_by_level(calls, spare):
    groups = sum(call.level == 1 for call in calls)
    parallel = groups + spare
    assert makespan(calls, parallel) <= makespan(with_barriers(calls), parallel)


@settings(max_examples=50)
@given(seconds=st.lists(SECONDS, min_size=6, max_size=6), parallel=st.integers(1, 3))
def test_the_lower_bound_is_below_every_order_of_a_small_tree(seconds, parallel):
    merge_tree = plan(4, copies=1, groups=1)
    calls = calls_of(merge_tree, dict(zip(names_of(merge_tree), seconds, strict=False)))
    *reflections, final = calls
    best = min(makespan([*order, final], parallel) for order in permutations(reflections))
    assert lower_bound(calls, parallel) <= best


@pytest.mark.parametrize(("n", "parallel", "waves"), [(64, 64, 3), (256, 64, 6), (1024, 512, 4), (4096, 512, 10)])
def test_equal_calls_take_their_waves_and_two_levels(n, parallel, waves):
    calls = equal_calls(n)
    assert lower_bound(calls, parallel) == makespan(calls, parallel) == waves


def test_merges_first_is_slower_than_level_by_level_on_equal_calls():
    calls = equal_calls(1024)
    assert makespan(calls, 512, merges_first) == 5
    assert makespan(with_barriers(calls), 512) == 4
