"""Contradictions that merges have reported, as they stand in a version: each side with its bullet or without one."""

from collections.abc import Mapping, Sequence
from typing import Any

from rapidfuzz import fuzz

from combee_core.lineage import Lineage
from combee_core.playbook import section_name
from combee_core.proposals.model import Proposal, Side
from combee_core.store.versions import Version


def contradictions(lineages: Sequence[Lineage], version: Version) -> list[Proposal]:
    """One proposal for each disagreement, the newest and highest merges first.

    Several merges may report the same one, as copies of a lesson go to several groups: it is offered once.
    """
    found: list[Proposal] = []
    taken: list[list[frozenset[str]]] = []
    for lineage in reversed(lineages):
        for node in sorted(lineage.nodes, key=lambda node: (-node["level"], node["place"])):
            for number, row in enumerate(node["output"].get("contradictions", ()), 1):
                sides = _sides(row, lineage, version)
                marks = [_marks(side) for side in sides]
                if len(sides) > 1 and not any(_same(marks, other) for other in taken):
                    taken.append(marks)
                    found.append(Proposal(f"{node['id']}.c{number}", "contradiction", sides, row["about"]))
    return found


def _sides(row: Mapping[str, Any], lineage: Lineage, version: Version) -> tuple[Side, ...]:
    sides = [_side_of_item(item, lineage, version) for item in row["sources"]]
    sides += [
        Side(bullet.content, bullet.section, tuple(version.sources.get(bullet.id, ())), bullet.id)
        for name in row["bullets"]
        if (bullet := version.playbook.get(name))
    ]
    places = {side.bullet for side in sides}
    if len(places) == 1 and None not in places:
        return tuple(sides)
    by_place: dict[str, Side] = {}
    for number, side in enumerate(sides):
        place = side.bullet or f"lost {number}"
        bullet = version.playbook.get(place)
        text = bullet.content if bullet else side.text
        earlier = by_place[place].sources if place in by_place else ()
        by_place[place] = Side(text, side.section, earlier or side.sources, side.bullet)
    return tuple(by_place.values())


def _side_of_item(item: str, lineage: Lineage, version: Version) -> Side:
    """An item of a merge with the bullet that it landed on; of several, the one that is worded most like it."""
    lessons = lineage.under([item])
    row = lineage.operations.get(item) or lineage.lessons[item]
    text = row.get("content") or row.get("text", "")
    landed = {name for lesson in lessons for name in lineage.fates[lesson].bullets}
    bullets = [bullet for name in sorted(landed) if (bullet := version.playbook.get(name))]
    if not bullets:
        return Side(text, section_name(row["section"], version.playbook), tuple(lineage.sources(lessons)))
    bullet = max(bullets, key=lambda bullet: fuzz.token_sort_ratio(bullet.content, text))
    return Side(text, bullet.section, tuple(lineage.sources(lessons)), bullet.id)


def _marks(side: Side) -> frozenset[str]:
    """What tells that two sides are the same: their bullet, and their lessons."""
    lessons = {f"{entry['run']}:{entry['reflection']}:{entry['lesson']}" for entry in side.sources}
    return frozenset(lessons | ({side.bullet} if side.bullet else set()))


def _same(marks: Sequence[frozenset[str]], other: Sequence[frozenset[str]]) -> bool:
    """Whether each side of the smaller meets a side of its own of the other."""
    small, large = sorted((marks, other), key=len)
    left = list(large)
    for side in small:
        match = next((candidate for candidate in left if candidate & side), None)
        if match is None:
            return False
        left.remove(match)
    return True
