"""The reflections of one iteration: those on its own traces, and those that it takes over from earlier iterations."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any

from combee_core.engine import tree
from combee_core.engine.ahead import TracesAhead
from combee_core.engine.budget import RunStopped
from combee_core.engine.calls import Calls, Output, Workshop
from combee_core.engine.handover import Adopted
from combee_core.lesson import Reflection
from combee_core.llm.base import CallFailed, Meter
from combee_core.playbook import Playbook
from combee_core.scan import TreePlan
from combee_core.store.runs import NodeRow
from combee_core.trace import Trace

Outputs = Callable[[str], Awaitable[Output]]
"""Gives what a reflection of an earlier iteration put out, once it is there."""


class Reflections:
    """Reflections of iteration `number` as tasks of the run's own group, where one that ends the run ends them all.

    `trace_of` gives the trace of each lesson that is there.
    """

    def __init__(
        self,
        number: int,
        trace_ids: Sequence[str],
        plan: TreePlan,
        workshop: Workshop,
        stored: Mapping[str, Mapping[str, Any]],
        tasks: asyncio.TaskGroup,
    ) -> None:
        self.calls = Calls(workshop, {node: row for node, row in stored.items() if row["output"]})
        self.waiting: dict[str, asyncio.Task[tree.NodeResult]] = {}
        self.trace_of: dict[str, str] = {}
        self._number = number
        self._trace_ids = tuple(trace_ids)
        self._order = tree.issue_order(plan)
        self._workshop = workshop
        self._tasks = tasks
        self._left_out_so_far = sum(row["state"] == "failed" for row in stored.values())

    async def begin(self, playbook: Playbook, only: Collection[str] | None = None) -> None:
        """Begin to reflect, in the order in which groups need it; on all traces, or on those of the nodes `only`."""
        order = [(index, tree.reflection_id(self._number, index)) for index in self._order]
        order = [(index, node) for index, node in order if only is None or node in only]
        ahead = TracesAhead(
            self._workshop.traces, [self._trace_ids[index] for index, node in order if not self.calls.keeps(node)]
        )
        for index, node in order:
            self.waiting[node] = self._tasks.create_task(self._reflect(node, index, playbook, ahead))
            # Prepared side by side, they would all be sent when the last is ready, and all come back at once.
            if self._workshop.limiter.has_room:
                await asyncio.sleep(0)

    def adopt(self, adopted: Sequence[Adopted], outputs: Outputs) -> None:
        """Take reflections of earlier iterations over, behind one's own."""
        for index, each in enumerate(adopted, len(self._trace_ids)):
            node = tree.reflection_id(self._number, index)
            self.waiting[node] = self._tasks.create_task(self._take_over(node, index, each, outputs))

    async def output(self, node: str) -> Output:
        """What a reflection puts out, once it is on disk."""
        if node in self.waiting:
            await asyncio.shield(self.waiting[node])
        return self.calls.output(node)

    async def _reflect(self, node: str, index: int, playbook: Playbook, ahead: TracesAhead) -> tree.NodeResult:
        trace_id = self._trace_ids[index]

        @cache
        def trace() -> Trace:
            # Handed out once, but asked for again when the call is hedged.
            return ahead.take(trace_id)

        async def call(meter: Meter) -> dict[str, Any]:
            reflection = await self._workshop.learner.reflect(trace(), playbook, meter)
            return tree.reflection_output(index, reflection)

        output = await self.calls.make(self._blank(node, index, trace_id), call, self._left_out)
        return self._settled(node, output, trace_id)

    async def _take_over(self, node: str, index: int, adopted: Adopted, outputs: Outputs) -> tree.NodeResult:
        async def copy() -> dict[str, Any]:
            return adopted.output(index, await outputs(adopted.node))

        output = await self.calls.copied(self._blank(node, index, adopted.trace), copy)
        return self._settled(node, output, adopted.trace)

    def _blank(self, node: str, index: int, trace: str) -> NodeRow:
        return NodeRow(node, self._number, "reflection", 0, index, (), "done", {}, 0.0, trace=trace)

    def _settled(self, node: str, output: Output, trace: str) -> tree.NodeResult:
        result = tree.reflection_result(node, output)
        self.trace_of |= dict.fromkeys((item.id for item in result.items), trace)
        return result

    def _left_out(self, failure: CallFailed) -> tuple[str, dict[str, Any]]:
        """A reflection that fails for good is reported and left out, unless none has worked so far."""
        self._left_out_so_far += 1
        tried_enough = min(len(self._trace_ids), 2 * self._workshop.limiter.limit)
        hopeless = self._workshop.progress.done["reflection"] == 0 and self._left_out_so_far >= tried_enough
        if failure.kind == "auth" or hopeless:
            raise RunStopped(f"No reflection has worked. {failure}") from failure
        return "failed", tree.reflection_output(0, Reflection())
