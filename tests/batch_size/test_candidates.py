from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from combee_core.batch_size import candidates, candidates_by_hand


class TestCandidates:
    @given(st.integers(min_value=47, max_value=200_000))
    def test_three_to_five_candidates_far_apart_take_at_most_fifteen_percent_of_the_traces(self, n: int) -> None:
        sizes = candidates(n).sizes
        assert 3 <= len(sizes) <= 5
        assert all(large == 2 * small for small, large in pairwise(sizes))
        assert sum(sizes) <= 0.15 * n

    @given(st.integers(min_value=21, max_value=46))
    def test_a_run_that_is_too_small_for_that_spends_at_most_a_third_on_three_candidates(self, n: int) -> None:
        assert candidates(n).sizes == (1, 2, 4)
        assert sum(candidates(n).sizes) <= n / 3

    @pytest.mark.parametrize(("n", "size"), [(1, 1), (7, 7), (20, 8)])
    def test_a_run_over_a_handful_of_traces_tries_nothing_and_says_so(self, n: int, size: int) -> None:
        grid = candidates(n)
        assert grid.sizes == (size,)
        assert grid.note == f"With {n} trace{'s' if n > 1 else ''} no trial pays."

    @pytest.mark.parametrize(
        ("n", "sizes"), [(100, (1, 2, 4, 8)), (200, (2, 4, 8, 16)), (500, (5, 10, 20, 40)), (5000, (5, 10, 20, 40, 80))]
    )
    def test_more_traces_start_from_larger_candidates(self, n: int, sizes: tuple[int, ...]) -> None:
        assert candidates(n).sizes == sizes

    def test_the_note_says_what_the_trials_take(self) -> None:
        assert candidates(500).note == "The trials of 5, 10, 20 and 40 take 75 of 500 traces."

    @given(st.integers(1, 100_000), st.integers(1, 500), st.floats(0.01, 1))
    def test_a_smallest_candidate_and_a_share_that_someone_sets_are_kept_to(
        self, n: int, smallest: int, share: float
    ) -> None:
        sizes = candidates(n, smallest, share).sizes
        assert max(sizes) <= n
        if len(sizes) > 1:
            assert sizes[0] == smallest
            assert sum(sizes) <= max(share, 1 / 3) * n

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            ((0,), "There must be at least 1 trace to choose a batch size for, not 0."),
            ((9, 0), "The smallest candidate must be a batch size of at least 1, not 0."),
            ((9, 1, 0.0), "The share of the traces for trials must be above 0 and at most 1, not 0."),
        ],
    )
    def test_impossible_numbers_are_refused_in_one_sentence(self, arguments: tuple[int, ...], complaint: str) -> None:
        with pytest.raises(ValueError, match=complaint):
            candidates(*arguments)


class TestCandidatesByHand:
    @given(st.lists(st.integers(1, 1000), min_size=1), st.integers(1, 1000))
    def test_they_are_sorted_and_unique_and_none_is_lost_without_a_word(self, sizes: list[int], n: int) -> None:
        grid = candidates_by_hand(sizes, n)
        assert sorted(grid.sizes + grid.dropped) == sorted(set(sizes))
        assert list(grid.sizes) == sorted(grid.sizes)
        assert all(size > n for size in grid.dropped)
        assert all(size <= n for size in grid.sizes) or grid.sizes == (min(sizes),)

    def test_those_that_the_traces_cannot_fill_are_left_out_with_the_reason(self) -> None:
        grid = candidates_by_hand([64, 8, 8, 2048, 1024], 500)
        assert grid.sizes == (8, 64)
        assert grid.dropped == (1024, 2048)
        assert grid.note == "8 and 64, as set by hand. Left out, as 500 traces cannot fill them: 1,024 and 2,048."

    @pytest.mark.parametrize(
        ("sizes", "complaint"),
        [
            ([], "The candidate grid is empty: name at least one batch size."),
            ([4, 0, -2], "A candidate batch size must be at least 1, not -2."),
        ],
    )
    def test_a_grid_that_means_nothing_is_refused_in_one_sentence(self, sizes: list[int], complaint: str) -> None:
        with pytest.raises(ValueError, match=complaint):
            candidates_by_hand(sizes, 10)
