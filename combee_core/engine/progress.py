"""What a live run is doing, for those who watch: plain counters that any thread may read."""

from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from combee_core.engine.limiter import Limiter
from combee_core.llm.base import Meter

KINDS = ("reflection", "merge", "final")


@dataclass
class Progress:
    """Counters of one run in this process.

    `total`, `done` and `failed` count nodes by kind over the current iteration; `calls`, tokens and cost are those of
    this run so far, earlier sessions included. `latest` holds the newest lessons, last one newest.
    """

    iteration: int = 0
    iterations: int = 0
    batch_size: int = 0
    limiter: Limiter = field(default_factory=lambda: Limiter(0))
    in_flight: int = 0
    total: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    failed_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    failures: Counter[str] = field(default_factory=Counter)
    latest: deque[str] = field(default_factory=lambda: deque(maxlen=30))

    @property
    def limit(self) -> int:
        """How many calls may be in flight just now."""
        return self.limiter.limit

    @property
    def phase(self) -> str:
        """Which kind of node the iteration waits for: reflection, merge or final."""
        for kind in KINDS:
            if self.done[kind] + self.failed[kind] < self.total[kind]:
                return kind
        return "final"

    def begin_iteration(self, number: int, of: int, batch_size: int, totals: dict[str, int]) -> None:
        """Start counting nodes for the next iteration."""
        self.iteration, self.iterations, self.batch_size = number, of, batch_size
        self.total, self.done, self.failed = Counter(totals), Counter(), Counter()

    @asynccontextmanager
    async def calling(self, meter: Meter) -> AsyncIterator[None]:
        """Count one call as in flight while the block runs, and what it spent once it has ended."""
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1
            self.calls += meter.requests
            self.failed_calls += meter.failed
            self.input_tokens += meter.input_tokens
            self.output_tokens += meter.output_tokens
            self.failures.update(meter.failures)
            unknown = self.cost_usd is None or meter.cost_usd is None
            self.cost_usd = None if unknown else (self.cost_usd or 0.0) + (meter.cost_usd or 0.0)

    def ended(self, kind: str, state: str) -> None:
        """Count one node as done, or as failed when its call gave no usable answer."""
        (self.done if state == "done" else self.failed)[kind] += 1
