"""Makes the calls of one iteration: each under the run's limit and budget, told as events, on disk before it is used.

What a call asks and what becomes of its answer is the caller's business.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from operator import add
from typing import Any

from combee_core.engine.budget import BudgetReached
from combee_core.engine.events import CallEnded, CallStarted, Emit, NodeSettled, Spent
from combee_core.engine.gate import Gate
from combee_core.engine.hedging import Latencies, hedged
from combee_core.engine.journal import Journal
from combee_core.engine.limiter import Limiter
from combee_core.engine.progress import Progress
from combee_core.engine.settings import RunSettings
from combee_core.errors import CombeeError
from combee_core.learners.base import Learner
from combee_core.llm.base import CallFailed, Meter
from combee_core.store.runs import NodeRow
from combee_core.store.traces import Traces

log = logging.getLogger(__name__)

Output = Mapping[str, Any]
Call = Callable[[Meter], Awaitable[dict[str, Any]]]
Fallback = Callable[[CallFailed], tuple[str, dict[str, Any]]]
"""What a node comes to when its call has failed for good: state and output. May raise RunStopped instead."""


@dataclass(frozen=True)
class Workshop:
    """What the iterations of one run share."""

    learner: Learner
    limiter: Limiter
    journal: Journal
    progress: Progress
    emit: Emit
    traces: Traces
    settings: RunSettings
    gate: Gate

    @cached_property
    def latencies(self) -> Latencies | None:
        """How long calls take, where the run hedges those that take longer than most."""
        return None if self.settings.hedge is None else Latencies(self.settings.hedge)


@dataclass
class _Attempts:
    """What it takes to get one node's answer; more than one attempt only where calls are hedged."""

    meters: list[Meter] = field(default_factory=list)
    started: asyncio.Event = field(default_factory=asyncio.Event)
    began: float = 0.0

    @property
    def spent(self) -> Spent:
        return reduce(add, map(Spent.of, self.meters), Spent())

    @property
    def hedged(self) -> bool:
        return sum(meter.requests > 0 for meter in self.meters) > 1


