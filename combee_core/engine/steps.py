"""What a step of a strategy does that is no merge: a selection of its items, or a summary of them."""

import asyncio
from collections.abc import Sequence

from combee_core.engine.tree import carried
from combee_core.errors import CombeeError
from combee_core.learners.base import Learner, Summariser
from combee_core.lesson import Item
from combee_core.llm.base import Meter
from combee_core.playbook import Merged, Operation
from combee_core.scan import Merge
from combee_core.strategies import representatives


async def take_step(step: Merge, items: Sequence[Item], learner: Learner, seed: int, meter: Meter) -> Merged:
    """The items of the step that go on, as operations that cite what they stand for.

    A selection passes items on as they are and asks no model. A summary is one text that stands for every item it was
    written from: which of them it really says is nowhere on record. Raises CallFailed when no summary came, CombeeError
    when the learner writes none.
    """
    if not items:
        return Merged()
    if step.kind == "selection":
        texts = [item.text for item in items]
        chosen = await asyncio.to_thread(representatives, texts, step.keep or len(items), seed)
        return Merged(operations=carried([items[index] for index in chosen]))
    if not isinstance(learner, Summariser):
        raise CombeeError(f"{learner.name} writes no summaries: choose another strategy, or set an endpoint.")
    text = await learner.summarise(items, meter)
    return Merged(operations=(Operation(kind="ADD", content=text, sources=tuple(item.id for item in items)),))
