"""Requests of a session are counted outside the database, and what a dead process had in flight is added to its run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from combee_core.store.database import Database
from combee_core.store.ledger import Ledger, left_behind
from combee_core.store.runs import NodeRow, Runs


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "combee.duckdb")
    yield opened
    opened.close()


@pytest.fixture
def run(database: Database) -> str:
    return Runs(database).create("agent", {}, ["t-1"], None)


def reflection(attempts: int) -> NodeRow:
    return NodeRow("i1.r1", 1, "reflection", 0, 0, (), "done", {}, 0.5, trace="t-1", attempts=attempts)


def test_a_session_that_has_ended_leaves_nothing_behind(database: Database, run: str, tmp_path: Path) -> None:
    ledger = Ledger(database, run, 0, 0.0)
    ledger.sent()
    ledger.close()
    assert list(left_behind(database)) == []
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_a_session_without_a_request_writes_nothing(database: Database, run: str, tmp_path: Path) -> None:
    Ledger(database, run, 0, 0.0).close()
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_what_was_in_flight_when_the_process_died_is_lost_and_counted_once(database: Database, run: str) -> None:
    runs = Runs(database)
    ledger = Ledger(database, run, 0, 2.0)
    for _ in range(5):
        ledger.sent()
    runs.add_nodes(run, [reflection(attempts=3)])
    runs.interrupt_orphans()
    assert (runs.totals(run)["calls"], runs.totals(run)["failed_calls"]) == (5, 2)
    assert runs.failures(run) == {"lost": 2}
    assert runs.get(run)["wall_s"] >= 2.0
    runs.interrupt_orphans()
    assert runs.totals(run)["calls"] == 5


def test_a_death_between_counting_and_forgetting_does_not_count_twice(database: Database, run: str) -> None:
    runs = Runs(database)
    ledger = Ledger(database, run, 0, 0.0)
    ledger.sent()
    held = ledger._path.read_bytes()
    runs.interrupt_orphans()
    ledger._path.parent.mkdir(exist_ok=True)
    ledger._path.write_bytes(held)
    runs.interrupt_orphans()
    assert runs.totals(run)["calls"] == 1


@pytest.mark.parametrize("damaged", [b"", b"7", b"x y z\n1.0\n", b"\xff\xfe"])
def test_a_file_that_was_cut_off_is_passed_over(database: Database, run: str, damaged: bytes) -> None:
    folder = Ledger(database, run, 0, 0.0)._path.parent
    folder.mkdir()
    (folder / run).write_bytes(damaged)
    Runs(database).interrupt_orphans()
    assert Runs(database).totals(run)["calls"] == 0
    assert not folder.exists()
