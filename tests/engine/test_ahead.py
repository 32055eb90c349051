"""Reading traces ahead: every trace once, few at a time."""

from pathlib import Path

import pytest

from combee_core.engine.ahead import AHEAD, TracesAhead
from combee_core.store.database import Database, StoreError
from combee_core.store.traces import ImportCounts, TraceFilter, Traces
from tests.engine.scripted import make_trace


@pytest.fixture
def traces(tmp_path: Path):
    database = Database(tmp_path / "combee.duckdb")
    stored = Traces(database)
    stored.add(stored.begin_import("made", "ace", ""), [make_trace(n) for n in range(200)], [], ImportCounts())
    yield stored
    database.close()


def test_every_trace_is_handed_out_and_few_are_held(traces):
    ids = traces.ids(TraceFilter())
    ahead = TracesAhead(traces, ids)
    for trace_id in ids:
        assert ahead.take(trace_id).id == trace_id
        assert len(ahead._held) < AHEAD


def test_the_order_of_asking_may_differ_from_the_order_of_reading(traces):
    ids = traces.ids(TraceFilter())
    ahead = TracesAhead(traces, ids)
    assert [ahead.take(trace_id).id for trace_id in reversed(ids)] == ids[::-1]


def test_a_trace_that_is_gone_is_told(traces):
    with pytest.raises(StoreError, match="no trace t-gone any more"):
        TracesAhead(traces, ["t-gone"]).take("t-gone")
