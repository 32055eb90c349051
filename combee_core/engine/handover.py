"""What an iteration hands on to the next: reflections that were late for it, and lessons that get a second chance.

Read from what is on record, so that a resumed run hands on the very same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from combee_core.engine import tree
from combee_core.engine.fates import lesson_fates

Nodes = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Adopted:
    """The reflection `node` of an earlier iteration on the trace `trace`, as a later iteration takes it over.

    With `lessons`, these of its lessons get a second chance; without, all of it was too late for its own iteration.
    """

    node: str
    trace: str
    lessons: tuple[str, ...] | None = None

    @property
    def iteration(self) -> int:
        """The iteration that the reflection is of."""
        return tree.iteration_of(self.node)

    def output(self, index: int, found: Mapping[str, Any]) -> dict[str, Any]:
        """What it says, under the names of the batch's reflection number `index`; tags count for one iteration only."""
        rows = [row for row in found["lessons"] if self.lessons is None or row["id"] in self.lessons]
        again = self.lessons is not None
        return {
            "lessons": [row | {"id": tree.lesson_id(index, number)} for number, row in enumerate(rows, 1)],
            "tags": {} if again else found["tags"],
            "reasoning": found["reasoning"],
            "adopted": self.node,
            "second_chance": again,
        }


def late_for(iteration: int, trace_ids: Sequence[str], adopted: Sequence[Adopted], nodes: Nodes) -> list[Adopted]:
    """The reflections of an iteration that none of its merges has read; one that is late again keeps its first name."""
    read = {name for node in nodes if node["kind"] != "reflection" for name in node["inputs"]}
    own = [Adopted(tree.reflection_id(iteration, index), trace) for index, trace in enumerate(trace_ids)]
    return [one for index, one in enumerate([*own, *adopted]) if tree.reflection_id(iteration, index) not in read]


def second_chances(nodes: Nodes) -> list[Adopted]:
    """The lessons of an iteration that no merge took up, by reflection, but for those that had their second chance."""
    lost: dict[tuple[str, str], list[str]] = {}
    had_it = {node["id"] for node in nodes if node["output"].get("second_chance")}
    for lesson in lesson_fates(nodes):
        if lesson.fate in ("dropped", "lost_above") and lesson.reflection not in had_it:
            lost.setdefault((lesson.reflection, lesson.trace), []).append(lesson.id)
    return [Adopted(node, trace, tuple(lessons)) for (node, trace), lessons in lost.items()]
