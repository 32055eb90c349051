"""The dynamic batch size controller: trials of the candidates, then the plateau, then the plateau as it is refined.

It decides on batch sizes from a history alone; making the batch and timing it are up to the run. Source: arXiv
2604.04247, dynamic batch size controller.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate, combinations
from math import floor
from statistics import median
from typing import Literal

from pydantic import BaseModel, ConfigDict

from combee_core.batch_size.candidates import candidates_by_hand
from combee_core.batch_size.curve import (
    CONFIRMED,
    TAU_SHARE,
    Fit,
    Measurement,
    epoch_times,
    fit,
    largest_worth,
    plateau,
    through,
)
from combee_core.batch_size.words import at_most, count

FOLLOW_SHARE = 0.2
"""The batch size follows the plateau when it has moved by more than this share."""

_SLACK = 1.2  # two delays that differ by less are taken for the same

Kind = Literal["trial", "plateau", "refit", "fixed"]
_Wanted = tuple[int, Kind, str]


class Choice(BaseModel):
    """The size of the next batch, and why, in a sentence that begins with the kind."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    batch_size: int
    why: str
    kind: Kind


class Controller:
    """Chooses each batch of a run over n traces an epoch, with the candidate batch sizes `grid`.

    It keeps nothing: the same history gives the same choice, so that a resumed run goes on as it would have. Trials
    are iterations like any other, on traces of their own, one for each candidate and one more where the delays
    contradict each other. `start_from` holds the measurements, in order, of one earlier run on the same endpoint, best
    one that made trials; when they show that larger batches save time, and two of its batch sizes or more lie within
    the grid, no trial is made.

    Raises `ValueError`, in one sentence, for numbers that allow no choice.
    """

    def __init__(
        self,
        n: int,
        grid: Sequence[int],
        tau_share: float = TAU_SHARE,
        follow_share: float = FOLLOW_SHARE,
        start_from: Sequence[Measurement] = (),
    ) -> None:
        if n < 1:
            raise ValueError(f"There must be at least 1 trace to choose a batch size for, not {n}.")
        if not 0 < tau_share <= 1:
            raise ValueError(f"τ must be above 0 and at most 1 of the steepest slope, not {tau_share:g}.")
        if follow_share < 0:
            raise ValueError(f"The share by which the plateau must move cannot be negative, as {follow_share:g} is.")
        self._n = n
        self.grid = candidates_by_hand(grid, n).sizes
        self._tau_share = tau_share
        self._follow_share = follow_share
        # What a run has learnt can slow its later iterations down so much that only its trials are left to go by.
        told = (start_from, [measured for measured in start_from if measured.trial])
        self._earlier = next((tuple(measured) for measured in told if self._tells(measured)), ())

    def next_batch(self, history: Sequence[Measurement], remaining: int) -> Choice:
        """The next batch, given all iterations of the run so far and the traces that remain in the epoch.

        It never asks for more than remain. The last batch of an epoch takes up to `follow_share` more than the others
        rather than leave a few traces for another iteration.

        Raises `ValueError` when no trace remains.
        """
        if remaining < 1:
            raise ValueError("The epoch has no trace left for another batch.")
        size, kind, reason = self._wanted(history, remaining)
        if size > remaining:
            size, reason = remaining, f"{count(remaining)} remain in this epoch, fewer than a batch of {size:,}"
        elif kind != "trial" and size < remaining <= size * (1 + self._follow_share):
            reason = f"the last {count(remaining)} of this epoch go into one batch, a few more than {size:,}"
            size = remaining
        return Choice(batch_size=size, kind=kind, why=f"{kind}: {reason}")

    def curve(self, history: Sequence[Measurement]) -> Fit | None:
        """The curve behind the choices, from this run's measurements and those that it started from; None without two.

        An earlier run may have met a slower endpoint or a shorter playbook. Its delays are scaled by what this run's
        have been to them so far, so that they tell how delays grow with the batch size and nothing else.
        """
        before, here = fit(self._earlier, self._n), epoch_times(history, self._n)
        if before is None:
            return through(here)
        ratios = [point.seconds / before.epoch_seconds(point.batch_size) for point in here]
        scale = median(ratios) if ratios else 1.0
        points = {p.batch_size: p.model_copy(update={"seconds": p.seconds * scale}) for p in before.points}
        points |= {point.batch_size: point for point in here}
        return through([points[size] for size in sorted(points)])

    def _tells(self, measurements: Sequence[Measurement]) -> bool:
        """Whether measurements of an earlier run spare the trials; that larger batches save nothing is tried anew."""
        curve = fit(measurements, self._n)
        if curve is None or curve.alpha <= 0:
            return False
        return sum(self.grid[0] <= point.batch_size <= self.grid[-1] for point in curve.points) >= 2

    def _wanted(self, history: Sequence[Measurement], remaining: int) -> _Wanted:
        smallest = self.grid[0]
        if self._n < smallest:
            return self._n, "fixed", f"{count(self._n)} do not fill the smallest candidate, {smallest:,}"
        if len(self.grid) == 1:
            return smallest, "fixed", f"{smallest:,} is the only candidate"
        trial = None if self._earlier else self._trial(history, remaining) or _second_trial(history, remaining)
        if trial:
            return trial
        curve = self.curve(history)
        return self._followed(curve, history) if curve else self._unfitted(history)

    def _trial(self, history: Sequence[Measurement], remaining: int) -> _Wanted | None:
        tried = {measured.batch_size for measured in history}
        for number, size in enumerate(self.grid, 1):
            if size not in tried and size <= remaining:
                return size, "trial", f"candidate {number} of {len(self.grid)}, to see what a batch of {size:,} takes"
        return None

    def _unfitted(self, history: Sequence[Measurement]) -> _Wanted:
        """Fewer than two batch sizes have a delay: the one that has, else the smallest."""
        smallest = self.grid[0]
        if any(measured.seconds == 0 for measured in history if not measured.failed):
            return smallest, "fixed", f"iterations take no time to speak of, so that {smallest:,} costs none"
        for point in epoch_times(history, self._n):
            return point.batch_size, "fixed", f"{point.batch_size:,} is the only batch size that could be measured"
        return smallest, "fixed", f"every trial has failed, and {smallest:,}, the smallest candidate, risks least"

    def _followed(self, curve: Fit, history: Sequence[Measurement]) -> _Wanted:
        size, reason = self._edge(curve)
        settled = _settled_on(history, self._n)
        if settled is None or size == settled:
            return size, "plateau", reason
        if abs(size - settled) <= self._follow_share * settled:
            near = f"{settled:,} stays, as the plateau, by now {size:,}, is within {self._follow_share:.0%} of it"
            return settled, "plateau", near
        if sum(measured.batch_size == settled for measured in history) < CONFIRMED:
            return (
                settled,
                "plateau",
                f"{settled:,} stays until it has been measured {CONFIRMED} times; now at {size:,}",
            )
        if curve.alpha <= 0:
            return settled, "plateau", f"{settled:,} stays: iterations have slowed down, which need not be for its sake"
        return size, "refit", f"the plateau has moved from {settled:,} to {size:,}; {reason}"

    def _edge(self, curve: Fit) -> tuple[int, str]:
        """The largest batch size at which one more trace still saves τ, and why it is that."""
        smallest = self.grid[0]
        if curve.alpha <= 0:
            return smallest, f"larger batches save no time, so that {smallest:,}, the smallest candidate, is best"
        edge = plateau(curve, smallest, self._tau_share)
        saving = at_most(curve.slope(edge))
        if edge >= self._n:
            return self._n, f"all {count(self._n)} go into one batch, as larger ones save time up to {floor(edge):,}"
        size = largest_worth(curve, smallest, self._tau_share)
        return size, f"beyond {size:,} one more trace in a batch saves less than {saving} an epoch"


