"""One batch through the merge tree: reflections, group merges, final merge, each started when its inputs are there.

What a call does is the learner's business, making it durable the journal's; this module owns the order of things.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from combee_core.engine import tree
from combee_core.engine.ahead import TracesAhead
from combee_core.engine.budget import BudgetReached, RunStopped
from combee_core.engine.covering import unsaid
from combee_core.engine.events import CallEnded, CallStarted, NodeSettled, Spent
from combee_core.engine.gate import Gate
from combee_core.engine.journal import Journal
from combee_core.engine.landing import hold_back, land, landed
from combee_core.engine.limiter import Limiter
from combee_core.engine.progress import Progress
from combee_core.engine.settings import RunSettings
from combee_core.engine.steps import take_step
from combee_core.engine.twins import Folded, fold_twins
from combee_core.errors import CombeeError
from combee_core.learners.base import Learner
from combee_core.lesson import Item, Reflection
from combee_core.llm.base import CallFailed, Meter
from combee_core.playbook import Applied, Merged, Playbook
from combee_core.scan import Merge, TreePlan
from combee_core.store.runs import NodeRow
from combee_core.store.traces import Traces

log = logging.getLogger(__name__)

# Kinds of failure that say something of one answer or one prompt; any other says that the endpoint is out of reach.
OF_THE_ANSWER = frozenset({"empty", "truncated", "not_json", "wrong_shape", "refusal", "bad_request"})


# A merge that leaves at least this share of its items unsaid is asked once for the rest: models stop early.
CLEARLY_FEWER = 0.2


@dataclass(frozen=True)
class Workshop:
    """What the iterations of one run share."""

    learner: Learner
    limiter: Limiter
    journal: Journal
    progress: Progress
    traces: Traces
    settings: RunSettings
    gate: Gate


@dataclass(frozen=True)
class Finished:
    """The end of an iteration: what each node put out, and the final merge applied to the playbook.

    For each item that the final merge was given, `origins` holds the lessons behind it, `inputs` the node it is of.
    """

    outputs: Mapping[str, Mapping[str, Any]]
    final: Mapping[str, Any]
    applied: Applied
    origins: Mapping[str, frozenset[str]]
    inputs: Mapping[str, str]


class Iteration:
    """Runs one batch. `kept` holds nodes that an earlier session of the run has finished: they are not called again."""

    def __init__(
        self,
        number: int,
        trace_ids: Sequence[str],
        playbook: Playbook,
        next_number: int,
        plan: TreePlan,
        workshop: Workshop,
        kept: Mapping[str, Mapping[str, Any]],
    ) -> None:
        self._number = number
        self._trace_ids = trace_ids
        self._playbook = playbook
        self._next_number = next_number
        self._plan = plan
        self._workshop = workshop
        self._kept = kept
        self._outputs: dict[str, Mapping[str, Any]] = {}
        self._trace_of: dict[str, str] = {}
        self._applied = Applied(playbook=playbook, next_number=next_number)
        to_come = [index for index in tree.issue_order(plan) if tree.reflection_id(number, index) not in kept]
        self._ahead = TracesAhead(workshop.traces, [trace_ids[index] for index in to_come])
        self._broken: set[str] = set()
        self._left_out_so_far = sum(row["state"] == "failed" for row in kept.values())

    async def run(self) -> Finished:
        """Work through the tree. Raises RunStopped when the endpoint is out of reach or every reflection failed."""
        try:
            async with asyncio.TaskGroup() as tasks:
                waiting: dict[str, asyncio.Task[tree.NodeResult]] = {}
                for index in tree.issue_order(self._plan):
                    node = tree.reflection_id(self._number, index)
                    waiting[node] = tasks.create_task(self._reflection(node, index))
                    # Prepared side by side, they would all be sent when the last is ready, and all come back at once.
                    if self._workshop.limiter.has_room:
                        await asyncio.sleep(0)
                for level in self._plan.levels:
                    for merge in level:
                        node = tree.merge_id(self._number, merge, final=level is self._plan.levels[-1])
                        waiting[node] = tasks.create_task(self._merge(node, merge, waiting))
        except* CombeeError as stopped:
            raise stopped.exceptions[0] from None
        return self._finish(waiting)

    def _finish(self, waiting: Mapping[str, asyncio.Task[tree.NodeResult]]) -> Finished:
        final = self._plan.levels[-1][0]
        results = [waiting[node].result() for node in tree.input_ids(self._number, final)]
        return Finished(
            outputs=self._outputs,
            final=self._outputs[tree.merge_id(self._number, final, final=True)],
            applied=self._applied,
            origins={item: lessons for result in results for item, lessons in result.origins.items()},
            inputs={item.id: result.node for result in results for item in result.items},
        )

    async def _reflection(self, node: str, index: int) -> tree.NodeResult:
        trace_id = self._trace_ids[index]

        async def call(meter: Meter) -> dict[str, Any]:
            trace = self._ahead.take(trace_id)
            reflection = await self._workshop.learner.reflect(trace, self._playbook, meter)
            return tree.reflection_output(index, reflection)

        blank = NodeRow(node, self._number, "reflection", 0, index, (), "done", {}, 0.0, trace=trace_id)
        output = await self._call(blank, call, self._left_out)
        result = tree.reflection_result(node, output)
        self._trace_of |= dict.fromkeys((item.id for item in result.items), trace_id)
        return result

    def _left_out(self, failure: CallFailed) -> tuple[str, dict[str, Any]]:
        """A reflection that fails for good is reported and left out, unless none has worked so far."""
        self._left_out_so_far += 1
        tried_enough = min(len(self._trace_ids), 2 * self._workshop.limiter.limit)
        hopeless = self._workshop.progress.done["reflection"] == 0 and self._left_out_so_far >= tried_enough
        if failure.kind == "auth" or hopeless:
            raise RunStopped(f"No reflection has worked. {failure}") from failure
        return "failed", tree.reflection_output(0, Reflection())

    async def _merge(
        self, node: str, merge: Merge, waiting: Mapping[str, asyncio.Task[tree.NodeResult]]
    ) -> tree.NodeResult:
        final = merge is self._plan.levels[-1][0]
        names = tree.input_ids(self._number, merge)
        inputs = [await asyncio.shield(waiting[name]) for name in names]
        items, twins = self._items_of(merge, inputs)

        def kept(merged: Merged) -> dict[str, Any]:
            return tree.merge_output(merge, items, twins, merged, partial(self._land, inputs) if final else None)

        async def call(meter: Meter) -> dict[str, Any]:
            if merge.kind != "merge":
                return kept(await take_step(merge, items, self._workshop.learner, self._workshop.settings.seed, meter))
            merged, rechecked = await self._merged(items, meter, final)
            return kept(merged) | {"rechecked": rechecked}

        def carry(failure: CallFailed) -> tuple[str, dict[str, Any]]:
            if failure.kind not in OF_THE_ANSWER and final:
                raise RunStopped(f"The final merge has failed. {failure}") from failure
            return "carried", kept(Merged(operations=tree.carried(items)))

        kind = "final" if final else merge.kind
        blank = NodeRow(node, self._number, kind, merge.level, merge.group, names, "done", {}, 0.0)
        output = await self._call(blank, call, carry)
        if final:
            self._applied = landed(output["operations"], self._playbook, self._next_number)
        return tree.merge_result(node, output, inputs, self._trace_of)

    def _items_of(self, merge: Merge, inputs: Sequence[tree.NodeResult]) -> Folded:
        """What a merge is given; above the reflections with twins folded together, unless the paper's setting is on."""
        items = tuple(item for result in inputs for item in result.items)
        if merge.level == 1 or not self._workshop.settings.fold_twins:
            return Folded(items, {})
        origins = {item: lessons for result in inputs for item, lessons in result.origins.items()}
        return fold_twins(items, origins, self._trace_of)

    def _land(self, inputs: Sequence[tree.NodeResult], rows: list[dict[str, Any]]) -> None:
        """Let the operations of the final merge land, but for those with too few traces behind them."""
        traces = {
            item: frozenset(self._trace_of[lesson] for lesson in lessons)
            for result in inputs
            for item, lessons in result.origins.items()
        }
        hold_back(rows, self._playbook, traces, self._workshop.settings.min_support)
        land(rows, self._playbook, self._next_number)

    async def _merged(self, items: Sequence[Item], meter: Meter, final: bool) -> tuple[Merged, bool]:
        """The learner's answer, and whether it was asked a second time because it left many items unsaid.

        With `retain` carry, what is unsaid even then goes on as it is.
        """
        if not items:
            return Merged(), False
        settings, learner = self._workshop.settings, self._workshop.learner
        merged = await learner.merge(items, self._playbook, meter, final)
        rest = unsaid(items, merged)
        recheck = settings.recheck and len(rest) >= max(2, CLEARLY_FEWER * len(items))
        if recheck:
            merged = _together(merged, await self._asked_again(rest, meter, final))
        if settings.retain == "carry":
            merged = _together(merged, Merged(operations=tree.carried(unsaid(items, merged))))
        return merged, recheck

    async def _asked_again(self, rest: Sequence[Item], meter: Meter, final: bool) -> Merged:
        """What the learner makes of items that it left out; no answer is no harm, the first one stands."""
        try:
            return await self._workshop.learner.merge(rest, self._playbook, meter, final)
        except CallFailed as failure:
            if failure.kind not in OF_THE_ANSWER:
                raise
            return Merged()

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

    async def _call(
        self,
        blank: NodeRow,
        call: Callable[[Meter], Awaitable[dict[str, Any]]],
        on_failure: Callable[[CallFailed], tuple[str, dict[str, Any]]],
    ) -> Mapping[str, Any]:
        """Make one call under the run's limit, unless it is kept already; its result is on disk before it returns."""
        progress = self._workshop.progress
        kept = self._kept.get(blank.id)
        if kept is not None:
            progress.emit(NodeSettled(blank.id, blank.kind, kept["state"], kept=True))
            output: Mapping[str, Any] = kept["output"]
            self._outputs[blank.id] = output
            return output
        turn = (blank.iteration, blank.level)
        meter = Meter(on_failure=self._noticed, admit=partial(self._workshop.gate.admit, turn))
        state, error, seconds = "cancelled", None, 0.0
        fresh: dict[str, Any] | None = None
        try:
            async with self._workshop.limiter.slot(turn):
                progress.emit(CallStarted(blank.id, blank.kind))
                started = time.perf_counter()
                try:
                    self._workshop.gate.check()
                    fresh = await call(meter)
                    state = "done"
                    self._workshop.limiter.worked()
                except Exception as raised:
                    failure = self._failure_of(raised, blank.id, meter)
                    state, error = "failed", str(failure)
                    state, fresh = on_failure(failure)
                finally:
                    seconds = time.perf_counter() - started
                    progress.emit(CallEnded(blank.id, blank.kind, state, seconds, Spent.of(meter)))
        except BudgetReached:
            # Calls in flight are paid for: they end and are kept before the run stops.
            await self._workshop.limiter.idle()
            raise
        finally:
            if fresh is not None or meter.requests:
                await self._workshop.journal.record(_filled(blank, state, fresh or {}, error, meter, seconds))
        progress.emit(NodeSettled(blank.id, blank.kind, state, lessons=_lesson_texts(fresh)))
        self._outputs[blank.id] = fresh
        return fresh


def _lesson_texts(output: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(lesson["text"] for lesson in output.get("lessons", ()))


def _filled(
    blank: NodeRow, state: str, output: dict[str, Any], error: str | None, meter: Meter, seconds: float
) -> NodeRow:
    return NodeRow(
        **blank.__dict__
        | {
            "state": state,
            "output": output,
            "error": error,
            "seconds": seconds,
            "attempts": meter.requests,
            "failed_attempts": meter.failed,
            "input_tokens": meter.input_tokens,
            "output_tokens": meter.output_tokens,
            "cost_usd": meter.cost_usd,
            "failures": dict(meter.failures),
        }
    )


def _together(first: Merged, second: Merged) -> Merged:
    return Merged(
        operations=first.operations + second.operations, contradictions=first.contradictions + second.contradictions
    )
