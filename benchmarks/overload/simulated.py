"""A simulated curator: no language model, but a stated formula for how attention thins out with the length of a call.

A lesson is a sentence that holds a number; the sentences around it are story. In a call that reads w words of items,
each lesson is kept with probability

    keep(w) = (1 - slip) / (1 + (w / half) ** steepness)

independently of the others: `half` is the length at which one call keeps half of what it would keep of a short one,
`slip` is lost at any length. What is kept is distilled: the story is left out. Of the lessons that a merge loses, the
share `absorbed` is cited by one general bullet that holds none of their keys, the rest is cited by nothing. A summary
ends after `summary_words`, as the product's instructions for it say. The playbook's own length costs nothing. A draw
depends on the seed, the lesson and w alone: a run repeats exactly, and asking again about fewer items draws anew.

The formula is an assumption that shows the shape at sizes to which no small model can be driven; it is no measurement.
"""

import hashlib
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import accumulate

from benchmarks.overload.learning import PlantedLearner
from combee_core.learners.base import Learner
from combee_core.lesson import Item, Reflection
from combee_core.llm.base import Meter
from combee_core.playbook import Merged, Operation, Playbook
from combee_core.trace import Trace


@dataclass(frozen=True)
class SimulatedCurator:
    """Merges and summarises by the formula of this module."""

    seed: int
    half: float = 1_600.0
    steepness: float = 2.0
    slip: float = 0.05
    absorbed: float = 0.5
    summary_words: int = 500
    name: str = "simulated"

    def keep(self, words: int) -> float:
        """The probability that a lesson is kept in a call of so many words."""
        return (1 - self.slip) / (1 + (words / self.half) ** self.steepness)

    async def reflect(self, trace: Trace, playbook: Playbook, meter: Meter) -> Reflection:
        """Nothing: this curator only merges."""
        return Reflection()

    async def merge(self, items: Sequence[Item], playbook: Playbook, meter: Meter, final: bool) -> Merged:
        """One bullet for each kept lesson, and one general bullet for what it has absorbed."""
        meter.requests += 1
        kept, lost, words = self._sifted(items)
        absorbed = [item for item, lesson in lost if self._draw("absorb", lesson, words) < self.absorbed]
        operations = [
            Operation(kind="ADD", section="PLANTED", content=lesson, sources=(item.id,)) for item, lesson in kept
        ]
        if absorbed:
            general = f"Read a service's notes before calling it ({absorbed[0].id} and {len(absorbed) - 1} more)."
            sources = tuple(dict.fromkeys(item.id for item in absorbed))
            operations.append(Operation(kind="ADD", section="GENERAL", content=general, sources=sources))
        return Merged(operations=tuple(operations), by_item=True)

    async def summarise(self, items: Sequence[Item], meter: Meter) -> str:
        """The kept lessons as one text, cut at a sentence's end; a general sentence where none is kept."""
        meter.requests += 1
        kept, _, _ = self._sifted(items)
        lengths = accumulate(len(lesson.split()) for _, lesson in kept)
        said = [lesson for (_, lesson), so_far in zip(kept, lengths, strict=True) if so_far <= self.summary_words]
        return " ".join(said) or "Read a service's notes before calling it."

    def _sifted(self, items: Sequence[Item]) -> tuple[list[tuple[Item, str]], list[tuple[Item, str]], int]:
        """Lessons that are kept and lessons that are lost, each with its item, and the words that the call reads."""
        words = sum(len(item.text.split()) for item in items)
        kept: list[tuple[Item, str]] = []
        lost: list[tuple[Item, str]] = []
        for item in items:
            for lesson in lessons_in(item.text):
                (kept if self._draw("keep", lesson, words) < self.keep(words) else lost).append((item, lesson))
        return kept, lost, words

    def _draw(self, what: str, lesson: str, words: int) -> float:
        """A number in [0, 1) that only the seed, the lesson and the length of the call decide."""
        digest = hashlib.sha256(f"{self.seed}\0{what}\0{lesson}\0{words}".encode()).digest()
        return int.from_bytes(digest[:6]) / 2**48


def lessons_in(text: str) -> list[str]:
    """The sentences that hold a number, without the story around them."""
    return [sentence for sentence in re.split(r"(?<=\.)\s+", text) if re.search(r"\d", sentence)]


@asynccontextmanager
async def simulated_learner(seed: int) -> AsyncIterator[Learner]:
    """Planted lessons, merged by the simulated curator."""
    yield PlantedLearner(SimulatedCurator(seed))
