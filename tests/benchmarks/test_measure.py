"""What the engine's benchmark makes of what a server has answered."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.engine.cases import all_cases, chosen
from benchmarks.engine.measure import percentiles, requests_by_node, waits
from benchmarks.engine.server import Served
from combee_core.engine import tree
from combee_core.scan import TreePlan, plan
from tests.stand_in import Behaviour, latency


def requests_of(merge_tree: TreePlan, tasks: list[str]) -> list[Served]:
    """What a server would have seen: reflections end at 1 s, groups arrive 0.5 s later, the final merge after them."""
    served = [Served((task,), 1, 0.0, 1.0, 1.0) for task in tasks]
    for level in merge_tree.levels:
        for merge in level:
            names = (name.removeprefix("i1.").replace(".", "-") for name in tree.input_ids(1, merge))
            about = tuple(f"{name}-{number}" for name in names for number in (1, 2))
            served.append(Served(about, 1, 1.5 + merge.level, 2.5 + merge.level, 1.0))
    return served


# Below 9 reflections two groups may be given the very same items: one prompt, which cannot be told apart.
@given(n=st.integers(9, 60), seed=st.integers(0, 5), fan_in=st.none() | st.integers(2, 4))
def test_every_node_of_a_tree_finds_its_own_request(n, seed, fan_in):
    merge_tree = plan(n, seed=seed, fan_in=fan_in)
    tasks = [f"Book invoice {number}" for number in range(n)]
    found = requests_by_node(merge_tree, tasks, requests_of(merge_tree, tasks))
    assert len(found) == n + sum(len(level) for level in merge_tree.levels)
    assert all(found[tree.reflection_id(1, index)].about == (task,) for index, task in enumerate(tasks))
    assert waits(merge_tree, found) == [1.5] * len(merge_tree.levels[0])


def test_a_node_without_a_request_is_an_error():
    merge_tree = plan(9)
    tasks = [f"Book invoice {number}" for number in range(9)]
    with pytest.raises(ValueError, match="1 of 13 nodes"):
        requests_by_node(merge_tree, tasks, requests_of(merge_tree, tasks)[:-1])


def test_a_request_that_is_of_no_node_is_an_error():
    merge_tree = plan(9)
    tasks = [f"Book invoice {number}" for number in range(9)]
    again = Served(("r3-1", "r4-1"), 1, 3.0, 4.0, 1.0)
    with pytest.raises(ValueError, match="no node of the tree: r3-1, r4-1"):
        requests_by_node(merge_tree, tasks, [*requests_of(merge_tree, tasks), again])


def test_second_requests_for_a_prompt_do_not_count_for_the_bound():
    merge_tree = plan(2)
    tasks = ["Book invoice 0", "Book invoice 1"]
    requests = requests_of(merge_tree, tasks)
    again = Served((tasks[0],), 2, 0.5, 0.6, 0.1)
    assert requests_by_node(merge_tree, tasks, [again, *requests])["i1.r1"].seconds == 1.0


def test_percentiles_of_known_values():
    assert percentiles(range(101)) == (50.0, 95.0)
    assert percentiles([3.0]) == (3.0, 3.0)


def test_heavy_tails_are_drawn_as_stated():
    behaviour = Behaviour(latency=2.0, sigma=0.6, tail=0.02)
    drawn = sorted(latency(behaviour, str(number)) for number in range(4_000))
    assert statistics.median(drawn) == pytest.approx(2.0, rel=0.06)
    assert percentiles(drawn)[1] == pytest.approx(2.0 * 2.8, rel=0.2)
    assert drawn[-20] > 10.0


def test_long_runs_are_left_out_unless_asked_for_and_names_are_chosen_by_pattern():
    cases = all_cases()
    assert len({case.name for case in cases}) == len(cases)
    quick, left_out = chosen(cases, [], long=False)
    assert len(quick) + len(left_out) == len(cases)
    assert max(case.expected_s for case in quick) <= min(case.expected_s for case in left_out)
    some, none = chosen(cases, ["fixed-2s-*"], long=True)
    assert {case.n for case in some} == {64, 256, 1024, 4096}
    assert none == []
