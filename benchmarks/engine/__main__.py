"""How close learning runs come to the bound of their schedule, computed from the very latencies that were served.

    python -m benchmarks.engine --list                       # names, and about how long each takes
    python -m benchmarks.engine                              # the quick ones
    python -m benchmarks.engine --only 'tail-2s-*' --long    # those of one kind, the long ones too
    python -m benchmarks.engine --only 'hedge-*' --long      # with hedged requests, against level by level without
    python -m benchmarks.engine --overlap 256 --runs 3       # staleness 0 against 1, so many traces in four batches

Starts the stand-in OpenAI server in a process of its own (its answers are made by rules: a simulated model), learns
from made traces through the product's own engine, store and client, and prints a line as soon as it is known. The
openai client is loaded beforehand, which takes a process the better part of a second once.
"""

import argparse
import os

from benchmarks.engine import gain, overlap
from benchmarks.engine.cases import Case, all_cases, chosen
from benchmarks.engine.measure import Measured, run

HEAD = (
    f"{'run':>18} {'ratio':>6} {'goal':>5}  {'to lower':>8} {'gain':>6} {'goal':>5}  {'CPU ms':>6} {'goal':>4}  "
    f"{'MB':>5} {'goal':>4}  {'wait':>11} {'scheduled':>11}  {'load':>4}"
)
LEGEND = """
ratio      wall time / the schedule that sends the call with the longest way to the end first, on the latencies served
to lower   wall time / the bound that no schedule beats, not even one that knows every latency beforehand
gain       level by level on the same latencies (simulated clock) / wall time
CPU ms     CPU of our process for each call, openai client included;  MB: its largest resident size
wait       from a group's last reflection to its merge at the server, median / 95th percentile, in medians of a call;
           scheduled: the same in the schedule (merges wait for a place while reflections go first)
load       of this machine before the run: the server and whatever else runs here share the cores
"""


def line(case: Case, measured: Measured) -> str:
    """One run as a line; a missed goal is marked with an exclamation mark."""
    ratio, gained = measured.wall / measured.listed, measured.barrier / measured.wall
    return (
        f"{case.name:>18} {ratio:>6.3f} {_most(ratio, case.ratio):>5}  {measured.wall / measured.lower:>8.3f} "
        f"{gained:>6.2f} {_least(gained, case.gain):>5}  {measured.cpu_ms:>6.2f} "
        f"{_most(measured.cpu_ms, case.cpu_ms):>4}  {measured.memory_mb:>5.0f} "
        f"{_most(measured.memory_mb, case.memory_mb):>4}  {_share(measured.waits, case):>11} "
        f"{_share(measured.waits_listed, case):>11}"
    )


def main() -> None:
    """Run what was asked for, one line each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="PATTERN", help="names of runs, with * and ?")
    parser.add_argument("--long", action="store_true", help="also the runs of more than half a minute")
    parser.add_argument("--runs", type=int, default=1, help="times each is run; the one of the median ratio is printed")
    parser.add_argument("--gain", action="store_true", help="only dataflow against level by level, simulated clock")
    parser.add_argument("--overlap", type=int, metavar="N", help="only staleness 0 against 1, N traces in four batches")
    parser.add_argument("--median", type=float, default=2.0, help="median seconds of an answer for --overlap")
    parser.add_argument("--list", action="store_true", help="print the names")
    asked = parser.parse_args()
    cases, left_out = chosen(all_cases(), asked.only, asked.long)
    if asked.list:
        for case in cases + left_out:
            print(f"{case.name:>18}  about {case.expected_s:.0f} s{' (--long)' if case in left_out else ''}")
        return
    if asked.overlap:
        overlap.show(asked.overlap, 64, asked.median, asked.runs)
        return
    if asked.gain or not asked.only:
        gain.show()
    if not asked.gain:
        _show(cases, left_out, asked.runs)


def _show(cases: list[Case], left_out: list[Case], runs: int) -> None:
    print(LEGEND)
    print(HEAD, flush=True)
    for case in cases:
        load = os.getloadavg()[0]
        measured = sorted((run(case) for _ in range(runs)), key=lambda one: one.wall / one.listed)
        middle = measured[len(measured) // 2]
        print(f"{line(case, middle)}  {load:>4.1f}", flush=True)
    if left_out:
        print(f"left out, ask with --long: {' '.join(case.name for case in left_out)}")


def _most(value: float, goal: float | None) -> str:
    return "" if goal is None else f"{goal:g}{'' if value <= goal else '!'}"


def _least(value: float, goal: float | None) -> str:
    return "" if goal is None else f"{goal:g}{'' if value >= goal else '!'}"


def _share(seconds: tuple[float, float], case: Case) -> str:
    return " / ".join(f"{value / case.median:.2f}" for value in seconds)


if __name__ == "__main__":
    main()
