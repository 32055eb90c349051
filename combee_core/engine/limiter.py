"""One concurrency limit for all calls of a run, in which merges go before reflections."""

import asyncio
import heapq
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

MERGE_FIRST = 0
REFLECTION_AFTER = 1


class Limiter:
    """At most `limit` holders at once; waiters are let in by priority (low first), then in order of arrival."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.in_flight = 0
        self._arrivals = 0
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def slot(self, priority: int) -> AsyncIterator[None]:
        """Hold one place while the block runs."""
        if self.in_flight >= self.limit:
            await self._wait(priority)
        else:
            self.in_flight += 1
        try:
            yield
        finally:
            self._release()

    async def _wait(self, priority: int) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._arrivals += 1
        heapq.heappush(self._waiting, (priority, self._arrivals, turn))
        try:
            await turn
        except asyncio.CancelledError:
            # Cancelled between being let in and waking up: the place was ours and must go on to the next.
            if turn.done() and not turn.cancelled():
                self._release()
            raise

    def _release(self) -> None:
        while self._waiting:
            _, _, turn = heapq.heappop(self._waiting)
            if not turn.done():
                turn.set_result(None)
                return
        self.in_flight -= 1