class Calls:
    """Calls of one iteration. `kept` holds nodes that an earlier session has finished: they are not called again.

    `outputs` has the output of every node that has settled.
    """

    def __init__(self, workshop: Workshop, kept: Mapping[str, Mapping[str, Any]]) -> None:
        self.outputs: dict[str, Output] = {}
        self._workshop = workshop
        self._kept = kept
        self._broken: set[str] = set()

    def keeps(self, node: str) -> bool:
        """Whether a node needs no call, as an earlier session has finished it."""
        return node in self._kept

    def output(self, node: str) -> Output:
        """What a node that has settled, in this session or before, put out."""
        found = self.outputs.get(node)
        return self._kept[node]["output"] if found is None else found

    async def copied(self, blank: NodeRow, copy: Callable[[], Awaitable[dict[str, Any]]]) -> Output:
        """The output of a node that takes over what is there already and makes no call: kept, or put on record now."""
        if self.keeps(blank.id):
            return self._from_record(blank)
        output = await copy()
        await self._workshop.journal.record(replace(blank, output=output))
        return self._settled(blank, blank.state, output)

    async def make(self, blank: NodeRow, call: Call, fall_back: Fallback) -> Output:
        """The output of a node: kept, or of a call that is made now and is on disk before this returns."""
        if self.keeps(blank.id):
            return self._from_record(blank)
        attempts = _Attempts()
        state, error = "cancelled", None
        fresh: dict[str, Any] | None = None
        try:
            fresh = await self._answer(blank, call, attempts)
            state = "done"
        except BudgetReached:
            # Calls in flight are paid for: they end and are kept before the run stops.
            await self._workshop.limiter.idle()
            raise
        except CallFailed as failure:
            state, error = "failed", str(failure)
            state, fresh = fall_back(failure)
        finally:
            if fresh is not None and attempts.hedged:
                fresh["hedged"] = True
            if fresh is not None or attempts.spent.calls:
                await self._workshop.journal.record(_filled(blank, state, fresh or {}, error, attempts))
        return self._settled(blank, state, fresh)

    def _from_record(self, blank: NodeRow) -> Output:
        row = self._kept[blank.id]
        self._workshop.emit(NodeSettled(blank.id, blank.iteration, blank.kind, row["state"], kept=True))
        self.outputs[blank.id] = row["output"]
        return self.outputs[blank.id]

    def _settled(self, blank: NodeRow, state: str, output: Output) -> Output:
        lessons = tuple(lesson["text"] for lesson in output.get("lessons", ()))
        self._workshop.emit(NodeSettled(blank.id, blank.iteration, blank.kind, state, lessons=lessons))
        self.outputs[blank.id] = output
        return output

    async def _answer(self, blank: NodeRow, call: Call, attempts: _Attempts) -> dict[str, Any]:
        """What the call answers, or a second one like it when the first takes longer than most."""
        latencies = self._workshop.latencies
        if latencies is None:
            return await self._attempt(blank, call, attempts)

        async def overdue() -> None:
            await attempts.started.wait()
            await latencies.overdue(blank.kind)

        return await hedged(
            lambda: self._attempt(blank, call, attempts),
            lambda: self._attempt(blank, call, attempts, hedge=True),
            overdue(),
        )

    async def _attempt(self, blank: NodeRow, call: Call, attempts: _Attempts, hedge: bool = False) -> dict[str, Any]:
        """Make the call once, as soon as there is a place for it."""
        shop, turn = self._workshop, (blank.iteration, blank.level)
        meter = Meter(on_failure=self._noticed, admit=partial(shop.gate.admit, turn))
        attempts.meters.append(meter)
        async with shop.limiter.slot(turn):
            shop.emit(CallStarted(blank.id, blank.kind, hedge))
            started = time.perf_counter()
            attempts.began = attempts.began or started
            attempts.started.set()
            state = "cancelled"
            try:
                shop.gate.check()
                answer = await call(meter)
                state = "done"
            except Exception as raised:
                failure = self._failure_of(raised, blank.id, meter)
                state = "failed"
                raise failure from raised
            finally:
                seconds = time.perf_counter() - started
                shop.emit(CallEnded(blank.id, blank.kind, state, seconds, Spent.of(meter), hedge))
            shop.limiter.worked()
            if shop.latencies is not None and meter.requests:
                shop.latencies.record(blank.kind, seconds)
            return answer

    def _noticed(self, kind: str) -> None:
        """Let the limit follow what the endpoint can take, while the call that noticed it still waits for its retry."""
        if kind == "rate_limited":
            self._workshop.limiter.overloaded()

    def _failure_of(self, raised: Exception, node: str, meter: Meter) -> CallFailed:
        """A failed call as it is; a mistake of Combee's own as the failure of this one node, logged once an iteration.

        Any other CombeeError ends the run and is raised again.
        """
        if isinstance(raised, CallFailed):
            return raised
        if isinstance(raised, CombeeError):
            raise raised
        what = f"{type(raised).__name__}: {raised}"
        if what not in self._broken:
            self._broken.add(what)
            log.error("the call of %s broke", node, exc_info=raised)
        if meter.failed < meter.requests:
            meter.fail("unexpected")
        return CallFailed("unexpected", f"Combee itself broke on this call ({what[:200]}). See the log.")


def _filled(blank: NodeRow, state: str, output: dict[str, Any], error: str | None, attempts: _Attempts) -> NodeRow:
    spent = attempts.spent
    return NodeRow(
        **blank.__dict__
        | {
            "state": state,
            "output": output,
            "error": error,
            "seconds": time.perf_counter() - attempts.began if attempts.began else 0.0,
            "attempts": spent.calls,
            "failed_attempts": spent.failed_calls,
            "input_tokens": spent.input_tokens,
            "output_tokens": spent.output_tokens,
            "cost_usd": spent.cost_usd,
            "failures": dict(spent.failures),
        }
    )
