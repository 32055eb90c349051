"""An iteration as planned, before, during and after the calls."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from combee_core.engine.dealing import Dealer
from combee_core.engine.outlook import iteration_reached, iteration_stamp, iterations_in_all, planned_nodes
from combee_core.engine.settings import RunSettings
from combee_core.errors import CombeeError
from combee_core.store.database import Database
from combee_core.store.runs import NodeRow, Runs

TRACES = [f"t-{number:02}" for number in range(10)]
SETTINGS = RunSettings(prompt="agent", batch=6)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "combee.duckdb")
    yield opened
    opened.close()


@pytest.fixture
def run(database: Database) -> str:
    return Runs(database).create("agent", SETTINGS.model_dump(mode="json"), TRACES, None)


def recorded(node: str = "i1.r1", attempts: int = 1) -> NodeRow:
    return NodeRow(node, 1, "reflection", 0, 0, (), "done", {"lessons": []}, 0.5, trace="t-00", attempts=attempts)


def test_before_any_call_every_node_of_the_plan_is_waiting(database: Database, run: str) -> None:
    nodes = planned_nodes(database, run, 1)
    assert [node["kind"] for node in nodes] == ["reflection"] * 6 + ["merge", "merge", "final"]
    assert {node["state"] for node in nodes} == {"waiting"}
    first = Dealer(TRACES, SETTINGS).next(())
    assert first is not None
    assert [node["trace"] for node in nodes[:6]] == list(first.trace_ids)
    assert nodes[-1]["inputs"] == ["i1.m1.1", "i1.m1.2"]


def test_nodes_on_record_take_the_place_of_their_stand_in(database: Database, run: str) -> None:
    Runs(database).add_nodes(run, [recorded()])
    nodes = planned_nodes(database, run, 1)
    assert [node["state"] for node in nodes[:2]] == ["done", "waiting"]
    assert len(nodes) == 9


def test_stand_ins_have_the_fields_of_stored_nodes(database: Database, run: str) -> None:
    Runs(database).add_nodes(run, [recorded()])
    stored, waiting, *_ = planned_nodes(database, run, 1)
    assert stored.keys() == waiting.keys()


def test_the_last_batch_has_what_is_left(database: Database, run: str) -> None:
    assert sum(node["kind"] == "reflection" for node in planned_nodes(database, run, 2)) == 4


def test_an_iteration_that_the_run_does_not_have_is_an_error_that_says_how_many_it_has(
    database: Database, run: str
) -> None:
    with pytest.raises(CombeeError, match="run-1 has no iteration 3: it has 2"):
        planned_nodes(database, run, 3)


def test_an_automatic_batch_size_tells_of_the_next_iteration_and_no_further(database: Database) -> None:
    settings = SETTINGS.model_copy(update={"batch": "auto", "batch_candidates": (2, 4)})
    run = Runs(database).create("agent", settings.model_dump(mode="json"), TRACES, None)
    assert sum(node["kind"] == "reflection" for node in planned_nodes(database, run, 1)) == 2
    with pytest.raises(CombeeError, match="no iteration 2"):
        planned_nodes(database, run, 2)
    Runs(database).deal(run, 1, 1, TRACES[4:6], "trial: candidate 1")
    nodes = planned_nodes(database, run, 1)
    assert [node["trace"] for node in nodes if node["kind"] == "reflection"] == TRACES[4:6]


def test_the_iteration_reached_is_the_one_that_was_dealt_last(database: Database, run: str) -> None:
    assert (iteration_reached(database, run), iterations_in_all(database, run)) == (1, 2)
    Runs(database).deal(run, 1, 1, TRACES[:6], "fixed")
    assert (iteration_reached(database, run), iterations_in_all(database, run)) == (1, 2)
    Runs(database).deal(run, 2, 1, TRACES[6:], "fixed")
    assert (iteration_reached(database, run), iterations_in_all(database, run)) == (2, 2)


def test_the_stamp_changes_with_every_record_and_also_when_a_node_is_tried_again(database: Database, run: str) -> None:
    runs = Runs(database)
    stamps = [iteration_stamp(database, run, 1)]
    for node in (recorded(), recorded("i1.r2"), recorded("i1.r2")):
        runs.add_nodes(run, [node])
        stamps.append(iteration_stamp(database, run, 1))
    assert len(set(stamps)) == 4
    assert iteration_stamp(database, run, 1) == stamps[-1]
