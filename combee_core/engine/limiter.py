"""One concurrency limit for all calls of a run: merges first, fewer at once while the endpoint is overloaded."""

import asyncio
import heapq
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

MERGE_FIRST = 0
REFLECTION_AFTER = 1

# One overload shows in many calls at once: within this time they count as one.
SETTLE_S = 1.0


class Limiter:
    """At most `limit` holders at once; waiters are let in by priority (low first), then in order of arrival.

    The limit is halved when the endpoint says that it is overloaded, and grows back by one for every `limit` calls that
    worked (additive increase, multiplicative decrease), up to `most`. `changes` counts both.
    """

    def __init__(self, limit: int) -> None:
        self.most = limit
        self.limit = limit
        self.in_flight = 0
        self.changes = 0
        self._worked = 0
        self._shrunk_at = float("-inf")
        self._arrivals = 0
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._idle = asyncio.Event()

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

    def overloaded(self) -> None:
        """The endpoint refused a call because it has too many."""
        now = asyncio.get_running_loop().time()
        self._worked = 0
        if self.limit > 1 and now - self._shrunk_at >= SETTLE_S:
            self._shrunk_at = now
            self.limit = max(1, self.limit // 2)
            self.changes += 1

    def worked(self) -> None:
        """A call was answered."""
        self._worked += 1
        if self.limit < self.most and self._worked >= self.limit:
            self._worked = 0
            self.limit += 1
            self.changes += 1
            self._let_in()

    async def idle(self) -> None:
        """Return once no place is held."""
        while self.in_flight:
            self._idle.clear()
            await self._idle.wait()

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
        self.in_flight -= 1
        self._let_in()
        if not self.in_flight:
            self._idle.set()

    def _let_in(self) -> None:
        while self._waiting and self.in_flight < self.limit:
            _, _, turn = heapq.heappop(self._waiting)
            if not turn.done():
                self.in_flight += 1
                turn.set_result(None)
