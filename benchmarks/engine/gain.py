"""Dataflow against level by level on the same drawn latencies: a simulated clock, no engine and no server."""

import statistics
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from benchmarks.engine import schedule
from benchmarks.engine.cases import HEDGE, Case
from combee_core.engine import tree
from combee_core.scan import plan
from tests.stand_in import latency

SEEDS = 20


class Orders(NamedTuple):
    """How long the same tree takes, in medians of a call: bound, and four ways to work through it."""

    lower: float
    longest_first: float
    merges_first: float
    hedged: float
    barrier: float


def orders(n: int, parallel: int, tail: str, seed: int) -> Orders:
    """Draw the latencies of one tree and work through it in each way."""
    behaviour = Case(name="", tail=tail, median=1.0, n=n, parallel=parallel).behaviour
    behaviour.seed = seed
    merge_tree = plan(n, seed=seed)
    names = [tree.reflection_id(1, index) for index in range(n)]
    names += [tree.merge_id(1, merge, merge is merge_tree.final) for level in merge_tree.levels for merge in level]
    seconds = {name: latency(behaviour, name) for name in names}
    calls = schedule.calls_of(merge_tree, seconds)
    second_try = {name: latency(behaviour, f"{name}:2") for name in names}
    return Orders(
        schedule.lower_bound(calls, parallel),
        schedule.makespan(calls, parallel),
        schedule.makespan(calls, parallel, schedule.merges_first),
        schedule.makespan(schedule.calls_of(merge_tree, hedged(seconds, second_try, HEDGE)), parallel),
        schedule.makespan(schedule.with_barriers(calls), parallel),
    )


def hedged(seconds: Mapping[str, float], second_try: Mapping[str, float], percentile: float) -> dict[str, float]:
    """What calls take when one that is slower than so many percent of all is asked once more, for the first answer."""
    overdue = float(np.percentile(list(seconds.values()), percentile))
    return {name: min(took, overdue + second_try[name]) for name, took in seconds.items()}


def show() -> None:
    """Print, for each size, how much faster than level by level each order is."""
    print(f"Level by level / dataflow on the same latencies, simulated clock, {SEEDS} draws: least, median, most")
    print(f"{'run':>14} {'longest way first':>18} {'merges first':>18} {f'hedged at {HEDGE:g} %':>18}")
    for tail in ("fixed", "tail"):
        for n in (64, 256, 1024, 4096):
            for parallel in (64, 512):
                drawn = [orders(n, parallel, tail, seed) for seed in range(SEEDS if tail == "tail" else 1)]
                ways = ([getattr(one, way) for one in drawn] for way in ("longest_first", "merges_first", "hedged"))
                spreads = (_spread([one.barrier / took for one, took in zip(drawn, way, strict=True)]) for way in ways)
                print(f"{f'{tail}-{n}-{parallel}':>14} {' '.join(f'{spread:>18}' for spread in spreads)}", flush=True)


def _spread(values: list[float]) -> str:
    return f"{min(values):.2f}  {statistics.median(values):.2f}  {max(values):.2f}"
