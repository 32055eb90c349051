"""Deals the traces of a run out to its iterations, one batch at a time.

A fixed batch size says beforehand what every batch will be; with an automatic one the delays of the iterations before
decide how many traces the next one takes (paper: dynamic batch size controller). Which trace comes when is up to ids
and seed alone.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from combee_core.batch_size import Choice, Controller, Measurement, candidates, candidates_by_hand
from combee_core.engine.handover import Adopted
from combee_core.engine.settings import RunSettings
from combee_core.store.database import Row
from combee_core.store.runs import Runs


@dataclass(frozen=True)
class Batch:
    """One iteration's share of the traces: `iteration` and `epoch` count from 1; `why` says why it is of this size.

    `adopted` is what it takes over from earlier iterations; None before that is decided.
    """

    iteration: int
    epoch: int
    trace_ids: tuple[str, ...]
    why: str
    adopted: tuple[Adopted, ...] | None = None

    @property
    def all_trace_ids(self) -> tuple[str, ...]:
        """The trace behind each reflection, those that are taken over last."""
        return self.trace_ids + tuple(one.trace for one in self.adopted or ())


class Dealer:
    """Deals each epoch's traces in a fresh seeded order, going on from the batches that `dealt` holds already.

    `earlier` holds the measurements of an earlier run that an automatic batch size starts from. `controller` is None
    for a fixed batch size.
    """

    def __init__(
        self,
        trace_ids: Sequence[str],
        settings: RunSettings,
        dealt: Sequence[Batch] = (),
        earlier: Sequence[Measurement] = (),
    ) -> None:
        self._trace_ids = sorted(trace_ids)
        self._settings = settings
        self.controller = controller_for(len(trace_ids), settings, earlier)
        self._dealt = 0
        self._typical = fixed_size(settings) if self.controller is None else self.controller.grid[-1]
        self._begin_epoch(1)
        for batch in dealt:
            self._count(batch)

    def next(self, history: Sequence[Measurement]) -> Batch | None:
        """Deal the next batch, given the delays so far; None when every epoch is at its end."""
        if self._epoch > self._settings.epochs:
            return None
        choice = self._choice(history, len(self._order) - self._taken)
        share = self._order[self._taken : self._taken + choice.batch_size]
        batch = Batch(self._dealt + 1, self._epoch, tuple(share), choice.why)
        self._count(batch)
        return batch

    def in_all(self) -> int:
        """How many iterations the whole run has: exact for a fixed batch size, else as far as can be told by now."""
        epochs_after = self._settings.epochs - self._epoch
        if epochs_after < 0:
            return self._dealt
        left, whole = len(self._order) - self._taken, len(self._order)
        return self._dealt + -(-left // self._typical) + epochs_after * -(-whole // self._typical)

    def _begin_epoch(self, epoch: int) -> None:
        self._epoch, self._taken = epoch, 0
        self._order = list(self._trace_ids)
        random.Random(f"{self._settings.seed}:{epoch}").shuffle(self._order)

    def _count(self, batch: Batch) -> None:
        self._dealt += 1
        self._taken += len(batch.trace_ids)
        if self.controller is not None and not is_trial(batch.why) and self._taken < len(self._order):
            self._typical = len(batch.trace_ids)
        if self._taken >= len(self._order):
            self._begin_epoch(self._epoch + 1)

    def _choice(self, history: Sequence[Measurement], remaining: int) -> Choice:
        if self.controller is not None:
            return self.controller.next_batch(history, remaining)
        size = fixed_size(self._settings)
        why = f"fixed: a batch size of {size:,} was set for this run"
        return Choice(batch_size=min(size, remaining), kind="fixed", why=why)


def controller_for(n: int, settings: RunSettings, earlier: Sequence[Measurement] = ()) -> Controller | None:
    """The controller of a run over n traces an epoch, or None when its batch size is fixed."""
    if settings.batch != "auto":
        return None
    by_hand = settings.batch_candidates
    grid = candidates(n) if by_hand is None else candidates_by_hand(by_hand, n)
    return Controller(n, grid.sizes, settings.tau, start_from=earlier)


def fixed_size(settings: RunSettings) -> int:
    """The batch size that was set. Raises ValueError when it is automatic."""
    if settings.batch == "auto":
        raise ValueError("The batch size of this run is automatic.")
    return settings.batch


def is_trial(why: str) -> bool:
    """Whether an iteration with this reason was a trial of a candidate."""
    return why.startswith("trial")


def measurements(iterations: Sequence[Mapping[str, Any]]) -> list[Measurement]:
    """The delays of finished iterations, as the controller takes them."""
    return [
        Measurement(
            batch_size=row["batch_size"], seconds=row["seconds"], trial=is_trial(row["why"]), failed=not row["whole"]
        )
        for row in iterations
    ]


def earlier_delays(runs: Runs, settings: RunSettings) -> list[Measurement]:
    """The delays of the run that this one's automatic batch size starts from; none where it starts afresh."""
    return measurements(runs.iterations(settings.batch_from)) if settings.batch_from else []


def dealer_of(runs: Runs, row: Row, dealt: Sequence[Batch]) -> Dealer:
    """The dealer of a stored run, going on from what is dealt."""
    settings = RunSettings.model_validate(row["settings"])
    return Dealer(row["trace_ids"], settings, dealt, earlier_delays(runs, settings))


def dealt_batches(runs: Runs, run: str) -> list[Batch]:
    """The batches that a run has dealt so far, finished or not."""
    return [
        Batch(row["iteration"], row["epoch"], tuple(row["trace_ids"]), row["why"], _adopted(row["adopted"]))
        for row in runs.batches(run)
    ]


def _adopted(rows: Sequence[Mapping[str, Any]] | None) -> tuple[Adopted, ...] | None:
    if rows is None:
        return None
    return tuple(Adopted(row["node"], row["trace"], row["lessons"] and tuple(row["lessons"])) for row in rows)
