"""An event loop whose clock jumps to the next thing that is due, so that a test of minutes takes milliseconds."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class VirtualTime(asyncio.SelectorEventLoop):
    """Starts at 0 seconds; time stands still while anything is ready to run."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0

    def time(self) -> float:
        return self._now

    def _run_once(self) -> None:
        due = [handle.when() for handle in self._scheduled if not handle.cancelled()]
        if not self._ready:
            assert due, "everybody waits, and nothing is due that could end it"
            self._now = max(self._now, min(due))
        super()._run_once()


def run(scene: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        return runner.run(scene)
