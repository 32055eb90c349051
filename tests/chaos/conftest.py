"""A place with a few traces, and settings for runs against the stand-in server."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from combee_core.engine.settings import RunSettings
from combee_core.llm.endpoint import Endpoint
from combee_core.store.database import Database
from combee_core.store.traces import ImportCounts, Traces
from combee_core.workspace import Workspace
from tests.engine.scripted import make_trace
from tests.stand_in import StandIn


def fill(database: Path, traces: int) -> None:
    """Make a database with so many traces, each with a lesson of its own."""
    opened = Database(database)
    kept = Traces(opened)
    kept.add(kept.begin_import("made", "openai-chat", ""), [make_trace(i) for i in range(traces)], [], ImportCounts())
    opened.close()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Callable[[int], Workspace]]:
    """Opens a workspace with so many traces."""
    opened: list[Workspace] = []

    def make(traces: int) -> Workspace:
        path = tmp_path / f"{len(opened)}.duckdb"
        fill(path, traces)
        opened.append(Workspace(path))
        return opened[-1]

    yield make
    for workspace in opened:
        workspace.close()


def settings(server: StandIn, model: str = "stand-in", timeout_s: float = 20.0, **chosen: object) -> RunSettings:
    """Settings of a run that tries quickly again."""
    endpoint = Endpoint(base_url=server.url, model=model, backoff_s=0.001, timeout_s=timeout_s)
    return RunSettings(prompt="p", endpoint=endpoint, **chosen)
