"""What an automatic batch size costs beside every fixed one, its trials included.

    python -m benchmarks.batch_size [--traces 30,500]

Runs `--batch auto` against the stand-in OpenAI server (a simulated model: 200 ms and 0.2 ms an input token) in a
process of its own, then each fixed batch size that it tried or came to, and prints auto / fixed. The run over 5,000
traces is on a simulated clock: the controller is the product's own, the delays are those of a model of the engine.
"""

import argparse
import tempfile
from pathlib import Path

from benchmarks.serving import address_of
from combee_core.batch_size import Controller, candidates, simulate
from combee_core.engine.batch_sizes import BatchSizes
from combee_core.llm.endpoint import Endpoint
from combee_core.store.traces import ImportCounts
from combee_core.workspace import RunSettings, Workspace
from tests.batch_size.delays import Engine
from tests.engine.scripted import make_trace

GOALS = {30: 2.0, 500: 1.4, 5_000: 1.10}
"""Traces, and the goal for auto / the very batch size that it came to."""
PARALLEL = 64
SIMULATED = 5_000


def learn(workspace: Workspace, url: str, batch: int | str) -> tuple[str, float]:
    """One run over all traces: its id and its seconds."""
    endpoint = Endpoint(base_url=url, model="stand-in")
    summary = workspace.learn(
        RunSettings(prompt=f"batch-{batch}", batch=batch, parallel=PARALLEL, endpoint=endpoint, base=None)
    )
    assert summary["state"] == "done", summary["error"]
    return summary["run"], summary["wall_s"]


def measure(n: int) -> None:
    """Print auto beside every fixed size, over n traces, against the stand-in server."""
    with tempfile.TemporaryDirectory() as folder, Workspace(Path(folder) / "bench.duckdb") as workspace:
        traces = workspace._traces
        traces.add(
            traces.begin_import("made", "openai-chat", ""), [make_trace(i) for i in range(n)], [], ImportCounts()
        )
        with address_of("tests.stand_in", "--latency", "0.2", "--per-token", "0.0002") as url:
            run, auto = learn(workspace, url, "auto")
            sizes = workspace.batch_sizes(run)
            picked = came_to(sizes)
            print(
                f"\n{n:,} traces, measured: came to {picked}, trials {[c.batch_size for c in sizes.choices if c.trial]}"
            )
            for size in sorted({*sizes.grid, picked}):
                show(n, size, auto / learn(workspace, url, size)[1], picked)


def came_to(sizes: BatchSizes) -> int:
    """The batch size that a run has settled on."""
    assert sizes.settled is not None
    return sizes.settled.batch_size


def model(n: int) -> None:
    """Print auto beside every fixed size on a simulated clock."""
    engine, grid = Engine(), candidates(n).sizes
    chosen = simulate(Controller(n, grid), n, engine)
    auto, picked = sum(seconds for _, seconds in chosen), chosen[-2][0].batch_size
    print(f"\n{n:,} traces, simulated clock: came to {picked}, trials {list(grid)}")
    for size in sorted({*grid, picked}):
        show(n, size, auto / engine.epoch(n, size), picked)


def show(n: int, size: int, ratio: float, picked: int) -> None:
    """One line: auto / fixed, and the goal where the size is the one that auto came to."""
    goal = f"  goal {GOALS[n]:.2f}" if size == picked and n in GOALS else ""
    print(f"  fixed {size:>5}: auto / fixed {ratio:.2f}{goal}", flush=True)


def main() -> None:
    """Print a block for each number of traces."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", default="30,500", help="numbers of traces that are really run")
    for n in map(int, parser.parse_args().traces.split(",")):
        measure(n)
    model(SIMULATED)


if __name__ == "__main__":
    main()
