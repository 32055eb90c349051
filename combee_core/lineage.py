"""The merge tree of one iteration as a family tree: from an item down to its lessons, and to where they came from."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from combee_core.engine.fates import LessonFate, lesson_fates
from combee_core.engine.tree import lesson_place, reflection_id


class Lineage:
    """Nodes of one iteration of a run, as they are stored."""

    def __init__(self, run: str, iteration: int, nodes: Sequence[Mapping[str, Any]]) -> None:
        self.run, self.iteration, self.nodes = run, iteration, nodes
        self._trace_of = {node["id"]: node["trace"] for node in nodes}
        self._below = {row["id"]: row["sources"] for node in nodes for row in node["output"].get("operations", ())}

    @cached_property
    def fates(self) -> Mapping[str, LessonFate]:
        """What became of each lesson."""
        return {lesson.id: lesson for lesson in lesson_fates(self.nodes)}

    @cached_property
    def lessons(self) -> Mapping[str, Mapping[str, Any]]:
        """Lessons as their reflections have put them out."""
        return {lesson["id"]: lesson for node in self.nodes for lesson in node["output"].get("lessons", ())}

    @cached_property
    def operations(self) -> Mapping[str, Mapping[str, Any]]:
        """Operations of all merges."""
        return {row["id"]: row for node in self.nodes for row in node["output"].get("operations", ())}

    def under(self, items: Iterable[str]) -> set[str]:
        """The lessons that items of a merge stand for: an item is a lesson itself or an operation of a merge below."""
        lessons: set[str] = set()
        for item in items:
            lessons |= self.under(self._below[item]) if item in self._below else {item}
        return lessons

    def sources(self, lessons: Iterable[str], node: str | None = None) -> list[dict[str, Any]]:
        """Where lessons come from, in the shape in which a version keeps the sources of its bullets.

        `node` is the merge that they went into; without one, each goes from its reflection straight to the reviewer.
        """
        entries = []
        for lesson in sorted(lessons, key=lesson_place):
            reflection = reflection_id(self.iteration, lesson_place(lesson)[0])
            entry = {"trace": self._trace_of[reflection], "lesson": lesson, "reflection": reflection}
            entries.append(entry | {"node": node or reflection, "via": self._via(lesson), "run": self.run})
        return entries

    def _via(self, lesson: str) -> list[str]:
        """The groups that have passed a lesson up."""
        by_group = self.fates[lesson].by_group if lesson in self.fates else {}
        return sorted(group for group, fate in by_group.items() if fate != "dropped" and group not in self._finals)

    @cached_property
    def _finals(self) -> set[str]:
        return {node["id"] for node in self.nodes if node["kind"] == "final"}
