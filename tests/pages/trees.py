"""Whole merge trees made by plain rules, as the store would hand them out, for tests of what is drawn from them."""

from collections.abc import Callable, Sequence
from typing import Any

from combee_core.engine import landing, tree
from combee_core.lesson import Item, Lesson, Reflection
from combee_core.playbook import Merged, Operation, Playbook
from combee_core.scan import plan
from combee_core.store.database import Row
from pages.merge_view import MergeView

Merging = Callable[[Sequence[Item], bool], Sequence[Operation]]


def keep_all(items: Sequence[Item], final: bool) -> list[Operation]:
    """One ADD an item."""
    return [Operation(kind="ADD", section="RULES", content=item.text, sources=(item.id,)) for item in items]


def keep(*words: str, groups: Sequence[str] = ()) -> Merging:
    """The final merge keeps items with one of `words`, a group those with one of `groups` (all when none are named)."""

    def merging(items: Sequence[Item], final: bool) -> list[Operation]:
        wanted = words if final else (groups or ("",))
        return keep_all([item for item in items if any(word in item.text for word in wanted)], final)

    return merging


def grown(
    n: int,
    merging: Merging = keep_all,
    lessons: Callable[[int], Sequence[str]] = lambda index: (f"lesson of {index}",),
    failed: Sequence[int] = (),
    until: str = "final",
    **of_plan: Any,
) -> MergeView:
    """A tree over n reflections; nodes that come after the node `until` are still waiting."""
    shape = plan(n, **of_plan)
    rows: dict[str, Row] = {}
    results: dict[str, tree.NodeResult] = {}
    trace_of: dict[str, str] = {}
    for index in range(n):
        node = tree.reflection_id(1, index)
        found = (
            () if index in failed else tuple(Lesson(text=text, evidence=f"passage {index}") for text in lessons(index))
        )
        output = tree.reflection_output(index, Reflection(lessons=found))
        results[node] = tree.reflection_result(node, output)
        trace_of |= {item.id: f"t-{index}" for item in results[node].items}
        rows[node] = _row(
            node, "reflection", 0, index, [], output, "failed" if index in failed else "done", f"t-{index}"
        )
    for level in shape.levels:
        for merge in level:
            final = level is shape.levels[-1]
            node = tree.merge_id(1, merge, final)
            inputs = tree.input_ids(1, merge)
            items = [item for name in inputs for item in results[name].items]
            operations = list(merging(items, final))
            land = (lambda rows: landing.land(rows, Playbook(), 1)) if final else None
            output = tree.merge_output(tree.item_prefix(merge), items, {}, Merged(operations=tuple(operations)), land)
            results[node] = tree.merge_result(node, output, [results[name] for name in inputs], trace_of)
            rows[node] = _row(node, "final" if final else "merge", merge.level, merge.group, list(inputs), output)
    ends = list(rows).index(f"i1.{until}")
    for node in list(rows)[ends + 1 :]:
        rows[node] |= {"state": "waiting", "output": {}, "attempts": 0}
    return MergeView(rows)


def _row(
    node: str,
    kind: str,
    level: int,
    place: int,
    inputs: list[str],
    output: dict[str, Any],
    state: str = "done",
    trace: str | None = None,
) -> Row:
    return {
        "id": node,
        "iteration": 1,
        "kind": kind,
        "level": level,
        "place": place,
        "inputs": inputs,
        "trace": trace,
        "state": state,
        "error": "The endpoint gave no answer." if state == "failed" else None,
        "output": output,
        "seconds": 0.5,
        "attempts": 1,
        "failed_attempts": 0,
        "input_tokens": 100,
        "output_tokens": 10,
        "cost_usd": 0.0,
    }
