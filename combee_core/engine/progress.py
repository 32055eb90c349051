"""What a live run is doing, for those who watch: counters folded from its events."""

import threading
from collections import Counter, deque
from dataclasses import dataclass, field, replace

from combee_core.engine.events import (
    CallEnded,
    CallStarted,
    Event,
    HeldBack,
    IterationDealt,
    LimitChanged,
    MergeSplit,
    NodeSettled,
    RunStarted,
    Spent,
)

KINDS = ("reflection", "merge", "final")


def counted_as(kind: str) -> str:
    """The kind under which a node is counted: selections and summaries stand where merges do."""
    return kind if kind in KINDS else "merge"


@dataclass
class Progress:
    """Counters of one run in this process.

    `total`, `done` and `failed` count nodes by kind over the current iteration; `calls`, tokens and cost are those of
    this run so far, earlier sessions included. `held_back` calls wait for the cap a minute that `held_by` names (rpm or
    tpm). `hedged` counts second requests of this session, `latest` holds the newest lessons, last one newest, `ahead`
    what has settled of the next iteration already.
    """

    iteration: int = 0
    iterations: int = 0
    batch_size: int = 0
    limit: int = 0
    in_flight: int = 0
    held_back: int = 0
    held_by: str = ""
    total: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    failed_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    failures: Counter[str] = field(default_factory=Counter)
    hedged: int = 0
    latest: deque[str] = field(default_factory=lambda: deque(maxlen=30))
    ahead: list[NodeSettled] = field(default_factory=list)

    @property
    def phase(self) -> str:
        """Which kind of node the iteration waits for: reflection, merge or final."""
        for kind in KINDS:
            if self.done[kind] + self.failed[kind] < self.total[kind]:
                return kind
        return "final"

    def take(self, event: Event) -> None:
        """Count one event."""
        match event:
            case RunStarted():
                self._spend(event.spent)
            case IterationDealt():
                self.iteration, self.iterations, self.batch_size = event.iteration, event.of, event.traces
                self.total, self.done, self.failed = Counter(event.nodes), Counter(), Counter()
                ahead, self.ahead = self.ahead, []
                for settled in ahead:
                    self._settle(settled)
            case CallStarted():
                self.in_flight += 1
            case CallEnded():
                self.in_flight -= 1
                self.hedged += event.hedge and event.spent.calls > 0
                self._spend(event.spent)
            case MergeSplit():
                self.total["merge"] += event.parts
            case NodeSettled():
                self._settle(event)
                self.latest.extend(event.lessons)
            case LimitChanged():
                self.limit = event.limit
            case HeldBack():
                self.held_back, self.held_by = event.calls, event.cap

    def snapshot(self) -> "Progress":
        """A copy that does not change any more."""
        return replace(
            self,
            total=self.total.copy(),
            done=self.done.copy(),
            failed=self.failed.copy(),
            failures=self.failures.copy(),
            latest=self.latest.copy(),
            ahead=self.ahead.copy(),
        )

    def _settle(self, event: NodeSettled) -> None:
        """Count a node of the current iteration; what is ahead of it waits for its own, what is late is over."""
        if event.iteration == self.iteration:
            (self.done if event.state == "done" else self.failed)[counted_as(event.kind)] += 1
        elif event.iteration > self.iteration:
            self.ahead.append(event)

    def _spend(self, spent: Spent) -> None:
        self.calls += spent.calls
        self.failed_calls += spent.failed_calls
        self.input_tokens += spent.input_tokens
        self.output_tokens += spent.output_tokens
        self.failures.update(spent.failures)
        unknown = self.cost_usd is None or spent.cost_usd is None
        self.cost_usd = None if unknown else (self.cost_usd or 0.0) + (spent.cost_usd or 0.0)


class Board:
    """The progress of every run of this process: written by the engine's thread, read by any as copies at rest."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: dict[str, Progress] = {}

    def take(self, run: str, event: Event) -> None:
        """Fold an event in; a session that starts begins to count anew."""
        with self._lock:
            if isinstance(event, RunStarted):
                self._of[run] = Progress()
            self._of[run].take(event)

    def live(self, run: str) -> Progress:
        """The counters themselves, for the engine's own thread."""
        return self._of[run]

    def read(self, run: str) -> Progress | None:
        """A copy that does not change any more, or None for a run that this process has not worked on."""
        with self._lock:
            found = self._of.get(run)
            return found.snapshot() if found else None
