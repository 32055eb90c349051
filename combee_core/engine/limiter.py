"""One concurrency limit for all calls of a run, with an order among those that wait; smaller in an overload."""

import asyncio
import heapq
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

Turn = tuple[int, int]
"""Batch and level of a call: lower ones go first.

The call with the longest way to the end of the tree goes first. If a merge took the place of a reflection, that one
would end later, and with it its own merge and the final one: up to a quarter slower in all.
"""

# One overload shows in many calls at once: within this time they count as one.
SETTLE_S = 1.0


class Limiter:
    """At most `limit` holders at once; waiters are let in by turn (low first), then in order of arrival.

    The limit is halved when the endpoint says that it is overloaded, and grows back by one for every `limit` calls that
    worked (additive increase, multiplicative decrease), up to `most`. `changes` counts both, `on_change` is told the
    limit at first and after each.
    """

    def __init__(self, limit: int, on_change: Callable[[int], None] = lambda limit: None) -> None:
        self.most = limit
        self.limit = limit
        self.in_flight = 0
        self.changes = 0
        self.held_back: Callable[[Turn], bool] = lambda turn: False
        self._on_change = on_change
        on_change(limit)
        self._worked = 0
        self._shrunk_at = float("-inf")
        self._arrivals = 0
        self._waiting: list[tuple[Turn, int, asyncio.Future[None]]] = []
        self._idle = asyncio.Event()

    @property
    def has_room(self) -> bool:
        """Whether another call could be in flight just now."""
        return self.in_flight < self.limit

    @asynccontextmanager
    async def slot(self, turn: Turn) -> AsyncIterator[None]:
        """Hold one place while the block runs."""
        if not self.has_room or self.held_back(turn):
            await self._wait(turn)
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
            self._change(max(1, self.limit // 2))

    def worked(self) -> None:
        """A call was answered."""
        self._worked += 1
        if self.limit < self.most and self._worked >= self.limit:
            self._worked = 0
            self._change(self.limit + 1)
            self.let_in()

    def let_in(self) -> None:
        """Let in whoever waits and may go on."""
        while self._waiting and self.has_room:
            turn, _, let_in = self._waiting[0]
            if not let_in.done():
                if self.held_back(turn):
                    break
                self.in_flight += 1
                let_in.set_result(None)
            heapq.heappop(self._waiting)

    async def idle(self) -> None:
        """Return once no place is held."""
        while self.in_flight:
            self._idle.clear()
            await self._idle.wait()

    def _change(self, limit: int) -> None:
        self.limit = limit
        self.changes += 1
        self._on_change(limit)

    async def _wait(self, turn: Turn) -> None:
        let_in = asyncio.get_running_loop().create_future()
        self._arrivals += 1
        heapq.heappush(self._waiting, (turn, self._arrivals, let_in))
        try:
            await let_in
        except asyncio.CancelledError:
            # Cancelled between being let in and waking up: the place was ours and must go on to the next.
            if let_in.done() and not let_in.cancelled():
                self._release()
            raise

    def _release(self) -> None:
        self.in_flight -= 1
        self.let_in()
        if not self.in_flight:
            self._idle.set()
