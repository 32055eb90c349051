from math import isqrt
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from combee_core.errors import CombeeError
from combee_core.scan import Shuffle, describe, plan
from combee_core.strategies import STRATEGIES, Shape, StrategyName, check_learner

names = st.sampled_from(list(STRATEGIES))
seeds = st.integers(min_value=0, max_value=2**32)
sizes = st.integers(min_value=1, max_value=200)
shapes = st.builds(
    Shape,
    copies=st.integers(1, 4),
    groups=st.one_of(st.none(), st.integers(1, 250)),
    shuffle=st.sampled_from(get_args(Shuffle)),
    fan_in=st.one_of(st.none(), st.integers(2, 12)),
)


def test_every_name_has_its_strategy_and_combee_comes_first() -> None:
    assert tuple(STRATEGIES) == get_args(StrategyName)
    assert all(strategy.name == name for name, strategy in STRATEGIES.items())


@given(names, sizes, shapes, seeds)
def test_every_reflection_is_read_and_every_output_is_read_once_up_to_one_final_merge(
    name: StrategyName, n: int, shape: Shape, seed: int
) -> None:
    tree = STRATEGIES[name].plan(n, shape, seed)
    assert tree.items == n
    assert {item for step in tree.levels[0] for item in step.inputs} == set(range(n))
    for depth, level in enumerate(tree.levels, start=1):
        assert [(step.level, step.group) for step in level] == [(depth, group) for group in range(len(level))]
        assert len({step.kind for step in level}) == 1
        if depth > 1:
            assert [number for step in level for number in step.inputs] == list(range(len(tree.levels[depth - 2])))
    assert (len(tree.levels[-1]), tree.final.kind) == (1, "merge")


@given(names, sizes, shapes, seeds)
def test_the_same_arguments_plan_the_same(name: StrategyName, n: int, shape: Shape, seed: int) -> None:
    assert STRATEGIES[name].plan(n, shape, seed) == STRATEGIES[name].plan(n, shape, seed)


@given(sizes, shapes, seeds)
def test_combee_is_the_scan_plan(n: int, shape: Shape, seed: int) -> None:
    groups = None if shape.groups is None else min(n, shape.groups)
    expected = plan(n, shape.copies, groups, seed, shape.shuffle, shape.fan_in)
    assert STRATEGIES["combee"].plan(n, shape, seed) == expected


@given(sizes, shapes, seeds)
def test_naive_and_one_group_are_one_merge_that_reads_each_reflection_once(n: int, shape: Shape, seed: int) -> None:
    one_level = STRATEGIES["combee"].plan(n, Shape(copies=shape.copies, groups=1), seed)
    for tree in (STRATEGIES["naive"].plan(n, shape, seed), one_level):
        assert len(tree.levels) == 1
        assert sorted(tree.final.inputs) == list(range(n))


@given(sizes, shapes, seeds)
def test_top_k_selects_as_many_as_combee_would_make_groups(n: int, shape: Shape, seed: int) -> None:
    (selection,), (final,) = STRATEGIES["top-k"].plan(n, shape, seed).levels
    assert (selection.kind, selection.keep) == ("selection", shape.groups or isqrt(n))
    assert final.inputs == (0,)


@given(sizes, shapes, seeds)
def test_a_hierarchy_of_summaries_begins_with_one_a_reflection_and_heeds_the_fan_in(
    n: int, shape: Shape, seed: int
) -> None:
    *summaries, _ = STRATEGIES["hierarchical-summary"].plan(n, shape, seed).levels
    assert [step.inputs for step in summaries[0]] == [(item,) for item in range(n)]
    assert len(summaries[-1]) == 1
    assert all(step.kind == "summary" for level in summaries for step in level)
    most = max(len(step.inputs) for level in summaries for step in level)
    assert most <= (shape.fan_in or n)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("combee", "16 reflections → 4 groups of 8 copies → 1 final merge"),
        ("naive", "16 reflections → 1 final merge"),
        ("top-k", "16 reflections → selection of 4 at most → 1 final merge"),
        ("summary", "16 reflections → 1 summary of 16 reflections → 1 final merge"),
        (
            "hierarchical-summary",
            "16 reflections → 16 summaries of 1 reflection → 1 summary of 16 summaries → 1 final merge",
        ),
    ],
)
def test_a_plan_is_told_in_one_line(name: StrategyName, sentence: str) -> None:
    assert describe(STRATEGIES[name].plan(16, Shape(), 0)) == sentence


@pytest.mark.parametrize("name", list(STRATEGIES))
def test_what_needs_a_model_says_so_and_names_what_does_not(name: StrategyName) -> None:
    check_learner(name, with_model=True)
    if STRATEGIES[name].needs_model:
        with pytest.raises(CombeeError, match=rf"{name} needs a language model .* combee, sequential, naive, top-k\.$"):
            check_learner(name, with_model=False)
    else:
        check_learner(name, with_model=False)
