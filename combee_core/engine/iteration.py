"""The merges of one iteration, up to the final one, each started when its inputs are there.

What a call does is the learner's business, making it durable that of `calls`; this module owns the order of things.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import ceil
from typing import Any

from combee_core.engine import tree
from combee_core.engine.budget import RunStopped
from combee_core.engine.calls import Workshop
from combee_core.engine.covering import mended, unsaid
from combee_core.engine.events import MergeSplit
from combee_core.engine.landing import hold_back, land, landed
from combee_core.engine.reflections import Reflections
from combee_core.engine.split import parts_of, room_for_items
from combee_core.engine.steps import take_step
from combee_core.engine.twins import Folded, fold_twins
from combee_core.lesson import Item
from combee_core.llm.base import CallFailed, Meter
from combee_core.playbook import Applied, Merged, Playbook, render
from combee_core.scan import Merge, TreePlan
from combee_core.store.runs import NodeRow

# Kinds of failure that say something of one answer or one prompt; any other says that the endpoint is out of reach.
OF_THE_ANSWER = frozenset({"empty", "truncated", "not_json", "wrong_shape", "refusal", "bad_request"})


# A merge that leaves at least this share of its items unsaid is asked once for the rest: models stop early.
CLEARLY_FEWER = 0.2

# Characters of the instructions of a merge, about.
INSTRUCTION_CHARS = 3_000


@dataclass(frozen=True)
class Finished:
    """The end of an iteration: what each node that it used put out, and the final merge applied to the playbook.

    For each item that the final merge was given, `origins` holds the lessons behind it, `inputs` the node it is of.
    """

    outputs: Mapping[str, Mapping[str, Any]]
    final: Mapping[str, Any]
    applied: Applied
    origins: Mapping[str, frozenset[str]]
    inputs: Mapping[str, str]


@dataclass(frozen=True)
class _Given:
    """What one merge works on: the nodes that it reads and their items, twins folded."""

    inputs: Sequence[tree.NodeResult]
    folded: Folded

    @property
    def node_of(self) -> dict[str, str]:
        """The node that each item is of."""
        return {item.id: result.node for result in self.inputs for item in result.items}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(result.node for result in self.inputs)


class Iteration:
    """Carries `reflections` up the tree of `plan`, and what the final merge says onto the `playbook`.

    `stored` holds the nodes that earlier sessions have put on record. Of a merge without an output its inputs still
    hold: they were decided on when it began. Only the `last` iteration waits for every reflection where the run has a
    quorum.
    """

    def __init__(
        self,
        number: int,
        plan: TreePlan,
        reflections: Reflections,
        playbook: Playbook,
        next_number: int,
        workshop: Workshop,
        stored: Mapping[str, Mapping[str, Any]],
        last: bool = True,
    ) -> None:
        self._number = number
        self._plan = plan
        self._calls = reflections.calls
        self._trace_of = reflections.trace_of
        self._waiting = dict(reflections.waiting)
        self._playbook = playbook
        self._next_number = next_number
        self._workshop = workshop
        self._stored = stored
        self._quorum = 1.0 if last else workshop.settings.quorum
        self._level_of: dict[str, int] = {}
        self._read: dict[str, _Given] = {}

    @cached_property
    def _playbook_chars(self) -> int:
        return len(render(self._playbook))

    async def run(self, tasks: asyncio.TaskGroup) -> Finished:
        """Work through the tree in tasks of this group. One that raises RunStopped ends the group."""
        self._tasks = tasks
        for level in self._plan.levels:
            for merge in level:
                node = tree.merge_id(self._number, merge, final=merge is self._plan.final)
                self._waiting[node] = tasks.create_task(self._merge(node, merge))
        final = tree.merge_id(self._number, self._plan.final, final=True)
        await asyncio.shield(self._waiting[final])
        return self._finished(final)

    def _finished(self, final: str) -> Finished:
        used = {final, *(name for given in self._read.values() for name in given.names)}
        last = self._read[final]
        output = self._calls.outputs[final]
        return Finished(
            outputs={node: self._calls.outputs[node] for node in sorted(used)},
            final=output,
            applied=landed(output["operations"], self._playbook, self._next_number),
            origins={item: lessons for result in last.inputs for item, lessons in result.origins.items()},
            inputs=last.node_of,
        )

    async def _merge(self, node: str, merge: Merge) -> tree.NodeResult:
        inputs = await self._inputs(node, merge)
        given = _Given(inputs, self._folded(inputs, of_reflections=merge.level == 1))
        given, fits = await self._made_to_fit(node, merge, given)
        return await self._settle(node, tree.item_prefix(merge), merge, given, given.folded.items, given.names, fits)

    async def _inputs(self, node: str, merge: Merge) -> list[tree.NodeResult]:
        """What the merge reads: all of its inputs, or with a quorum the first of them, which is then on record."""
        names = tree.input_ids(self._number, merge)
        if merge.level == 1 and merge is not self._plan.final and self._quorum < 1:
            decided = self._decided(node)
            if decided:
                names = tuple(name for name in names if name in decided)
            else:
                names = await self._first(names, ceil(self._quorum * len(names)))
                await self._workshop.journal.record(replace(self._blank(node, merge, names), state="closed"))
        return [await asyncio.shield(self._waiting[name]) for name in names]

    def _decided(self, node: str) -> set[str]:
        """The reflections with which an earlier session closed a group, whether it was merged at once or in parts."""
        rows = (row for name, row in self._stored.items() if name == node or name.startswith(f"{node}p"))
        return {name for row in rows for name in row["inputs"]}

    async def _first(self, names: tuple[str, ...], number: int) -> tuple[str, ...]:
        """The nodes that have settled as soon as so many of them have."""
        while sum(self._waiting[name].done() for name in names) < number:
            pending = [self._waiting[name] for name in names if not self._waiting[name].done()]
            await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        return tuple(name for name in names if self._waiting[name].done())

    async def _made_to_fit(self, node: str, merge: Merge, given: _Given) -> tuple[_Given, bool]:
        """What the merge is to work on: where that is too much for one call, it is merged in parts before.

        False where parts have not made it less: then it fits into no call.
        """
        before, number = None, 0
        while len(parts := self._parts(merge, given)) > 1:
            if before is not None and len(parts) >= before:
                return given, False
            before = len(parts)
            self._workshop.emit(MergeSplit(node, before))
            merging = []
            for part in parts:
                number += 1
                merging.append(self._tasks.create_task(self._part(merge, number, given, part, first=part is parts[0])))
            inputs = [await asyncio.shield(task) for task in merging]
            given = _Given(inputs, self._folded(inputs))
        return given, True

    def _parts(self, merge: Merge, given: _Given) -> list[tuple[Item, ...]]:
        settings = self._workshop.settings
        if settings.token_budget is None or merge.kind == "selection":
            return [given.folded.items]
        other = INSTRUCTION_CHARS + self._playbook_chars
        room = room_for_items(settings.token_budget, settings.chars_a_token, other)
        return parts_of(given.folded.items, given.node_of, room)

    async def _part(
        self, merge: Merge, number: int, given: _Given, part: Sequence[Item], first: bool
    ) -> tree.NodeResult:
        """Merge a part of what was given; inputs that had nothing to say are of the `first` part."""
        twins = given.folded.twins
        items = {name for item in part for name in (item.id, *twins.get(item.id, ()))}
        names = tuple(
            result.node
            for result in given.inputs
            if any(item.id in items for item in result.items) or (first and not result.items)
        )
        node = tree.part_id(self._number, merge, number)
        return await self._settle(node, tree.item_prefix(merge, number), merge, given, part, names, part_of=True)

    async def _settle(
        self,
        node: str,
        prefix: str,
        merge: Merge,
        given: _Given,
        items: Sequence[Item],
        names: tuple[str, ...],
        fits: bool = True,
        part_of: bool = False,
    ) -> tree.NodeResult:
        """Make one merge of these items of what was given, kept or called, and hand up what comes of it."""
        final = merge is self._plan.final and not part_of
        self._read[node] = replace(given, inputs=[result for result in given.inputs if result.node in names])

        def kept(merged: Merged) -> dict[str, Any]:
            landing = partial(self._land, given.inputs) if final else None
            return tree.merge_output(prefix, items, given.folded.twins, merged, landing)

        async def call(meter: Meter) -> dict[str, Any]:
            if not fits:
                raise CallFailed("bad_request", _too_much(items))
            if merge.kind != "merge":
                return kept(await take_step(merge, items, self._workshop.learner, self._workshop.settings.seed, meter))
            if part_of and len(items) == 1:
                return kept(Merged(operations=tree.carried(items)))
            merged, rechecked = await self._merged(items, meter, final)
            return kept(merged) | {"rechecked": rechecked}

        def carry(failure: CallFailed) -> tuple[str, dict[str, Any]]:
            if failure.kind not in OF_THE_ANSWER and final:
                raise RunStopped(f"The final merge has failed. {failure}") from failure
            return "carried", kept(Merged(operations=tree.carried(items)))

        output = await self._calls.make(self._blank(node, merge, names, final), call, carry)
        return tree.merge_result(node, output, given.inputs, self._trace_of)

    def _blank(self, node: str, merge: Merge, names: tuple[str, ...], final: bool = False) -> NodeRow:
        level = self._level_of[node] = 1 + max(self._level_of.get(name, 0) for name in names)
        kind = "final" if final else merge.kind
        return NodeRow(node, self._number, kind, level, merge.group, names, "done", {}, 0.0)

    def _folded(self, inputs: Sequence[tree.NodeResult], of_reflections: bool = False) -> Folded:
        """What a merge is given; above the reflections with twins folded together, unless the paper's setting is on."""
        items = tuple(item for result in inputs for item in result.items)
        if of_reflections or not self._workshop.settings.fold_twins:
            return Folded(items, {})
        origins = {item: lessons for result in inputs for item, lessons in result.origins.items()}
        return fold_twins(items, origins, self._trace_of)

    def _land(self, inputs: Iterable[tree.NodeResult], rows: list[dict[str, Any]]) -> None:
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
            merged = mended(merged, await self._asked_again(rest, meter, final), rest)
        if settings.retain == "carry":
            left = tree.carried(unsaid(items, merged))
            merged = merged.model_copy(update={"operations": merged.operations + left})
        return merged, recheck

    async def _asked_again(self, rest: Sequence[Item], meter: Meter, final: bool) -> Merged:
        """What the learner makes of items that it left out; no answer is no harm, the first one stands."""
        try:
            return await self._workshop.learner.merge(rest, self._playbook, meter, final)
        except CallFailed as failure:
            if failure.kind not in OF_THE_ANSWER:
                raise
            return Merged()


def _too_much(items: Sequence[Item]) -> str:
    return (
        f"{len(items):,} items pass the token budget even after they were merged in parts: they go on as they are. "
        "A larger budget would let one call merge them."
    )
