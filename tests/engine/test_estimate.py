"""What a run would take, before it starts: the batch sizes of an epoch hold every trace, whoever decides on them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from combee_core.engine.estimate import estimate, typical
from combee_core.engine.settings import RunSettings
from combee_core.llm.endpoint import Endpoint
from combee_core.store.database import Database
from combee_core.store.preferences import Preferences
from combee_core.store.traces import ImportCounts, TraceFilter, Traces
from tests.engine.scripted import make_trace


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "combee.duckdb")
    yield opened
    opened.close()


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    n=st.integers(1, 3_000),
    batch=st.one_of(st.integers(1, 200), st.just("auto")),
    parallel=st.integers(1, 100),
    epochs=st.integers(1, 3),
)
def test_the_batch_sizes_of_an_epoch_hold_every_trace(database, n, batch, parallel, epochs):
    ids = [f"t{number}" for number in range(n)]
    endpoint = Endpoint(model="any")
    chosen = RunSettings(prompt="p", batch=batch, parallel=parallel, epochs=epochs, endpoint=endpoint)
    found = estimate(database, ids, chosen)
    assert sum(found.sizes) == n
    assert found.iterations == len(found.sizes) * epochs
    assert found.calls > n * epochs
    assert typical(found.sizes) in found.sizes
    if batch != "auto":
        assert set(found.sizes[:-1]) <= {batch}


def test_an_automatic_batch_size_is_expected_to_try_its_candidates_first(database):
    ids = [f"t{number}" for number in range(2_000)]
    found = estimate(database, ids, RunSettings(prompt="p", batch="auto", batch_candidates=(4, 8, 16), parallel=64))
    assert found.sizes[:3] == (4, 8, 16)
    assert typical(found.sizes) >= 16


def test_tokens_of_traces_are_counted_as_the_model_has_counted_before(database):
    Traces(database).add(1, [make_trace(number) for number in range(9)], [], ImportCounts())
    ids = Traces(database).ids(TraceFilter())
    chosen = RunSettings(prompt="p", batch=9, endpoint=Endpoint(model="any"))
    usual = estimate(database, ids, chosen).input_tokens
    Preferences(database).set("chars_a_token:any", 2.0)
    chars = database.row("select sum(length(messages) + length(task) + length(feedback))::bigint as n from traces")["n"]
    assert estimate(database, ids, chosen).input_tokens - usual == chars // 2 - chars // 4
