"""Hedged calls: when an answer takes longer than most have taken, ask once more and use what comes first.

Answers depend on the prompt alone, so that it makes no difference to the result which of the two is used.
"""

import asyncio
from bisect import insort
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import TypeVar

Result = TypeVar("Result")

# Before so many answers have been seen, nobody knows what takes long.
LEAST_SEEN = 10


class Latencies:
    """Seconds that calls of each kind have taken in this session, and when a call is overdue by them.

    `percentile` (0 to 100) of the calls of a kind are quicker than what counts as overdue. A final merge is judged by
    the group merges until there were enough final ones.
    """

    def __init__(self, percentile: float) -> None:
        self._percentile = percentile
        self._seen: dict[str, list[float]] = defaultdict(list)
        self._news = asyncio.Event()

    def record(self, kind: str, seconds: float) -> None:
        """Take in how long an answered call took."""
        insort(self._seen[kind], seconds)
        self._news.set()
        self._news = asyncio.Event()

    def usual(self, kind: str) -> float | None:
        """Seconds after which a call of this kind is overdue; None before enough of them were seen."""
        seen = self._seen[kind]
        if kind == "final" and len(seen) < LEAST_SEEN:
            seen = self._seen["merge"]
        if len(seen) < LEAST_SEEN:
            return None
        return seen[min(len(seen) - 1, int(len(seen) * self._percentile / 100))]

    async def overdue(self, kind: str) -> None:
        """Return once a call of this kind that begins now has taken longer than usual."""
        clock = asyncio.get_running_loop().time
        began = clock()
        while (usual := self.usual(kind)) is None:
            await self._news.wait()
        while (left := usual - (clock() - began)) > 0:
            await asyncio.sleep(left)
            usual = self.usual(kind) or usual


async def hedged(
    attempt: Callable[[], Awaitable[Result]], again: Callable[[], Awaitable[Result]], overdue: Awaitable[None]
) -> Result:
    """The first result of two attempts, the second of which begins when the first is overdue; the other is cancelled.

    An attempt that fails leaves it to the other, if that has begun; raises what the last one raises.
    """
    first = asyncio.ensure_future(attempt())
    alarm = asyncio.ensure_future(overdue)
    running: set[asyncio.Future[Result]] = {first}
    try:
        await asyncio.wait({first, alarm}, return_when=asyncio.FIRST_COMPLETED)
        if not first.done():
            running.add(asyncio.ensure_future(again()))
        while True:
            ended, waiting = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            good = [each for each in ended if each.exception() is None]
            if good or not waiting:
                return (good or [*ended])[0].result()
            running = waiting
    finally:
        alarm.cancel()
        for each in running:
            each.cancel()
        await asyncio.gather(alarm, *running, return_exceptions=True)
