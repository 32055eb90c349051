"""Lessons that ended nowhere, and those that are held back because too few traces stand behind them."""

from collections.abc import Iterable, Sequence

from combee_core.alike import Twins, grouped
from combee_core.engine.fates import Fate
from combee_core.lineage import Lineage
from combee_core.playbook import Playbook, section_name
from combee_core.proposals.model import Kind, Proposal, Side

_GONE: tuple[Fate, ...] = ("lost_above", "dropped")


def held_back(lineages: Sequence[Lineage], playbook: Playbook, elsewhere: Iterable[str]) -> list[Proposal]:
    """Bullets that the final merges wanted to add and that `min_support` has kept out.

    Left out are those that a bullet or one of the texts `elsewhere` says in other words.
    """
    found = []
    for lineage in lineages:
        for node in lineage.nodes:
            rows = node["output"].get("operations", ()) if node["kind"] == "final" else ()
            for row in rows:
                if "held" in row:
                    sources = lineage.sources(lineage.under(row["sources"]), node["id"])
                    section = section_name(row["section"], playbook)
                    found.append((f"i{lineage.iteration}.{row['id']}", Side(row["content"], section, tuple(sources))))
    return _offered("held_back", found, playbook, elsewhere)


def not_taken_up(lineages: Sequence[Lineage], playbook: Playbook, elsewhere: Iterable[str]) -> list[Proposal]:
    """Lessons of which no copy reached the prompt.

    Left out are those that a bullet, a lesson in the prompt or one of the texts `elsewhere` says in other words.
    """
    found, kept = [], list(elsewhere)
    for lineage in lineages:
        kept += [lesson.text for lesson in lineage.fates.values() if lesson.fate not in _GONE]
        for lesson in lineage.fates.values():
            if lesson.fate in _GONE:
                section = section_name(lineage.lessons[lesson.id].get("section", ""), playbook)
                side = Side(lesson.text, section, tuple(lineage.sources([lesson.id])))
                found.append((f"i{lineage.iteration}.{lesson.id}", side))
    return _offered("not_taken_up", found, playbook, kept)


def _offered(
    kind: Kind, found: Sequence[tuple[str, Side]], playbook: Playbook, elsewhere: Iterable[str]
) -> list[Proposal]:
    """Twins as one proposal with the sources of all, most supported first; nothing that is said somewhere already."""
    said = Twins()
    for text in (*(bullet.content for bullet in playbook.bullets), *elsewhere):
        said.add(text)
    new = [(name, side) for name, side in found if side.text.strip() and said.find(side.text) is None]
    offered = []
    for group in grouped([side.text for _, side in new]):
        name, first = new[group[0]]
        sources = tuple(entry for index in group for entry in new[index][1].sources)
        section = next((new[index][1].section for index in group if new[index][1].section), "")
        offered.append(Proposal(name, kind, (Side(first.text, section, sources),)))
    return sorted(offered, key=lambda proposal: -proposal.sides[0].support)
