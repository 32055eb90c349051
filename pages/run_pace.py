"""How long a live run will still take, from what has been seen of it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from combee_core.engine.progress import KINDS, Progress


def share_done(progress: Progress) -> float:
    """Share of the run's waves of calls that have ended, 0 to 1: waves take about the same time, nodes do not."""
    if not progress.iterations:
        return 0.0
    limit = max(1, progress.limit)
    waves = {kind: -(-progress.total[kind] // limit) for kind in KINDS}
    done = sum(
        waves[kind] * (progress.done[kind] + progress.failed[kind]) / progress.total[kind]
        for kind in KINDS
        if progress.total[kind]
    )
    return (progress.iteration - 1 + done / max(1, sum(waves.values()))) / progress.iterations


@dataclass
class Pace:
    """Remembers the first look at a run, so that a resumed run is measured by what it does now."""

    clock: Callable[[], float] = time.monotonic
    _first: tuple[float, float] | None = field(default=None)

    def seconds_left(self, progress: Progress) -> float | None:
        """Seconds to the end at the pace since the first look; None while too little has been seen."""
        share, now = share_done(progress), self.clock()
        if self._first is None or share < self._first[1]:
            self._first = (now, share)
        started, begun = self._first
        if share - begun < 0.02:
            return None
        return (now - started) * (1 - share) / (share - begun)
