"""What stands behind a bullet: its lessons and traces, read back from a whole run with a scripted learner."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from combee_core.engine.host import Host
from combee_core.engine.settings import RunSettings
from combee_core.lesson import Item
from combee_core.playbook import Bullet, Operation, Playbook
from combee_core.review import Review
from combee_core.store.database import Database
from combee_core.store.runs import Runs
from combee_core.store.traces import ImportCounts, TraceFilter, Traces
from combee_core.store.versions import Version, Versions
from tests.engine.scripted import Scripted, add_each, make_trace, opened

BASE = Playbook(
    bullets=tuple(Bullet(id=f"rules-0000{n}", section="RULES", content=text) for n, text in enumerate("abc", start=1))
)


def merge(items: Sequence[Item]) -> tuple[Operation, ...]:
    """ADD each lesson; the final merge also merges b into a and deletes c, each for one lesson."""
    added = add_each(items)
    if not all(item.id.startswith("m") for item in items):
        return added
    return (
        *added,
        Operation(kind="MERGE", content="a and b", bullets=("rules-00001", "rules-00002"), sources=(items[0].id,)),
        Operation(kind="DELETE", bullets=("rules-00003",), sources=(items[-1].id,)),
    )


class Shelf:
    """A database with one learning run over four traces, from a version that held three bullets."""

    def __init__(self, path: Path) -> None:
        self.database = Database(path)
        self.review, self.traces = Review(self.database), Traces(self.database)
        made = [make_trace(number) for number in range(4)]
        self.traces.add(self.traces.begin_import("made", "openai-chat", ""), made, [], ImportCounts())
        versions, runs, host = Versions(self.database), Runs(self.database), Host(self.database)
        with self.database.write() as cursor:
            versions.add(cursor, "p", None, BASE, {}, 4)
        settings = RunSettings(prompt="p", base="p@1")
        self.run = runs.create("p", settings.model_dump(mode="json"), self.traces.ids(TraceFilter()), 1)
        host.start(self.run, opened(Scripted(merge=merge)))
        assert host.wait(self.run, 60)
        assert runs.get(self.run)["state"] == "done", runs.get(self.run)["error"]
        self.version: Version = versions.get("p", 2)
        host.close()


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    made = Shelf(tmp_path / "combee.duckdb")
    yield made
    made.database.close()


def test_a_bullet_shows_the_lesson_and_the_trace_that_it_comes_from(shelf: Shelf) -> None:
    added = [item for item in shelf.version.playbook.bullets if item.content.startswith("field_")]
    assert len(added) == 4
    found = shelf.review.evidence(shelf.version, [item.id for item in added])
    for item in added:
        (behind,) = found[item.id]
        trace = shelf.traces.get(behind.trace)
        assert (behind.text, behind.task, behind.success) == (item.content, trace.task, None)
        assert (behind.run, behind.iteration, behind.node) == (shelf.run, 1, "i1.final")
        assert behind.reflection.startswith("i1.r")
        assert len(behind.groups) == 2, "both copies went through a group of their own"


def test_a_bullet_without_sources_has_no_evidence(shelf: Shelf) -> None:
    assert shelf.review.evidence(shelf.version, ["unknown"]) == {"unknown": []}


def test_removed_bullets_tell_what_became_of_them_and_for_which_lessons(shelf: Shelf) -> None:
    found = shelf.review.removals(shelf.version, ["rules-00001", "rules-00002", "rules-00003"])
    assert set(found) == {"rules-00002", "rules-00003"}
    merged, deleted = found["rules-00002"], found["rules-00003"]
    assert (merged.into, deleted.into) == ("rules-00001", None)
    assert (deleted.run, deleted.iteration, deleted.node) == (shelf.run, 1, "i1.final")
    (behind,) = deleted.evidence
    assert behind.text == shelf.traces.get(behind.trace).feedback


def test_a_version_that_no_run_made_has_no_removals(shelf: Shelf) -> None:
    assert shelf.review.removals(Versions(shelf.database).get("p", 1), ["rules-00001"]) == {}


def test_evidence_whose_trace_or_run_is_not_on_record_is_still_listed(shelf: Shelf) -> None:
    with shelf.database.write() as cursor:
        cursor.execute("delete from traces")
        cursor.execute("delete from nodes")
    name = next(iter(shelf.version.sources))
    (behind, *_) = shelf.review.evidence(shelf.version, [name])[name]
    assert (behind.text, behind.task, behind.success) == ("", "", None)
    assert behind.trace == shelf.version.sources[name][0]["trace"]
