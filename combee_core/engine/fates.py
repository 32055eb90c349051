"""What became of every lesson: in the prompt, kept by its group and lost above, dropped by its group, or failed.

Read from the stored nodes of one iteration, so that it says the same during a run, after it and years later.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from combee_core.engine.tree import took_effect

Fate = Literal["in_prompt", "lost_above", "dropped", "failed", "waiting"]

# Best first: a reflection copy shows the best that became of any of its lessons.
ORDER: tuple[Fate, ...] = ("in_prompt", "lost_above", "waiting", "dropped", "failed")


@dataclass(frozen=True)
class LessonFate:
    """One lesson, what became of it over all its copies, and the bullets that it stands behind."""

    id: str
    text: str
    trace: str
    reflection: str
    fate: Fate
    bullets: tuple[str, ...]
    by_group: Mapping[str, Fate]


@dataclass(frozen=True)
class CopyFate:
    """One copy of a reflection in one merge of the first level: a square of the figure."""

    reflection: str
    merge: str
    trace: str
    fate: Fate
    lessons: int
    in_prompt: int


def lesson_fates(nodes: Sequence[Mapping[str, Any]]) -> list[LessonFate]:
    """Every lesson of an iteration in plan order; a merge that was given up drops nothing, its lessons wait."""
    merges = [node for node in nodes if node["kind"] != "reflection" and node["output"]]
    bullets, alive = _alive(merges)
    readers = _readers(merges)
    fates = []
    for node in nodes:
        if node["kind"] != "reflection":
            continue
        for lesson in node["output"].get("lessons", ()):
            by_group = {merge["id"]: _fate_in(lesson["id"], merge, alive) for merge in readers[node["id"]]}
            fate: Fate = min(by_group.values(), key=ORDER.index, default="waiting")
            landed = tuple(sorted(bullets[lesson["id"]]))
            fates.append(LessonFate(lesson["id"], lesson["text"], node["trace"], node["id"], fate, landed, by_group))
    return fates


def copy_fates(nodes: Sequence[Mapping[str, Any]]) -> list[CopyFate]:
    """Every reflection copy of an iteration, by group in plan order."""
    of_reflection: dict[str, list[LessonFate]] = defaultdict(list)
    for lesson in lesson_fates(nodes):
        of_reflection[lesson.reflection].append(lesson)
    reflections = {node["id"]: node for node in nodes if node["kind"] == "reflection"}
    copies = []
    for merge in nodes:
        if merge["kind"] == "reflection":
            continue
        inputs = [name for name in merge["inputs"] if name in reflections]
        copies += [_copy(reflections[name], merge["id"], of_reflection[name]) for name in inputs]
    return copies


def _copy(reflection: Mapping[str, Any], merge: str, lessons: Sequence[LessonFate]) -> CopyFate:
    fates = [lesson.by_group.get(merge, "waiting") for lesson in lessons]
    fate: Fate = "failed" if reflection["state"] == "failed" else min(fates, key=ORDER.index, default="dropped")
    return CopyFate(reflection["id"], merge, reflection["trace"], fate, len(fates), fates.count("in_prompt"))


def _readers(merges: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    readers: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for merge in merges:
        for name in merge["inputs"]:
            readers[name].append(merge)
    return readers


def _alive(merges: Sequence[Mapping[str, Any]]) -> tuple[dict[str, set[str]], set[str] | None]:
    """Bullets that each item stands behind, and items that reached the prompt (None: no final merge yet)."""
    bullets: dict[str, set[str]] = defaultdict(set)
    alive: set[str] = set()
    if not any(merge["kind"] == "final" for merge in merges):
        return bullets, None
    for merge in sorted(merges, key=lambda merge: -merge["level"]):
        for row in merge["output"].get("operations", ()):
            if merge["kind"] == "final":
                landed, lives = {row["bullet"]} - {None} if took_effect(row) else set(), took_effect(row)
            else:
                landed, lives = bullets[row["id"]], row["id"] in alive
            if lives:
                alive.update(row["sources"])
                for source in row["sources"]:
                    bullets[source] |= landed
    return bullets, alive


def _fate_in(lesson: str, merge: Mapping[str, Any], alive: set[str] | None) -> Fate:
    citing = [row for row in merge["output"].get("operations", ()) if lesson in row["sources"]]
    if merge["kind"] == "final":
        return "in_prompt" if any(took_effect(row) for row in citing) else "dropped"
    if not citing:
        return "dropped"
    if alive is None:
        return "waiting"
    return "in_prompt" if any(row["id"] in alive for row in citing) else "lost_above"
