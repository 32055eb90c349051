import re
from collections import Counter
from itertools import combinations, pairwise
from math import isqrt
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from combee_core.scan import Merge, Shuffle, augment, describe, plan

seeds = st.integers(min_value=0, max_value=2**32)
shuffles = st.sampled_from(["apart", "plain", "none"])
fan_ins = st.one_of(st.none(), st.integers(min_value=2, max_value=12))


@st.composite
def deals(draw: st.DrawFn) -> tuple[int, int, int, int]:
    n = draw(st.integers(min_value=1, max_value=300))
    groups = draw(st.one_of(st.just(max(1, isqrt(n))), st.integers(min_value=1, max_value=n)))
    return n, draw(st.integers(min_value=1, max_value=6)), groups, draw(seeds)


class TestAugment:
    @given(deals(), shuffles)
    def test_every_copy_is_dealt_once_and_sizes_differ_by_at_most_one(
        self, deal: tuple[int, int, int, int], shuffle: Shuffle
    ) -> None:
        n, copies, groups, seed = deal
        dealt = augment(n, copies, groups, seed, shuffle)
        assert Counter(item for group in dealt for item in group) == dict.fromkeys(range(n), copies)
        sizes = [len(group) for group in dealt]
        assert len(sizes) == groups
        assert 1 <= min(sizes) <= max(sizes) <= min(sizes) + 1

    @given(deals())
    def test_copies_of_one_item_are_apart_where_there_are_groups_enough_and_even_where_not(
        self, deal: tuple[int, int, int, int]
    ) -> None:
        n, copies, groups, seed = deal
        most = -(-copies // groups)
        for group in augment(n, copies, groups, seed):
            together = Counter(group)
            assert max(together.values()) <= most
            assert all(together[item] >= copies // groups for item in range(n))

    @given(deals(), shuffles)
    def test_the_same_seed_deals_the_same(self, deal: tuple[int, int, int, int], shuffle: Shuffle) -> None:
        n, copies, groups, seed = deal
        assert augment(n, copies, groups, seed, shuffle) == augment(n, copies, groups, seed, shuffle)

    @pytest.mark.parametrize("shuffle", ["apart", "plain"])
    def test_different_seeds_deal_differently(self, shuffle: Shuffle) -> None:
        assert len({augment(20, 2, 4, seed, shuffle) for seed in range(50)}) == 50

    @given(deals(), seeds)
    def test_without_a_shuffle_neighbours_stay_together_whatever_the_seed(
        self, deal: tuple[int, int, int, int], other: int
    ) -> None:
        n, copies, groups, seed = deal
        dealt = augment(n, copies, groups, seed, "none")
        assert [item for group in dealt for item in group] == list(range(n)) * copies
        assert dealt == augment(n, copies, groups, other, "none")

    def test_what_a_seed_deals_never_changes_between_releases(self) -> None:
        assert augment(6, 2, 3, seed=7) == ((3, 0, 5, 2), (3, 1, 4, 0), (5, 2, 1, 4))
        assert augment(6, 2, 3, seed=7, shuffle="plain") == ((1, 4, 3, 0), (5, 2, 1, 2), (3, 4, 0, 5))

    def test_the_plain_shuffle_lets_copies_meet_as_often_as_chance_has_it(self) -> None:
        wasted = [
            sum(count - 1 for group in augment(64, 2, 8, seed, "plain") for count in Counter(group).values())
            for seed in range(200)
        ]
        expected = 64 * 15 / 127
        assert expected * 0.85 < sum(wasted) / len(wasted) < expected * 1.15

    def test_all_pairs_of_items_meet_about_equally_often(self) -> None:
        meetings = Counter(
            pair for seed in range(2000) for group in augment(12, 2, 4, seed) for pair in combinations(sorted(group), 2)
        )
        mean = sum(meetings.values()) / 66
        assert len(meetings) == 66
        assert 0.85 * mean < min(meetings.values()) <= max(meetings.values()) < 1.15 * mean

    def test_pairs_that_meet_in_one_group_rarely_meet_in_a_second(self) -> None:
        for seed in range(20):
            dealt = augment(64, 2, 8, seed)
            meetings = Counter(pair for group in dealt for pair in combinations(sorted(group), 2))
            assert sum(count > 1 for count in meetings.values()) < 0.15 * len(meetings)

    def test_a_place_in_a_group_is_open_to_every_item(self) -> None:
        assert {augment(9, 2, 3, seed)[0][0] for seed in range(200)} == set(range(9))
        assert {augment(9, 2, 3, seed)[2][-1] for seed in range(200)} == set(range(9))

    @pytest.mark.parametrize(
        ("n", "copies", "groups", "message"),
        [
            (0, 2, 1, "at least 1 item"),
            (5, 0, 2, "at least 1 copy"),
            (5, 2, 0, "between 1 and 5"),
            (5, 2, 6, "between 1 and 5"),
        ],
    )
    def test_arguments_that_cannot_be_dealt_are_refused(self, n: int, copies: int, groups: int, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            augment(n, copies, groups, seed=0)


class TestPlan:
    @given(deals(), fan_ins, shuffles)
    def test_every_output_is_merged_once_up_to_one_final_merge(
        self, deal: tuple[int, int, int, int], fan_in: int | None, shuffle: Shuffle
    ) -> None:
        n, copies, groups, seed = deal
        tree = plan(n, copies, groups, seed, shuffle, fan_in)
        assert len(tree.levels[0]) == groups
        assert len(tree.levels[-1]) == 1
        for depth, level in enumerate(tree.levels, start=1):
            assert [(merge.level, merge.group) for merge in level] == [(depth, group) for group in range(len(level))]
        for below, level in pairwise(tree.levels):
            assert [number for merge in level for number in merge.inputs] == list(range(len(below)))
            sizes = [len(merge.inputs) for merge in level]
            assert max(sizes) - min(sizes) <= 1
            assert fan_in is None or max(sizes) <= fan_in
        assert plan(n, copies, groups, seed, shuffle, fan_in) == tree

    @given(st.integers(min_value=4, max_value=300), st.integers(min_value=1, max_value=6), seeds)
    def test_by_default_there_are_two_levels_with_the_square_root_of_n_groups(
        self, n: int, copies: int, seed: int
    ) -> None:
        tree = plan(n, copies, seed=seed)
        assert [len(level) for level in tree.levels] == [isqrt(n), 1]
        assert tuple(merge.inputs for merge in tree.levels[0]) == augment(n, copies, isqrt(n), seed)
        assert tree.final == Merge(level=2, group=0, inputs=tuple(range(isqrt(n))))

    @pytest.mark.parametrize(("n", "groups"), [(1, None), (2, None), (3, None), (50, 1)])
    def test_one_group_is_the_final_merge_and_gets_each_item_once(self, n: int, groups: int | None) -> None:
        tree = plan(n, copies=3, groups=groups, fan_in=2)
        assert [len(level) for level in tree.levels] == [1]
        assert tree.final.level == 1
        assert sorted(tree.final.inputs) == list(range(n))

    def test_a_fan_in_adds_no_level_that_is_not_needed(self) -> None:
        assert [len(level) for level in plan(100, fan_in=10).levels] == [10, 1]
        assert [len(level) for level in plan(100, fan_in=9).levels] == [10, 2, 1]
        assert [len(level) for level in plan(100, fan_in=2).levels] == [10, 5, 3, 2, 1]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"n": 0}, "A merge needs at least 1 reflection, not 0."),
            ({"n": 9, "fan_in": 1}, "A merge needs a fan-in of at least 2, not 1."),
            ({"n": 3, "copies": 0}, "There must be at least 1 copy of each reflection, not 0."),
            (
                {"n": 9, "groups": 10},
                "The number of groups must be between 1 and 9, the number of reflections, not 10.",
            ),
            ({"n": 9, "groups": 0}, "The number of groups must be between 1 and 9, the number of reflections, not 0."),
        ],
    )
    def test_arguments_that_allow_no_plan_are_refused_with_a_sentence(
        self, arguments: dict[str, int], message: str
    ) -> None:
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            plan(**arguments)

    def test_ten_thousand_reflections_are_planned_in_a_tenth_of_a_second(self) -> None:
        def seconds() -> float:
            start = process_time()
            plan(10_000)
            return process_time() - start

        assert min(seconds() for _ in range(5)) < 0.1


class TestDescribe:
    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            ({"n": 64}, "64 reflections → 8 groups of 16 copies → 1 final merge"),
            ({"n": 30}, "30 reflections → 5 groups of 12 copies → 1 final merge"),
            ({"n": 65, "copies": 1}, "65 reflections → 8 groups of 8–9 reflections → 1 final merge"),
            (
                {"n": 4, "copies": 1, "groups": 4},
                "4 reflections → 4 groups of 1 reflection → 2 merges of 2 groups → 1 final merge",
            ),
            ({"n": 1}, "1 reflection → 1 final merge"),
            (
                {"n": 10_000, "fan_in": 8},
                "10,000 reflections → 100 groups of 200 copies → 13 merges of 7–8 groups → 2 merges of 6–7 merges"
                " → 1 final merge",
            ),
        ],
    )
    def test_the_plan_is_told_in_one_line(self, arguments: dict[str, int], sentence: str) -> None:
        assert describe(plan(**arguments)) == sentence
