"""What happens in learning runs, as one stream of small facts that every watcher reads: counters, faces, tests.

Events are told on the engine's thread, in the order in which things happen.
"""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from combee_core.llm.base import Meter

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Spent:
    """What some calls have cost: requests sent, those without a usable answer, by kind; tokens; US dollars.

    `cost_usd` None: a price is unknown.
    """

    calls: int = 0
    failed_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    failures: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, meter: Meter) -> "Spent":
        """What a meter shows now."""
        return cls(
            meter.requests,
            meter.failed,
            meter.input_tokens,
            meter.output_tokens,
            meter.cost_usd,
            dict(meter.failures),
        )

    def __add__(self, other: "Spent") -> "Spent":
        unknown = self.cost_usd is None or other.cost_usd is None
        return Spent(
            self.calls + other.calls,
            self.failed_calls + other.failed_calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            None if unknown else (self.cost_usd or 0.0) + (other.cost_usd or 0.0),
            dict(Counter(self.failures) + Counter(other.failures)),
        )


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A session of a run begins; `spent` is what earlier sessions of it have spent."""

    spent: Spent


@dataclass(frozen=True, slots=True)
class IterationDealt:
    """Iteration `iteration` of `of` begins with `traces` traces; `nodes` says how many nodes it has, by kind."""

    iteration: int
    of: int
    traces: int
    nodes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class CallStarted:
    """The call for a node holds a place under the limit and is sent; a `hedge` is a second one beside the first."""

    node: str
    kind: str
    hedge: bool = False


@dataclass(frozen=True, slots=True)
class CallEnded:
    """A call for a node has given its place back: done, failed or cancelled, after so many seconds."""

    node: str
    kind: str
    state: str
    seconds: float
    spent: Spent
    hedge: bool = False


@dataclass(frozen=True, slots=True)
class NodeSettled:
    """A node's result is on disk and may be built on; `kept`: an earlier session had made it.

    `lessons` are the texts that a reflection brought.
    """

    node: str
    iteration: int
    kind: str
    state: str
    kept: bool = False
    lessons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MergeSplit:
    """What a merge was given does not fit into one call: so many merges are added before it."""

    node: str
    parts: int


@dataclass(frozen=True, slots=True)
class LimitChanged:
    """So many calls may be in flight from now on."""

    limit: int


@dataclass(frozen=True, slots=True)
class HeldBack:
    """So many calls now wait for a cap a minute, `rpm` or `tpm`; 0: none does any more."""

    calls: int
    cap: str


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The session is over and its end is on disk: done, failed, cancelled or interrupted."""

    state: str
    error: str | None


Event = (
    RunStarted
    | IterationDealt
    | CallStarted
    | CallEnded
    | NodeSettled
    | MergeSplit
    | LimitChanged
    | HeldBack
    | RunEnded
)
Emit = Callable[[Event], None]
Watcher = Callable[[str, Event], None]
"""Is given the id of a run and what happened in it, on the engine's thread: it has to return at once."""


class Events:
    """The stream: whoever subscribes is given every event of every run from then on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watchers: tuple[Watcher, ...] = ()

    def subscribe(self, watcher: Watcher) -> Callable[[], None]:
        """Have `watcher` called from now on; returns what ends that."""
        with self._lock:
            self._watchers += (watcher,)

        def leave() -> None:
            with self._lock:
                self._watchers = tuple(each for each in self._watchers if each is not watcher)

        return leave

    def emit(self, run: str, event: Event) -> None:
        """Tell all watchers; one that breaks is logged, it never breaks the run."""
        for watcher in self._watchers:
            try:
                watcher(run, event)
            except Exception:
                log.exception("A watcher of %s broke on %s", run, event)
