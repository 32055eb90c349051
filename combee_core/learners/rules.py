"""The offline rules engine: lessons by rules over feedback, errors and corrections; merges by likeness of wording.

No language model is in it and it makes no calls. It is what a newcomer gets before an endpoint is set, so it keeps to
what people and tools have said in the trace, word for word, and invents nothing.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from combee_core.learners.offline.grouping import clarity, clearest, grouped, nearest
from combee_core.learners.offline.likeness import SAME, contradict, likeness, wording
from combee_core.learners.offline.observations import observations
from combee_core.learners.offline.tagging import tags
from combee_core.lesson import Item, Lesson, Reflection
from combee_core.llm.base import Meter
from combee_core.playbook import DEFAULT_SECTION, Bullet, Contradiction, Merged, Operation, Playbook
from combee_core.trace import Trace


class RulesLearner:
    """Reflects and merges without a model; deterministic, and the meter stays at zero."""

    name = "rules"

    async def reflect(self, trace: Trace, playbook: Playbook, meter: Meter) -> Reflection:
        """Lessons that the trace states: feedback, corrections by the user, mended errors, a missed answer."""
        found = observations(trace)
        return Reflection(
            lessons=tuple(Lesson(text=seen.text, section=seen.section, evidence=seen.evidence) for seen in found),
            tags=tags(trace, found, playbook),
            reasoning=""
            if found
            else "The trace states nothing to learn from: no feedback, correction, mended error or missed answer.",
        )

    async def merge(self, items: Sequence[Item], playbook: Playbook, meter: Meter, final: bool) -> Merged:
        """One operation for each group of items that say the same; every item is cited, most supported first."""
        # Many lessons take a while to compare: other calls of the run go on meanwhile.
        return await asyncio.to_thread(_merged, items, playbook)


def _merged(items: Sequence[Item], playbook: Playbook) -> Merged:
    new: list[Sequence[Item]] = []
    known: dict[str, list[Item]] = {}
    for group in _groups([item for item in items if item.kind == "ADD" and _has_words(item)]):
        bullet = _said_already(group, playbook)
        if bullet is None:
            new.append(group)
        else:
            known.setdefault(bullet.id, []).extend(group)
    for item in items:
        if item.kind == "UPDATE":
            known.setdefault(item.bullets[0], []).append(item)
    new.sort(key=lambda group: -sum(item.support for item in group))
    updates = [_update(bullet, group, playbook) for bullet, group in known.items()]
    return Merged(
        operations=(*_passed_on(items), *updates, *map(_add, new)),
        contradictions=tuple(_contradictions([*known.values(), *new])),
    )


def _contradictions(groups: Sequence[Sequence[Item]]) -> Iterator[Contradiction]:
    """Pairs of groups about one thing of which one forbids what the other demands, or sets it to another value."""
    texts = [wording(_best(group)) for group in groups]
    for (left, one), (right, other) in combinations(enumerate(texts), 2):
        if contradict(one, other) and likeness(one, other) >= SAME:
            yield Contradiction(sources=(groups[left][0].id, groups[right][0].id))


def _has_words(item: Item) -> bool:
    return any(letter.isalnum() for letter in item.text)


def _groups(items: Sequence[Item]) -> list[list[Item]]:
    return [[items[index] for index in group] for group in grouped([item.text for item in items])]


def _passed_on(items: Sequence[Item]) -> list[Operation]:
    """Merges and deletions of bullets as the groups proposed them, equal ones once."""
    same: dict[tuple[str, tuple[str, ...], str], list[str]] = {}
    for item in items:
        if item.kind in ("MERGE", "DELETE"):
            same.setdefault((item.kind, item.bullets, item.text), []).append(item.id)
    return [
        Operation.model_validate({"kind": kind, "bullets": bullets, "content": text, "sources": ids})
        for (kind, bullets, text), ids in same.items()
    ]


def _add(group: Sequence[Item]) -> Operation:
    sections = Counter(item.section for item in group for _ in range(item.support) if item.section)
    return Operation(
        kind="ADD",
        section=sections.most_common(1)[0][0] if sections else DEFAULT_SECTION,
        content=_best(group),
        sources=tuple(item.id for item in group),
    )


def _update(bullet_id: str, group: Sequence[Item], playbook: Playbook) -> Operation:
    """The bullet as it is, so that the items count for it; with the group's wording where that has more to say."""
    bullet, better = playbook.get(bullet_id), _best(group)
    keeps = bullet is not None and not _adds(better, bullet)
    content = bullet.content if keeps and bullet is not None else better
    return Operation(kind="UPDATE", bullets=(bullet_id,), content=content, sources=tuple(item.id for item in group))


def _best(group: Sequence[Item]) -> str:
    return group[clearest([item.text for item in group], [item.support for item in group])].text


def _adds(text: str, bullet: Bullet) -> bool:
    """Whether a wording names all that a bullet names and more, and is as clear."""
    return wording(text).names > wording(bullet.content).names and clarity(text) >= clarity(bullet.content)


def _said_already(group: Sequence[Item], playbook: Playbook) -> Bullet | None:
    match = nearest(_best(group), [bullet.content for bullet in playbook.bullets])
    return None if match is None else playbook.bullets[match]
