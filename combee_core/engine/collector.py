"""Python's garbage collector while runs go: it comes round more seldom, and leaves alone what was there before them."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# New objects between two rounds. A call leaves about a thousand behind, nearly all of them free without the collector.
ROUND = 10_000


class _Collector:
    """The one collector of the process, as the first of several runs has found it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs = 0
        self._before = gc.get_threshold()

    def begin(self) -> None:
        with self._lock:
            self._runs += 1
            if self._runs == 1:
                self._before = gc.get_threshold()
                gc.freeze()
                gc.set_threshold(ROUND, *self._before[1:])

    def end(self) -> None:
        with self._lock:
            self._runs -= 1
            if self._runs == 0:
                gc.set_threshold(*self._before)
                gc.unfreeze()


_collector = _Collector()


@contextmanager
def seldom_collected() -> Iterator[None]:
    """For the time of a run, or of several at once; the last one leaves the collector as the first has found it.

    Every round would else walk through all modules and pages of the process, over and over.
    """
    _collector.begin()
    try:
        yield
    finally:
        _collector.end()
