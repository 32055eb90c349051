"""A learner whose answers are given by plain functions, and a log of what it was asked."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from combee_core.learners.base import Learner
from combee_core.lesson import Item, Lesson, Reflection
from combee_core.llm.base import Meter
from combee_core.playbook import Merged, Operation, Playbook
from combee_core.trace import Message, Source, Trace


def make_trace(number: int) -> Trace:
    return Trace(
        task=f"task {number}",
        messages=(Message(role="user", text=f"task {number}"), Message(role="assistant", text=f"answer {number}")),
        source=Source(file="made.jsonl", format="openai-chat", line=number + 1),
        feedback=f"field_{number} must be {number * 7} units",
    )


def one_lesson(trace: Trace) -> Reflection:
    return Reflection(lessons=(Lesson(text=trace.feedback, section="RULES"),))


def add_each(items: Sequence[Item]) -> tuple[Operation, ...]:
    """One ADD a distinct text, citing all items of that text."""
    texts: dict[str, list[str]] = {}
    for item in items:
        texts.setdefault(item.text, []).append(item.id)
    return tuple(
        Operation(kind="ADD", section="RULES", content=text, sources=tuple(ids)) for text, ids in texts.items()
    )


class Scripted:
    """Answers by the given functions; `gate` (when given) is awaited before each answer.

    `merge` gives the operations alone, or a whole answer.
    """

    name = "scripted"

    def __init__(
        self,
        reflect: Callable[[Trace], Reflection] = one_lesson,
        merge: Callable[[Sequence[Item]], tuple[Operation, ...] | Merged] = add_each,
        gate: Callable[[str], "asyncio.Future[None] | None"] | None = None,
    ) -> None:
        self._reflect, self._merge, self._gate = reflect, merge, gate
        self.reflected: Counter[str] = Counter()
        self.merged: list[tuple[str, ...]] = []
        self.most_at_once = 0
        self._at_once = 0

    async def reflect(self, trace: Trace, playbook: Playbook, meter: Meter) -> Reflection:
        await meter.begin(0)
        self.reflected[trace.id] += 1
        await self._answering(trace.id)
        return self._reflect(trace)

    async def merge(self, items: Sequence[Item], playbook: Playbook, meter: Meter, final: bool) -> Merged:
        await meter.begin(0)
        self.merged.append(tuple(item.id for item in items))
        await self._answering("final" if final else "merge")
        answer = self._merge(items)
        return answer if isinstance(answer, Merged) else Merged(operations=answer)

    async def _answering(self, what: str) -> None:
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            held = self._gate(what) if self._gate else None
            await (held if held is not None else asyncio.sleep(0))
        finally:
            self._at_once -= 1


def opened(learner: Learner) -> Callable[[], "asynccontextmanager[Learner]"]:
    @asynccontextmanager
    async def door() -> AsyncIterator[Learner]:
        yield learner

    return door
