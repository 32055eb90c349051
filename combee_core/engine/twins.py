"""Items of a merge that say the same: folded into one before the merge, so that copies do not crowd the lessons out.

Augmented shuffling (as the paper calls it) sends each lesson to several groups; what comes back up is full of twins.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from combee_core.alike import Phrase, alike, phrase
from combee_core.lesson import Item

# Comparing all pairs of more items than this would hold up the event loop; equal words and equal lessons still fold.
MOST_COMPARED = 600


class Folded(NamedTuple):
    """Items with twins folded in, and for each kept item the ids of the items that it stands for beside itself."""

    items: tuple[Item, ...]
    twins: dict[str, tuple[str, ...]]


class _Kept(NamedTuple):
    item: Item
    phrase: Phrase
    lessons: frozenset[str]
    members: list[str]


def fold_twins(items: Sequence[Item], origins: Mapping[str, frozenset[str]], trace_of: Mapping[str, str]) -> Folded:
    """Fold items of the same lessons or nearly the same words into the first of them; their support adds up.

    Only plain additions fold. Texts with different numbers or names are never twins. `origins` gives the lessons
    behind each item, `trace_of` the trace of each lesson.
    """
    kept: list[_Kept] = []
    for item in items:
        found = _Kept(item, phrase(item.text), origins[item.id], [])
        twin = None if item.kind != "ADD" else next((other for other in kept if _same(found, other, len(items))), None)
        if twin is None:
            kept.append(found)
        else:
            twin.members.append(item.id)
    return Folded(
        tuple(_with_support(entry, origins, trace_of) for entry in kept),
        {entry.item.id: tuple(entry.members) for entry in kept if entry.members},
    )


def _same(found: _Kept, other: _Kept, count: int) -> bool:
    if other.item.kind != "ADD" or found.phrase.facts != other.phrase.facts:
        return False
    if found.phrase == other.phrase or (found.lessons and found.lessons == other.lessons and len(found.lessons) == 1):
        return True
    return count <= MOST_COMPARED and alike(found.phrase, other.phrase)


def _with_support(entry: _Kept, origins: Mapping[str, frozenset[str]], trace_of: Mapping[str, str]) -> Item:
    if not entry.members:
        return entry.item
    lessons = entry.lessons.union(*(origins[member] for member in entry.members))
    return entry.item.model_copy(update={"support": max(1, len({trace_of[lesson] for lesson in lessons}))})
