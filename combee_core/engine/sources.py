"""Where every bullet comes from: bullet → operation → merge node → reflection → trace, kept with each version."""

from collections.abc import Mapping, Sequence
from typing import Any

from combee_core.engine import tree
from combee_core.engine.iteration import Finished
from combee_core.store.versions import Sources


def kept_lessons(finished: Finished) -> set[str]:
    """Ids of the lessons that some operation of the final merge cites and that took effect."""
    rows = finished.final["operations"]
    return {lesson for row in rows if tree.took_effect(row) for lesson in _lessons(row, finished)}


def held_lessons(finished: Finished) -> set[str]:
    """Ids of the lessons that are held back for the review and not in the prompt by another way."""
    rows = finished.final["operations"]
    return {lesson for row in rows if "held" in row for lesson in _lessons(row, finished)} - kept_lessons(finished)


def sources_after(before: Sources, finished: Finished, run: str, iteration: int, trace_ids: Sequence[str]) -> Sources:
    """Sources of every bullet of the new version; a bullet that was edited keeps those it had."""
    after = {bullet: list(entries) for bullet, entries in before.items()}
    for row in finished.final["operations"]:
        if not tree.took_effect(row):
            continue
        inherited = [entry for bullet in row.get("removed", ()) for entry in after.pop(bullet, [])]
        if row["bullet"] is None:
            continue
        entries = after.setdefault(row["bullet"], [])
        entries += inherited
        entries += _entries(row, finished, run, iteration, trace_ids)
    return {bullet: _distinct(entries) for bullet, entries in after.items()}


def _entries(
    row: Mapping[str, Any], finished: Finished, run: str, iteration: int, trace_ids: Sequence[str]
) -> list[dict[str, Any]]:
    entries = []
    for lesson in sorted(_lessons(row, finished), key=tree.lesson_place):
        index, _ = tree.lesson_place(lesson)
        via = {finished.inputs[source] for source in row["sources"] if lesson in finished.origins[source]}
        reflection = tree.reflection_id(iteration, index)
        entries.append(
            {
                "trace": trace_ids[index],
                "lesson": lesson,
                "reflection": reflection,
                "node": f"i{iteration}.final",
                "via": sorted(via - {reflection}),
                "run": run,
            }
        )
    return entries


def _lessons(row: Mapping[str, Any], finished: Finished) -> set[str]:
    return {lesson for source in row["sources"] for lesson in finished.origins[source]}


def _distinct(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({(entry["run"], entry["reflection"], entry["lesson"]): entry for entry in entries}.values())
