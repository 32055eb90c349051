"""What the calls of a merge tree take at best, and in a given order, when calls cost nothing but their latency.

A simulated clock: pure arithmetic on latencies, no engine, no server.
"""

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from combee_core.engine import tree
from combee_core.scan import TreePlan


@dataclass(frozen=True)
class Call:
    """One call of a tree: `seconds` long, sent once the calls it `needs` have ended. `level` is 0 for reflections."""

    name: str
    level: int
    seconds: float
    needs: tuple[str, ...] = ()


Rank = Callable[[Call], int]


def merges_first(call: Call) -> int:
    """A merge that is ready goes before any reflection."""
    return -call.level


def longest_way_first(call: Call) -> int:
    """The call with the most levels still before it goes first: no merge holds up a reflection."""
    return call.level


def calls_of(plan: TreePlan, seconds: Mapping[str, float]) -> list[Call]:
    """The calls of one iteration in the order in which they are issued; `seconds` by node id, all of the plan's."""
    calls = []
    for index in tree.issue_order(plan):
        name = tree.reflection_id(1, index)
        calls.append(Call(name, 0, seconds[name]))
    for level in plan.levels:
        for merge in level:
            name = tree.merge_id(1, merge, final=merge is plan.final)
            calls.append(Call(name, merge.level, seconds[name], tree.input_ids(1, merge)))
    return calls


def with_barriers(calls: Sequence[Call]) -> list[Call]:
    """The same calls, each level waiting for the whole level below: the order without dataflow."""
    levels: dict[int, list[str]] = {}
    for call in calls:
        levels.setdefault(call.level, []).append(call.name)
    return [replace(call, needs=tuple(levels.get(call.level - 1, ()))) for call in calls]


def simulate(calls: Sequence[Call], parallel: int, rank: Rank = longest_way_first) -> dict[str, float]:
    """When each call ends, in seconds from the start, at most `parallel` at once.

    Whenever a place is free, the ready call of the lowest rank takes it, and among equals the one that was ready first.
    """
    by_name = {call.name: call for call in calls}
    missing = {call.name: len(call.needs) for call in calls}
    needed_by = _needed_by(calls)
    ready = [(rank(call), number, call.name) for number, call in enumerate(calls) if not call.needs]
    heapq.heapify(ready)
    arrivals = len(calls)
    running: list[tuple[float, str]] = []
    ends: dict[str, float] = {}
    now = 0.0
    while ready or running:
        while ready and len(running) < parallel:
            _, _, name = heapq.heappop(ready)
            heapq.heappush(running, (now + by_name[name].seconds, name))
        now, name = heapq.heappop(running)
        ends[name] = now
        for after in needed_by[name]:
            missing[after] -= 1
            if not missing[after]:
                arrivals += 1
                heapq.heappush(ready, (rank(by_name[after]), arrivals, after))
    return ends


def makespan(calls: Sequence[Call], parallel: int, rank: Rank = longest_way_first) -> float:
    """Seconds until the last call has ended in a simulated schedule."""
    return max(simulate(calls, parallel, rank).values())


def lower_bound(calls: Sequence[Call], parallel: int) -> float:
    """Seconds that no schedule can beat, not even one that knows all latencies beforehand.

    The longest chain; and for any set of calls their sum over all places, plus what must come before the first of
    them, plus what must follow the last (list scheduling: Graham 1969, with heads and tails).
    """
    heads, tails = _ways(calls, _needed_by(calls))
    chain = max(heads[call.name] + call.seconds + tails[call.name] for call in calls)
    return max(chain, _area(calls, tails, parallel), _area(calls, heads, parallel))


def _area(calls: Iterable[Call], beyond: Mapping[str, float], parallel: int) -> float:
    """The best of: all calls with at least this much beyond them, shared evenly among the places, and then that."""
    total, best = 0.0, 0.0
    for call in sorted(calls, key=lambda call: -beyond[call.name]):
        total += call.seconds
        best = max(best, total / parallel + beyond[call.name])
    return best


def _ways(calls: Sequence[Call], needed_by: Mapping[str, Sequence[str]]) -> tuple[dict[str, float], dict[str, float]]:
    """For each call the longest chain before it and after it; calls come after what they need."""
    seconds = {call.name: call.seconds for call in calls}
    heads: dict[str, float] = {}
    tails: dict[str, float] = {}
    for call in calls:
        heads[call.name] = max((heads[name] + seconds[name] for name in call.needs), default=0.0)
    for call in reversed(calls):
        tails[call.name] = max((tails[name] + seconds[name] for name in needed_by[call.name]), default=0.0)
    return heads, tails


def _needed_by(calls: Sequence[Call]) -> dict[str, list[str]]:
    needed_by: dict[str, list[str]] = {call.name: [] for call in calls}
    for call in calls:
        for name in call.needs:
            needed_by[name].append(call.name)
    return needed_by
