"""Dataflow against level by level on the same drawn latencies: a simulated clock, no engine and no server."""

import statistics

from benchmarks.engine import schedule
from benchmarks.engine.cases import Case
from combee_core.engine import tree
from combee_core.scan import plan
from tests.stand_in import latency

SEEDS = 20


def orders(n: int, parallel: int, tail: str, seed: int) -> tuple[float, float, float, float]:
    """In medians of a call: the lower bound, dataflow with the longest way first, with merges first, level by level."""
    behaviour = Case(name="", tail=tail, median=1.0, n=n, parallel=parallel).behaviour
    behaviour.seed = seed
    merge_tree = plan(n, seed=seed)
    names = [tree.reflection_id(1, index) for index in range(n)]
    names += [tree.merge_id(1, merge, merge is merge_tree.final) for level in merge_tree.levels for merge in level]
    calls = schedule.calls_of(merge_tree, {name: latency(behaviour, name) for name in names})
    return (
        schedule.lower_bound(calls, parallel),
        schedule.makespan(calls, parallel),
        schedule.makespan(calls, parallel, schedule.merges_first),
        schedule.makespan(schedule.with_barriers(calls), parallel),
    )


def show() -> None:
    """Print, for each size, how much faster than level by level each order is."""
    print(f"Level by level / dataflow on the same latencies, simulated clock, {SEEDS} draws: least, median, most")
    print(f"{'run':>14}  {'longest way first':>20}  {'merges first':>20}  to the lower bound")
    for tail in ("fixed", "tail"):
        for n in (64, 256, 1024, 4096):
            for parallel in (64, 512):
                drawn = [orders(n, parallel, tail, seed) for seed in range(SEEDS if tail == "tail" else 1)]
                ours = _spread([barrier / longest for _, longest, _, barrier in drawn])
                merges = _spread([barrier / first for _, _, first, barrier in drawn])
                bound = statistics.median(longest / lower for lower, longest, _, _ in drawn)
                print(f"{f'{tail}-{n}-{parallel}':>14}  {ours:>20}  {merges:>20}  {bound:.2f}", flush=True)


def _spread(values: list[float]) -> str:
    return f"{min(values):.2f}  {statistics.median(values):.2f}  {max(values):.2f}"
