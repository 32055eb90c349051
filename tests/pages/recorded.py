"""Runs to put before the Batch size page, on record as if they had been made, with the delays of a simulated engine."""

from collections.abc import Sequence

from combee_core.batch_size import Measurement
from combee_core.engine.dealing import Dealer, is_trial
from combee_core.engine.settings import RunSettings
from combee_core.store.runs import Runs
from combee_core.workspace import Workspace
from tests.batch_size.delays import Engine


def record(workspace: Workspace, settings: RunSettings, n: int, most: int | None = None) -> str:
    """A run over n traces as it would be on record, with the delays of a simulated engine; `most` iterations of it."""
    database = workspace._database
    runs = Runs(database)
    ids = [f"t-{number:05}" for number in range(n)]
    run = runs.create("agent", settings.model_dump(mode="json"), ids, None)
    dealer, delays = Dealer(ids, settings), Engine()
    history: list[Measurement] = []
    rows: list[Sequence[object]] = []
    while (most is None or len(rows) < most) and (batch := dealer.next(history)):
        size = len(batch.trace_ids)
        history.append(Measurement(batch_size=size, seconds=delays(size), trial=is_trial(batch.why)))
        runs.deal(run, batch.iteration, batch.epoch, batch.trace_ids, batch.why)
        rows.append((run, batch.iteration, batch.epoch, size, batch.why, history[-1].seconds))
    with database.write() as cursor:
        cursor.executemany(
            "insert into iterations (run, iteration, epoch, batch_size, why, seconds, lessons, dropped) "
            "values (?, ?, ?, ?, ?, ?, 0, 0)",
            rows,
        )
    runs.set_state(run, "done")
    return run
