"""The benchmark of batches that overlap makes the same calls either way."""

from benchmarks.engine import overlap
from benchmarks.engine.cases import Case


def test_both_ways_learn_from_every_trace_in_four_batches():
    case = Case(name="", tail="fixed", median=0.01, n=16, parallel=8)
    one_by_one, overlapping = overlap.learn(case, 0, seed=1), overlap.learn(case, 1, seed=1)
    assert one_by_one.calls == overlapping.calls == 16 + 4 * (2 + 1)
    assert min(one_by_one.wall, overlapping.wall) > 4 * 0.01
