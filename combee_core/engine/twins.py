"""Items of a merge that say the same: folded into one before the merge, so that copies do not crowd the lessons out.

Augmented shuffling (as the paper calls it) sends each lesson to several groups; what comes back up is full of twins.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
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
    seen = _Seen(compare=len(items) <= MOST_COMPARED)
    for item in items:
        found = _Kept(item, phrase(item.text), origins[item.id], [])
        twin = seen.twin_of(found) if item.kind == "ADD" else None
        if twin is None:
            kept.append(found)
            if item.kind == "ADD":
                seen.add(found)
        else:
            twin.members.append(item.id)
    return Folded(
        tuple(_with_support(entry, origins, trace_of) for entry in kept),
        {entry.item.id: tuple(entry.members) for entry in kept if entry.members},
    )


class _Seen:
    """Kept additions by what twins have in common, so that an item is not held against every other one."""

    def __init__(self, compare: bool) -> None:
        self._compare = compare
        self._kept: list[_Kept] = []
        self._by_facts: dict[frozenset[str], list[int]] = defaultdict(list)
        self._first: dict[Hashable, int] = {}

    def add(self, kept: _Kept) -> None:
        number = len(self._kept)
        self._kept.append(kept)
        self._by_facts[kept.phrase.facts].append(number)
        for name in _names(kept):
            self._first.setdefault(name, number)

    def twin_of(self, found: _Kept) -> _Kept | None:
        """The first that says the same."""
        numbers = [self._first[name] for name in _names(found) if name in self._first]
        if self._compare:
            near = (n for n in self._by_facts[found.phrase.facts] if alike(found.phrase, self._kept[n].phrase))
            numbers += [first] if (first := next(near, None)) is not None else []
        return self._kept[min(numbers)] if numbers else None


def _names(entry: _Kept) -> Iterator[Hashable]:
    """What only twins have in common: equal words, and one and the same lesson behind them."""
    yield entry.phrase
    if len(entry.lessons) == 1:
        yield entry.phrase.facts, entry.lessons


def _with_support(entry: _Kept, origins: Mapping[str, frozenset[str]], trace_of: Mapping[str, str]) -> Item:
    if not entry.members:
        return entry.item
    lessons = entry.lessons.union(*(origins[member] for member in entry.members))
    return entry.item.model_copy(update={"support": max(1, len({trace_of[lesson] for lesson in lessons}))})
