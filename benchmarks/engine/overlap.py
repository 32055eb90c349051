"""Batches one after the other against batches that overlap (staleness 0 and 1), through the product's own engine.

The two do not ask the very same: reflections of the overlapping run see a playbook that is one batch older. What their
calls take is drawn from the same distribution, not call by call.
"""

import statistics
import tempfile
from pathlib import Path
from typing import NamedTuple

from benchmarks.engine.cases import Case
from benchmarks.engine.measure import add_traces
from benchmarks.engine.server import serving
from combee_core.llm.endpoint import Endpoint, OpenAIModel
from combee_core.workspace import RunSettings, Workspace

BATCHES = 4


class Taken(NamedTuple):
    """Seconds and calls of one run."""

    wall: float
    calls: int


def learn(case: Case, staleness: int, seed: int) -> Taken:
    """Learn from the case's traces in BATCHES batches."""
    behaviour = case.behaviour
    behaviour.seed = seed
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(behaviour) as url,
        Workspace(Path(folder) / "bench.duckdb") as workspace,
    ):
        add_traces(workspace, case.n)
        endpoint = Endpoint(base_url=url, model="stand-in")
        OpenAIModel(endpoint, None).connect()
        batch = case.n // BATCHES
        settings = RunSettings(
            prompt="bench", batch=batch, parallel=case.parallel, endpoint=endpoint, staleness=staleness, seed=seed
        )
        summary = workspace.learn(settings)
        assert summary["state"] == "done", summary["error"]
        return Taken(summary["wall_s"], summary["calls"])


def show(n: int, parallel: int, median: float, draws: int) -> None:
    """Print both for so many draws of latencies with heavy tails, and their ratio."""
    case = Case(name="", tail="tail", median=median, n=n, parallel=parallel)
    print(f"{n} traces in {BATCHES} batches, {parallel} at once, tails of {median:g} s: staleness 0 / staleness 1")
    ratios = []
    for seed in range(draws):
        one_by_one, overlapping = learn(case, 0, seed), learn(case, 1, seed)
        ratios.append(one_by_one.wall / overlapping.wall)
        print(f"draw {seed}: {ratios[-1]:.2f}  ({one_by_one.calls} and {overlapping.calls} calls)", flush=True)
    print(f"median {statistics.median(ratios):.2f}")
