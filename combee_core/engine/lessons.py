"""What runs have learnt from one trace: its lessons, what became of each, and the bullets they stand behind."""

from collections import defaultdict
from dataclasses import dataclass

import orjson

from combee_core.engine.fates import Fate, LessonFate, lesson_fates
from combee_core.store.database import Database, Row


@dataclass(frozen=True)
class Learnt:
    """One lesson from one trace: drawn in `iteration` of `run` by the node `reflection`.

    `version` is the version that the iteration has stored, None while it goes on; `bullets` are ids in it.
    """

    text: str
    fate: Fate
    bullets: tuple[str, ...]
    run: str
    prompt: str
    iteration: int
    reflection: str
    version: str | None


def lessons_of_trace(database: Database, trace_id: str) -> list[Learnt]:
    """The lessons of every run that has reflected on the trace, newest run first, each run in plan order."""
    iterations: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for node in _nodes(database, trace_id):
        iterations[node["run"], node["iteration"]].append(node)
    return [_learnt(nodes[0], lesson) for nodes in iterations.values() for lesson in lesson_fates(nodes)]


def _nodes(database: Database, trace_id: str) -> list[Row]:
    """The trace's reflections and all merges of their iterations: enough to follow a lesson to the prompt."""
    rows = database.rows(
        "select nodes.*, runs.prompt, iterations.version from nodes "
        "join (select distinct run, iteration from nodes where trace = ?) using (run, iteration) "
        "join runs on runs.id = nodes.run left join iterations using (run, iteration) "
        "where nodes.kind <> 'reflection' or nodes.trace = ? "
        "order by runs.created_at desc, length(runs.id) desc, runs.id desc, iteration, level, place",
        [trace_id, trace_id],
    )
    return [row | {"inputs": orjson.loads(row["inputs"]), "output": orjson.loads(row["output"])} for row in rows]


def _learnt(node: Row, lesson: LessonFate) -> Learnt:
    version = f"{node['prompt']}@{node['version']}" if node["version"] else None
    return Learnt(
        lesson.text,
        lesson.fate,
        lesson.bullets,
        node["run"],
        node["prompt"],
        node["iteration"],
        lesson.reflection,
        version,
    )
