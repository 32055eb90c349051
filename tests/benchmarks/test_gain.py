"""Level by level against dataflow, on a simulated clock."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.engine.gain import hedged, orders


@settings(max_examples=20)
@given(n=st.integers(1, 80), seed=st.integers(0, 99), tail=st.sampled_from(["fixed", "tail"]))
def test_no_order_beats_the_bound_and_the_longest_way_first_is_never_slower_than_level_by_level(n, seed, tail):
    took = orders(n, 16, tail, seed)
    assert took.lower <= min(took.longest_first, took.merges_first, took.barrier) + 1e-9
    assert took.longest_first <= took.barrier + 1e-9


def test_a_hedged_call_takes_what_comes_first():
    seconds = {"a": 1.0, "b": 2.0, "c": 30.0, "d": 3.0}
    taken = hedged(seconds, dict.fromkeys(seconds, 2.0), 50)
    assert taken == {"a": 1.0, "b": 2.0, "c": pytest.approx(4.5), "d": 3.0}


def test_hedging_heavy_tails_is_half_as_fast_again_as_level_by_level():
    took = orders(256, 512, "tail", seed=0)
    assert took.barrier / took.hedged > 1.5
