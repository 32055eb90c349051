"""The runs that the benchmark makes, and what each of them is meant to show."""

from fnmatch import fnmatchcase
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from tests.stand_in import Behaviour

Tail = Literal["fixed", "tail"]

SIGMA, LONG_TAIL = 0.6, 0.02
"""The heavy tail: lognormal, and this share of calls ten times as long."""

CONDENSE = 5
"""Items that the stand-in's merges make one of, so that a playbook grows no faster than with a model."""

HEDGE = 95.0
"""A call that takes longer than so many percent of its kind is asked once more, where hedging is on."""

LONG_S = 30.0
"""Runs that take longer than this are made when asked for."""


class Case(BaseModel):
    """One run: a batch of `n` traces, `parallel` calls at once, answers of `median` seconds.

    Goals, where there are any: `ratio` is the most that the run may take as a multiple of its schedule, `cpu_ms` a call
    and `memory_mb` are the most for its process, `gain` is the least by which it must be faster than level by level.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    tail: Tail
    median: float
    n: int
    parallel: int
    settings: dict[str, Any] = {}
    ratio: float | None = None
    cpu_ms: float | None = None
    memory_mb: float | None = None
    gain: float | None = None

    @property
    def behaviour(self) -> Behaviour:
        """How the stand-in has to answer."""
        shape = {"sigma": SIGMA, "tail": LONG_TAIL} if self.tail == "tail" else {}
        return Behaviour(latency=self.median, drop=0.0, condense=CONDENSE, **shape)

    @property
    def expected_s(self) -> float:
        """About how long the run takes: the waves of its calls and the two levels after them, and its stragglers."""
        mean, last = (1.45, 15.0) if self.tail == "tail" else (1.0, 1.0)
        return self.median * (self.n / self.parallel * mean + last + 2) + self.n * 0.003


def all_cases() -> list[Case]:
    """Every run, quick ones first."""
    cases = [
        _timed(tail, median, n, parallel)
        for median in (0.2, 2.0)
        for tail in ("fixed", "tail")
        for n in (64, 256, 1024, 4096)
        for parallel in (64, 512)
    ]
    cases += [_hedged(median, n) for median in (0.2, 2.0) for n in (256, 1024)]
    cases.append(Case(name="memory", tail="fixed", median=0.2, n=10_000, parallel=512, memory_mb=600))
    return sorted(cases, key=lambda case: case.expected_s)


def chosen(cases: list[Case], patterns: list[str], long: bool) -> tuple[list[Case], list[Case]]:
    """The cases to run: those whose name fits a pattern, all without one; and among them those left out as too long."""
    fitting = [case for case in cases if not patterns or any(fnmatchcase(case.name, pattern) for pattern in patterns)]
    left_out = [] if long else [case for case in fitting if case.expected_s > LONG_S]
    return [case for case in fitting if case not in left_out], left_out


def _timed(tail: Tail, median: float, n: int, parallel: int) -> Case:
    ratio = None
    if median >= 2 and n >= 256:
        ratio = 1.05 if parallel == 64 else 1.15
    elif median < 2 and parallel == 64:
        ratio = 1.25
    return Case(
        name=f"{tail}-{median:g}s-{n}-{parallel}",
        tail=tail,
        median=median,
        n=n,
        parallel=parallel,
        ratio=ratio,
        cpu_ms=3.0 if parallel == 512 and n >= 512 else None,
    )


def _hedged(median: float, n: int) -> Case:
    name, settings = f"hedge-{median:g}s-{n}-64", {"hedge": HEDGE}
    return Case(name=name, tail="tail", median=median, n=n, parallel=64, settings=settings, gain=1.5)
