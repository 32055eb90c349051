"""Cuts the items of a merge into parts that fit into one call each; the same items and bounds give the same parts.

Tokens are estimated from characters with a ratio that is given, never with one that is learnt meanwhile: what a tree
becomes must not depend on which call came back first, or on the day.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import floor

from combee_core.lesson import Item

# What a prompt says of an item beside its id and text: brackets, the line's end, a note on its support.
CHARS_AROUND_ITEM = 32
# Items get at least this share of the budget, however long the playbook before them has become.
LEAST_SHARE = 0.25


def room_for_items(budget: int, chars_a_token: float, other_chars: int) -> int:
    """Characters that the items of one merge may have, when `budget` tokens hold them and `other_chars` more."""
    return floor(max(budget * chars_a_token - other_chars, LEAST_SHARE * budget * chars_a_token))


def size(items: Sequence[Item]) -> int:
    """Characters that items take in a prompt."""
    return sum(len(item.id) + len(item.text) + CHARS_AROUND_ITEM for item in items)


def parts_of(items: Sequence[Item], node_of: Mapping[str, str], room: int) -> list[tuple[Item, ...]]:
    """Consecutive parts of about the same size, as few as fit into `room` characters each; one part when all fit.

    What came from one node (`node_of` by item id) stays together unless it alone passes the room. An item that alone
    passes it is a part of its own.
    """
    blocks = [tuple(block) for _, block in groupby(items, key=lambda item: node_of[item.id])]
    units = [unit for block in blocks for unit in ([block] if size(block) <= room else [(item,) for item in block])]
    weights = [size(unit) for unit in units]
    for number in range(max(1, -(-sum(weights) // max(1, room))), len(units)):
        cuts = _cuts(weights, number)
        found = [units[start:end] for start, end in zip([0, *cuts], [*cuts, len(units)], strict=True) if start < end]
        parts = [tuple(item for unit in part for item in unit) for part in found]
        if all(size(part) <= room or len(part) == 1 for part in parts):
            return parts
    return units if units and sum(weights) > room else [tuple(items)]


def _cuts(weights: Sequence[int], parts: int) -> list[int]:
    """Places between the units nearest to equal shares of the weight."""
    cuts: list[int] = []
    before, total = 0, sum(weights)
    for place, weight in enumerate(weights):
        while len(cuts) < parts - 1 and 2 * before + weight >= 2 * total * (len(cuts) + 1) / parts:
            cuts.append(place)
        before += weight
    return cuts + [len(weights)] * (parts - 1 - len(cuts))
