"""Which reflection copies meet in which merge: augmented shuffling and the plan of the merge tree.

Pure arithmetic on item numbers. This module does not know what the items say, who merges them or when.
Source: arXiv 2604.04247, parallel scan aggregation and augmented shuffling.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import isqrt
from random import Random
from typing import Literal

from pydantic import BaseModel, ConfigDict

Shuffle = Literal["apart", "plain", "none"]
Step = Literal["merge", "selection", "summary"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Merge(_Frozen):
    """One step that makes one output of several inputs.

    `level` counts from 1, `group` from 0 within the level. `inputs` are item numbers (from 0) on level 1, and group
    numbers of the level below on every higher level. `kind` says what is done with them: merged into operations,
    `keep` of them passed on as they are (a selection), or written up as one text (a summary).
    """

    level: int
    group: int
    inputs: tuple[int, ...]
    kind: Step = "merge"
    keep: int | None = None


class TreePlan(_Frozen):
    """Every merge of one iteration over `items` reflections.

    `levels[0]` holds the merges of level 1; the last level holds one merge, the final one.
    """

    items: int
    levels: tuple[tuple[Merge, ...], ...]

    @property
    def final(self) -> Merge:
        """The merge whose output is the update of the playbook."""
        return self.levels[-1][0]


def plan(
    n: int,
    copies: int = 2,
    groups: int | None = None,
    seed: int = 0,
    shuffle: Shuffle = "apart",
    fan_in: int | None = None,
) -> TreePlan:
    """Plan the merge tree for n reflections: the same arguments give the same plan, on every machine.

    `groups` is the number of merges on level 1, by default the paper's floor(sqrt(n)), or one when n < 4. One group is
    the final merge itself, and as copies would only meet themselves there, it gets each reflection once.
    `copies` is the paper's p; `shuffle` is explained at `augment`.

    No merge above level 1 has more than `fan_in` inputs, by default floor(sqrt(n)) * copies: levels are added between
    the groups and the final merge as needed, which the paper's own number of groups never is. How much a merge of level
    1 reads is up to `groups` and `copies`, about n * copies / groups reflections.

    Raises `ValueError`, in one sentence, for an argument that allows no plan.
    """
    if n < 1:
        raise ValueError(f"A merge needs at least 1 reflection, not {n}.")
    if fan_in is not None and fan_in < 2:
        raise ValueError(f"A merge needs a fan-in of at least 2, not {fan_in}.")
    if groups is None:
        groups = isqrt(n) if n >= 4 else 1
    dealt = augment(n, copies if groups != 1 else min(copies, 1), groups, seed, shuffle)
    return TreePlan(items=n, levels=tuple(levels_up([level_of(1, dealt)], fan_in or max(2, isqrt(n) * copies))))


def levels_up(levels: Sequence[tuple[Merge, ...]], fan_in: int | None) -> list[tuple[Merge, ...]]:
    """Add levels of merges of at most `fan_in` neighbours (None: of all) until the last level holds one merge."""
    levels = list(levels)
    while len(levels[-1]) > 1:
        levels.append(level_of(len(levels) + 1, _bundle(len(levels[-1]), fan_in), levels[-1][0].kind))
    return levels


def extended(plan: TreePlan, extras: int) -> TreePlan:
    """The same plan with so many further items, numbered after its own, dealt to the steps of level 1 in turn."""
    first = plan.levels[0]
    fuller = tuple(
        step.model_copy(
            update={"inputs": step.inputs + tuple(range(plan.items + step.group, plan.items + extras, len(first)))}
        )
        for step in first
    )
    return TreePlan(items=plan.items + extras, levels=(fuller, *plan.levels[1:]))


def level_of(level: int, inputs: Iterable[tuple[int, ...]], kind: Step = "merge") -> tuple[Merge, ...]:
    """The steps of one level, one for each of the `inputs`."""
    return tuple(Merge(level=level, group=group, inputs=numbers, kind=kind) for group, numbers in enumerate(inputs))


def augment(n: int, copies: int, groups: int, seed: int, shuffle: Shuffle = "apart") -> tuple[tuple[int, ...], ...]:
    """Deal `copies` copies of the items 0..n-1 to `groups` groups whose sizes differ by at most one.

    Copies of one item land in different groups as long as there are groups enough; with more copies than groups, each
    group gets as many copies of an item as any other, give or take one. The `shuffle` plain is the paper's instead:
    all copies are shuffled and dealt out in order, so that copies of one item may meet in a group. None is no shuffle
    at all: neighbours stay together, all items once, then all of them again.

    Raises `ValueError`, in one sentence, unless n >= 1, copies >= 1 and 1 <= groups <= n.
    """
    if n < 1:
        raise ValueError(f"There must be at least 1 item to deal, not {n}.")
    if copies < 1:
        raise ValueError(f"There must be at least 1 copy of each reflection, not {copies}.")
    if not 1 <= groups <= n:
        raise ValueError(f"The number of groups must be between 1 and {n}, the number of reflections, not {groups}.")
    rng = Random(seed)
    deal = {"apart": _deal_apart, "plain": _deal_plainly, "none": _deal_in_order}[shuffle]
    return tuple(map(tuple, deal(n, copies, groups, rng)))


def describe(plan: TreePlan) -> str:
    """The plan in one line, such as "64 reflections → 8 groups of 16 copies → 1 final merge"."""
    steps = [_count(plan.items, "reflection")]
    copied = sum(len(merge.inputs) for merge in plan.levels[0]) > plan.items
    unit = "copy" if copied else "reflection"
    for level in plan.levels[:-1]:
        name = _name_of(level)
        steps.append(
            f"selection of {level[0].keep:,} at most"
            if level[0].kind == "selection"
            else f"{_count(len(level), name)} of {_sizes(level, unit)}"
        )
        unit = name
    return " → ".join([*steps, "1 final merge"])


def _name_of(level: tuple[Merge, ...]) -> str:
    """What people call one step of a level."""
    if level[0].kind == "merge":
        return "group" if level[0].level == 1 else "merge"
    return level[0].kind


def _deal_plainly(n: int, copies: int, groups: int, rng: Random) -> list[list[int]]:
    cards = list(range(n)) * copies
    rng.shuffle(cards)
    return [cards[group::groups] for group in range(groups)]


def _deal_in_order(n: int, copies: int, groups: int, rng: Random) -> list[list[int]]:
    edges = _edges(n * copies, groups)
    return [[card % n for card in range(start, end)] for start, end in pairwise(edges)]


def _deal_apart(n: int, copies: int, groups: int, rng: Random) -> list[list[int]]:
    """Items in random order draw their groups from a shuffled deck that holds every group once.

    A deck is drawn to its end before the next one is shuffled, which keeps the sizes even. An item that draws from the
    end of one deck and the start of the next does not draw a group twice, and as each deck is shuffled anew, two items
    that met in one group are no likelier than others to meet in a second one.
    """
    everywhere, drawn = divmod(copies, groups)
    in_every_group = list(range(n)) * everywhere
    dealt = [in_every_group.copy() for _ in range(groups)]
    order = list(range(n))
    rng.shuffle(order)
    deck: list[int] = []
    for item in order:
        hand = [deck.pop() for _ in range(min(drawn, len(deck)))]
        if missing := drawn - len(hand):
            fresh = [group for group in range(groups) if group not in hand]
            rng.shuffle(fresh)
            deck = hand + fresh[missing:]
            rng.shuffle(deck)
            hand = hand + fresh[:missing]
        for group in hand:
            dealt[group].append(item)
    for inputs in dealt:
        rng.shuffle(inputs)
    return dealt


def _bundle(count: int, fan_in: int | None) -> list[tuple[int, ...]]:
    """Neighbours 0..count-1 in as few bundles of at most `fan_in` as possible, their sizes differing by at most one."""
    bundles = -(-count // fan_in) if fan_in else 1
    return [tuple(range(start, end)) for start, end in pairwise(_edges(count, bundles))]


def _edges(count: int, parts: int) -> list[int]:
    """Where parts of 0..count begin and end, their sizes differing by at most one."""
    return [index * count // parts for index in range(parts + 1)]


def _sizes(level: tuple[Merge, ...], unit: str) -> str:
    sizes = [len(merge.inputs) for merge in level]
    least, most = min(sizes), max(sizes)
    return _count(most, unit) if least == most else f"{least}–{_count(most, unit)}"


def _count(number: int, unit: str) -> str:
    plural = {"copy": "copies", "summary": "summaries"}.get(unit, f"{unit}s")
    return f"{number:,} {unit if number == 1 else plural}"
