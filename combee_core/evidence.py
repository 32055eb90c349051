"""What stands behind a bullet, ready to be read: the lessons it comes from, their traces, and why a bullet was removed.

Read from stored nodes, traces and the sources kept with each version. Does not know what a reviewer decides.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from combee_core.lineage import Lineage
from combee_core.store.database import Database, Row
from combee_core.store.runs import Runs
from combee_core.store.versions import Sources, Version

_LessonKey = tuple[str, str, str]
"""Run, reflection node and lesson id: a lesson id is unique within an iteration only."""


@dataclass(frozen=True)
class Evidence:
    """One lesson behind a bullet: its text, the passage of the trace it rests on, the trace, and the way it took.

    `groups` are the merge nodes that carried the lesson to `node`, the final merge, or the reflection itself where no
    merge took it up and a reviewer has. `task` is the trace's task, cut at 300 characters. `text` is empty when the
    run's nodes are not on record, `task` when the trace is not.
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
    finals = {final["iteration"] for final, _ in found.values()}
    runs = Runs(database)
    trees = {number: Lineage(version.run, number, runs.nodes(version.run, number)) for number in finals}
    sources = {
        bullet: tree.sources(tree.under(row["sources"]), final["id"])
        for bullet, (final, row) in found.items()
        for tree in (trees[final["iteration"]],)
    }
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