def _second_trial(history: Sequence[Measurement], remaining: int) -> _Wanted | None:
    """One more trial, right after the first ones, of a candidate whose delay can only be a slow moment's.

    A run's choices should not rest on one slow call. More traces take no less time in a batch, and no more time each.
    """
    delays = {m.batch_size: m.seconds for m in history if not m.failed}
    if len({m.batch_size for m in history}) < len(history) or not all(m.trial for m in history):
        return None
    found = _slow(delays)
    if found is None or found[0] > remaining:
        return None
    size, reason = found
    return size, "trial", f"{size:,} once more, as it took longer {reason}"


def _slow(delays: Mapping[int, float]) -> tuple[int, str] | None:
    """A batch size that took too long, and what for, or None when no delay contradicts another."""
    pairs = list(combinations(sorted(delays), 2))
    for small, large in pairs:
        if delays[small] > _SLACK * delays[large]:
            return small, f"than a batch of {large:,}"
    for small, large in pairs:
        if delays[large] / large > _SLACK * delays[small] / small:
            return large, f"for each trace than a batch of {small:,}"
    return None


def _settled_on(history: Sequence[Measurement], n: int) -> int | None:
    """The batch size that the run was at, not counting trials and last batches of an epoch, made of what remained."""
    learnt = accumulate(measured.batch_size for measured in history)
    whole = [m.batch_size for m, so_far in zip(history, learnt, strict=True) if not m.trial and so_far % n]
    return whole[-1] if whole else None
