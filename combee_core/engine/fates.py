"""What became of every lesson: in the prompt, held back, handed on to the next batch, lost on its way up, or dropped.

Read from the stored nodes of one iteration, so that it says the same during a run, after it and years later.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from combee_core.engine.tree import took_effect

Fate = Literal["in_prompt", "held", "late", "lost_above", "dropped", "failed", "waiting"]

# Best first: a reflection copy shows the best that became of any of its lessons.
ORDER: tuple[Fate, ...] = ("in_prompt", "held", "late", "lost_above", "waiting", "dropped", "failed")


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
    """Every lesson of an iteration in plan order; a merge that was given up drops nothing, its lessons wait.

    What no merge has read by the end was too late for its groups (quorum): the next batch takes it over.
    """
    merges = [node for node in nodes if node["kind"] != "reflection" and node["output"]]
    bullets, ends = _ends(merges)
    readers = _readers(merges)
    unread: Fate = "waiting" if ends is None else "late"
    fates = []
    for node in nodes:
        if node["kind"] != "reflection":
            continue
        for lesson in node["output"].get("lessons", ()):
            by_group = {merge["id"]: _fate_in(lesson["id"], merge, ends) for merge in readers[node["id"]]}
            fate: Fate = min(by_group.values(), key=ORDER.index, default=unread)
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


def _ends(merges: Sequence[Mapping[str, Any]]) -> tuple[dict[str, set[str]], dict[str, Fate] | None]:
    """Bullets that each item stands behind, and what became of items that were not lost (None: no final merge yet)."""
    bullets: dict[str, set[str]] = defaultdict(set)
    ends: dict[str, Fate] = {}
    if not any(merge["kind"] == "final" for merge in merges):
        return bullets, None
    for merge in sorted(merges, key=lambda merge: -merge["level"]):
        for row in merge["output"].get("operations", ()):
            if merge["kind"] == "final":
                landed, end = {row["bullet"]} - {None} if took_effect(row) else set(), final_fate(row)
            else:
                landed, end = bullets[row["id"]], ends.get(row["id"], "lost_above")
            if end == "lost_above":
                continue
            for source in row["sources"]:
                ends[source] = min(end, ends.get(source, end), key=ORDER.index)
                bullets[source] |= landed
    return bullets, ends


def final_fate(row: Mapping[str, Any]) -> Fate:
    """What became of an operation of the final merge."""
    if "held" in row:
        return "held"
    return "in_prompt" if took_effect(row) else "lost_above"


def _fate_in(lesson: str, merge: Mapping[str, Any], ends: Mapping[str, Fate] | None) -> Fate:
    citing = [row for row in merge["output"].get("operations", ()) if lesson in row["sources"]]
    if merge["kind"] == "final":
        fates = [fate for row in citing if (fate := final_fate(row)) != "lost_above"]
        return min(fates, key=ORDER.index, default="dropped")
    if not citing:
        return "dropped"
    if ends is None:
        return "waiting"
    return min((ends.get(row["id"], "lost_above") for row in citing), key=ORDER.index)
