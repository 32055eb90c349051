"""Caps on requests and tokens a minute, kept in front of every request; who goes first is decided by turn.

Any sixty seconds hold no more than the cap: libraries of leaky buckets let up to twice as much through in one minute,
and know no order among those that wait. Time is the event loop's own.
"""

import asyncio
import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from combee_core.engine.limiter import Turn

Cap = Literal["rpm", "tpm"]

MINUTE_S = 60.0


@dataclass
class Ticket:
    """One request that was let through: when, and the tokens that it is thought to take, or was reported to."""

    at: float
    tokens: int


NO_CAP = Ticket(0.0, 0)


class Caps:
    """At most `rpm` requests and `tpm` tokens within any sixty seconds; None means no cap.

    A request that alone is larger than `tpm` waits until nothing else counts. `on_change` is told how many wait, and
    for which cap, whenever that changes.
    """

    def __init__(
        self, rpm: int | None, tpm: int | None, on_change: Callable[[int, Cap], None] = lambda waiting, cap: None
    ) -> None:
        self._rpm, self._tpm = rpm, tpm
        self._sent: deque[Ticket] = deque()
        self._tokens = 0
        self._waiting: list[tuple[Turn, int, int, asyncio.Future[Ticket]]] = []
        self._arrivals = 0
        self._timer: asyncio.TimerHandle | None = None
        self._told = 0
        self._on_change = on_change

    def holds_back(self, turn: Turn) -> bool:
        """Whether a request of this turn would have to queue behind one that waits."""
        first = self._first()
        return first is not None and first <= turn

    async def let_through(self, turn: Turn, tokens: int) -> Ticket:
        """Return once a request of about so many tokens may be sent, which has to follow at once."""
        if self._rpm is None and self._tpm is None:
            return NO_CAP
        if self._first() is None and self._due(tokens)[0] <= asyncio.get_running_loop().time():
            return self._take(tokens)
        own: asyncio.Future[Ticket] = asyncio.get_running_loop().create_future()
        self._arrivals += 1
        heapq.heappush(self._waiting, (turn, self._arrivals, tokens, own))
        self._serve()
        try:
            return await own
        except asyncio.CancelledError:
            if own.done() and not own.cancelled():
                self._give_back(own.result())
            self._serve()
            raise

    def settle(self, ticket: Ticket, tokens: int) -> None:
        """Count what the endpoint reported for a request in place of what was expected."""
        if self._tpm and self._sent and ticket.at >= self._sent[0].at:
            self._tokens += tokens - ticket.tokens
            ticket.tokens = tokens
            self._serve()

    def _give_back(self, ticket: Ticket) -> None:
        self._sent = deque(other for other in self._sent if other is not ticket)
        self._tokens = sum(other.tokens for other in self._sent)

    def _take(self, tokens: int) -> Ticket:
        ticket = Ticket(asyncio.get_running_loop().time(), tokens)
        self._sent.append(ticket)
        self._tokens += tokens
        return ticket

    def _due(self, tokens: int) -> tuple[float, Cap]:
        """When a request of so many tokens fits, as the loop tells time, and the cap that it waits for."""
        now = asyncio.get_running_loop().time()
        while self._sent and self._sent[0].at + MINUTE_S <= now:
            self._tokens -= self._sent.popleft().tokens
        requests = self._sent[0].at + MINUTE_S if self._rpm and len(self._sent) >= self._rpm else now
        size = self._freed_at(self._tokens + tokens - self._tpm) if self._tpm else now
        return (size, "tpm") if size > requests else (requests, "rpm")

    def _freed_at(self, tokens: int) -> float:
        """When so many tokens, or all that count now, will have left the minute."""
        at = float("-inf")
        for ticket in self._sent:
            if tokens <= 0:
                break
            tokens -= ticket.tokens
            at = ticket.at + MINUTE_S
        return at

    def _serve(self) -> None:
        """Let through whoever fits, first turn first, and come back when the next one does."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        cap: Cap = "rpm"
        loop = asyncio.get_running_loop()
        while self._first() is not None:
            _, _, tokens, own = self._waiting[0]
            due, cap = self._due(tokens)
            if due > loop.time():
                self._timer = loop.call_at(due, self._serve)
                break
            heapq.heappop(self._waiting)
            own.set_result(self._take(tokens))
        waiting = len(self._waiting)
        if waiting != self._told:
            self._told = waiting
            self._on_change(waiting, cap)

    def _first(self) -> Turn | None:
        """The turn of whoever is next, not counting those that were cancelled."""
        while self._waiting and self._waiting[0][3].done():
            heapq.heappop(self._waiting)
        return self._waiting[0][0] if self._waiting else None
