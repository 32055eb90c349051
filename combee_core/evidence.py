"""What stands behind a bullet, ready to be read: the lessons it comes from, their traces, and why a bullet was removed.

Read from stored nodes, traces and the sources kept with each version. Does not know what a reviewer decides.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from combee_core.engine.tree import lesson_place, reflection_id
from combee_core.store.database import Database, Row
from combee_core.store.runs import Runs
from combee_core.store.versions import Sources, Version

_LessonKey = tuple[str, str, str]
"""Run, reflection node and lesson id: a lesson id is unique within an iteration only."""


@dataclass(frozen=True)
class Evidence:
    """One lesson behind a bullet: its text, the passage of the trace it rests on, the trace, and the way it took.

    `groups` are the merge nodes that carried the lesson to `node`, the final merge. `task` is the trace's task, cut at
    300 characters. `text` is empty when the run's nodes are not on record, `task` when the trace is not.
    """

    lesson: str
    text: str
    passage: str
    trace: str
    task: str
    success: bool | None
    run: str
    iteration: int
    reflection: str
    groups: tuple[str, ...]
    node: str


@dataclass(frozen=True)
class Removal:
    """How a bullet went: merged into the bullet `into` or deleted (`into` None), by the final merge `node` of `run`."""

    into: str | None
    run: str
    iteration: int
    node: str
    evidence: tuple[Evidence, ...]


def evidence(database: Database, sources: Sources) -> dict[str, list[Evidence]]:
    """The evidence of several bullets, in the order of their sources."""
    entries = [entry for of_bullet in sources.values() for entry in of_bullet]
    lessons = _lessons(database, {(entry["run"], entry["reflection"]) for entry in entries})
    traces = _traces(database, {entry["trace"] for entry in entries})
    return {bullet: [_evidence(entry, lessons, traces) for entry in found] for bullet, found in sources.items()}


def removals(database: Database, version: Version, bullets: Collection[str]) -> dict[str, Removal]:
    """For each of the bullets that a version's run has removed up to that version: how, and for which lessons."""
    if version.run is None:
        return {}
    found: dict[str, tuple[Row, Mapping[str, Any]]] = {}
    for final in _final_merges(database, version.run, version.iteration):
        for row in orjson.loads(final["output"]).get("operations", ()):
            found |= {bullet: (final, row) for bullet in row.get("removed", ()) if bullet in bullets}
    finals = {final["iteration"]: final for final, _ in found.values()}
    trees = {iteration: _Tree(database, version.run, final) for iteration, final in finals.items()}
    sources = {bullet: trees[final["iteration"]].sources(row) for bullet, (final, row) in found.items()}
    behind = evidence(database, sources)
    return {
        bullet: Removal(row["bullet"], version.run, final["iteration"], final["id"], tuple(behind[bullet]))
        for bullet, (final, row) in found.items()
    }


def _evidence(
    entry: Mapping[str, Any], lessons: Mapping[_LessonKey, Mapping[str, Any]], traces: Mapping[str, Row]
) -> Evidence:
    lesson = lessons.get((entry["run"], entry["reflection"], entry["lesson"]), {})
    trace = traces.get(entry["trace"], {})
    return Evidence(
        lesson=entry["lesson"],
        text=lesson.get("text", ""),
        passage=lesson.get("evidence", ""),
        trace=entry["trace"],
        task=trace.get("task", ""),
        success=trace.get("success"),
        run=entry["run"],
        iteration=int(entry["reflection"].removeprefix("i").split(".")[0]),
        reflection=entry["reflection"],
        groups=tuple(entry["via"]),
        node=entry["node"],
    )


def _lessons(database: Database, reflections: set[tuple[str, str]]) -> dict[_LessonKey, Mapping[str, Any]]:
    rows = database.rows(
        "select run, id, output from nodes join (select unnest(?::varchar[]) as run, unnest(?::varchar[]) as id) "
        "using (run, id)",
        [[run for run, _ in reflections], [node for _, node in reflections]],
    )
    return {
        (row["run"], row["id"], lesson["id"]): lesson
        for row in rows
        for lesson in orjson.loads(row["output"]).get("lessons", ())
    }


def _traces(database: Database, ids: Iterable[str]) -> dict[str, Row]:
    rows = database.rows(
        "select id, left(task, 300) as task, success from traces where id in (select unnest(?::varchar[]))", [list(ids)]
    )
    return {row["id"]: row for row in rows}


def _final_merges(database: Database, run: str, last: int | None) -> list[Row]:
    return database.rows(
        "select id, iteration, output from nodes where run = ? and kind = 'final' and (? is null or iteration <= ?) "
        "order by iteration",
        [run, last, last],
    )


class _Tree:
    """The merge tree of one iteration, to follow an operation of its final merge down to the lessons."""

    def __init__(self, database: Database, run: str, final: Row) -> None:
        nodes = Runs(database).nodes(run, final["iteration"])
        self._run, self._final = run, final
        self._trace_of = {node["id"]: node["trace"] for node in nodes}
        self._below = {row["id"]: row["sources"] for node in nodes for row in node["output"].get("operations", ())}

    def sources(self, operation: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Sources of an operation of the final merge, in the shape in which a version keeps those of its bullets."""
        entries = []
        for lesson in sorted(self._lessons_under(operation["sources"]), key=lesson_place):
            reflection = reflection_id(self._final["iteration"], lesson_place(lesson)[0])
            entry = {"trace": self._trace_of[reflection], "lesson": lesson, "reflection": reflection, "via": []}
            entries.append(entry | {"node": self._final["id"], "run": self._run})
        return entries

    def _lessons_under(self, items: Iterable[str]) -> set[str]:
        """The lessons that items of a merge stand for: an item is a lesson itself or an operation of a merge below."""
        lessons: set[str] = set()
        for item in items:
            lessons |= self._lessons_under(self._below[item]) if item in self._below else {item}
        return lessons
