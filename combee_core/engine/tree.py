"""Names, inputs and outputs of the nodes of one iteration's merge tree.

Node ids (`i1.r12`, `i1.m1.3`, `i1.final`) and item ids (`r12-1`, `m1-3-2`) come from the plan alone, so that prompts
and playbooks do not depend on which run, day or machine made them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rapidfuzz import fuzz, process

from combee_core.lesson import Item, Reflection
from combee_core.playbook import Merged, Operation
from combee_core.scan import Merge, TreePlan

# How much of its words an operation must share with an item to have been written from it.
RECOVERED_FROM = 85.0


def reflection_id(iteration: int, index: int) -> str:
    """Node id of the reflection on the batch's trace number `index` (from 0)."""
    return f"i{iteration}.r{index + 1}"


def merge_id(iteration: int, merge: Merge, final: bool) -> str:
    """Node id of a group merge or of the final merge."""
    return f"i{iteration}.final" if final else f"i{iteration}.m{merge.level}.{merge.group + 1}"


def part_id(iteration: int, merge: Merge, number: int) -> str:
    """Node id of a part (from 1) of a merge that is too much for one call."""
    return f"{merge_id(iteration, merge, final=False)}p{number}"


def is_part(node: str) -> bool:
    """Whether a node is a part of a merge that was too much for one call."""
    return "p" in node


def iteration_of(node: str) -> int:
    """The iteration that a node is of."""
    return int(node.removeprefix("i").split(".")[0])


def item_prefix(merge: Merge, part: int = 0) -> str:
    """What the ids of a merge's items begin with; a part of it (from 1) has items of its own."""
    return f"m{merge.level}-{merge.group + 1}{f'p{part}' if part else ''}"


def input_ids(iteration: int, merge: Merge) -> tuple[str, ...]:
    """Node ids of what a merge takes in, each once, in plan order."""
    if merge.level == 1:
        names = (reflection_id(iteration, index) for index in merge.inputs)
    else:
        names = (f"i{iteration}.m{merge.level - 1}.{group + 1}" for group in merge.inputs)
    return tuple(dict.fromkeys(names))


def lesson_id(index: int, number: int) -> str:
    """Item id of a lesson: `number` (from 1) of the reflection on the batch's trace number `index` (from 0)."""
    return f"r{index + 1}-{number}"


def lesson_place(lesson: str) -> tuple[int, int]:
    """Index of the reflection in its batch (from 0) and number within the reflection, of a lesson such as `r12-1`."""
    index, number = lesson.removeprefix("r").split("-")
    return int(index) - 1, int(number)


def issue_order(plan: TreePlan) -> list[int]:
    """Indexes of the reflections in the order in which the groups need them."""
    return list(dict.fromkeys(index for merge in plan.levels[0] for index in merge.inputs))


@dataclass(frozen=True)
class NodeResult:
    """What a node hands up: its items, and for each item the ids of the lessons that it stands for."""

    node: str
    items: tuple[Item, ...]
    origins: Mapping[str, frozenset[str]]


def reflection_output(index: int, reflection: Reflection) -> dict[str, Any]:
    """A reflection as it is kept: lessons with their item ids, tags, reasoning."""
    lessons = [
        {"id": lesson_id(index, number)} | lesson.model_dump() for number, lesson in enumerate(reflection.lessons, 1)
    ]
    return {"lessons": lessons, "tags": dict(reflection.tags), "reasoning": reflection.reasoning}


def reflection_result(node: str, output: Mapping[str, Any]) -> NodeResult:
    """The items that a kept reflection hands to its groups."""
    items = tuple(Item(id=lesson["id"], text=lesson["text"], section=lesson["section"]) for lesson in output["lessons"])
    return NodeResult(node, items, {item.id: frozenset([item.id]) for item in items})


def merge_output(
    prefix: str,
    items: Sequence[Item],
    twins: Mapping[str, Sequence[str]],
    merged: Merged,
    land: Callable[[list[dict[str, Any]]], object] | None = None,
) -> dict[str, Any]:
    """A merge as it is kept: operations with checked sources, items that none cites, contradictions.

    Ids of operations begin with `prefix`. Who cites an item cites its twins, too. Sources that do not exist are
    dropped; an operation that is left without any gets those that its text shows (`recovered`). For the final merge,
    `land` writes into each operation which bullet it landed on, or why it was not applied.
    """
    known = {item.id for item in items}
    rows: list[dict[str, Any]] = []
    for number, operation in enumerate(merged.operations, 1):
        cited = [source for source in dict.fromkeys(operation.sources) if source in known]
        recovered = [] if cited else _recovered(operation, items)
        sources = tuple(name for source in cited or recovered for name in (source, *twins.get(source, ())))
        row = {"id": f"{prefix}-{number}"} | operation.model_dump() | {"sources": sources}
        row["invented"] = sorted(set(operation.sources) - known)
        row["recovered"] = bool(recovered)
        rows.append(row)
    if land is not None:
        land(rows)
    kept = {source for row in rows if took_effect(row) or "held" in row for source in row["sources"]}
    everything = [name for item in items for name in (item.id, *twins.get(item.id, ()))]
    return {
        "operations": rows,
        "dropped": [name for name in everything if name not in kept],
        "contradictions": _contradictions(merged, known),
    }


def _contradictions(merged: Merged, known: set[str]) -> list[dict[str, Any]]:
    """The reported contradictions that name at least two things which the merge was given."""
    rows = [
        found.model_dump() | {"sources": [source for source in dict.fromkeys(found.sources) if source in known]}
        for found in merged.contradictions
    ]
    return [row for row in rows if row["sources"] and len(row["sources"]) + len(row["bullets"]) > 1]


def _recovered(operation: Operation, items: Sequence[Item]) -> list[str]:
    """The items that an operation was plainly written from although it cites none."""
    texts = {item.id: item.text for item in items}
    found = process.extract(operation.content, texts, scorer=fuzz.token_set_ratio, score_cutoff=RECOVERED_FROM, limit=3)
    return [name for _, _, name in found] if operation.content else []


def took_effect(row: Mapping[str, Any]) -> bool:
    """Whether a kept operation keeps the items it cites: it was applied, or its text was in the prompt already."""
    return "held" not in row and ("rejected" not in row or row["bullet"] is not None)


def merge_result(
    node: str, output: Mapping[str, Any], inputs: Iterable[NodeResult], trace_of: Mapping[str, str]
) -> NodeResult:
    """The items that a kept group merge hands up; support counts the distinct traces behind each."""
    below = {item: lessons for result in inputs for item, lessons in result.origins.items()}
    origins: dict[str, frozenset[str]] = {}
    items: list[Item] = []
    for row in output["operations"]:
        lessons = frozenset().union(*(below[source] for source in row["sources"]))
        origins[row["id"]] = lessons
        items.append(
            Item(
                id=row["id"],
                text=row["content"],
                section=row["section"],
                support=max(1, len({trace_of[lesson] for lesson in lessons})),
                kind=row["kind"],
                bullets=tuple(row["bullets"]),
            )
        )
    return NodeResult(node, tuple(items), origins)


def carried(items: Sequence[Item]) -> tuple[Operation, ...]:
    """Operations that pass items up as they are: the fallback when a merge has failed for good."""
    return tuple(
        Operation(
            kind=item.kind,
            section=item.section,
            content=item.text,
            bullets=item.bullets,
            sources=(item.id,),
            carried=True,
        )
        for item in items
    )
