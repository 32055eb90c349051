"""How close a learning run comes to the bound of its schedule: three calls in a row for one batch at full parallelism.

    python -m benchmarks.engine

Starts the stand-in OpenAI server in a process of its own (its answers are made by rules: a simulated model), learns
from made traces through the product's own engine, store and client, and prints wall time / bound beside the goal.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from combee_core.llm.endpoint import Endpoint
from combee_core.store.traces import ImportCounts
from combee_core.trace import Message, Source, Trace
from combee_core.workspace import RunSettings, Workspace

CASES = ((64, 64, 2.0, 1.10), (64, 64, 0.2, 1.5))
"""n traces in one batch, parallel, seconds an answer, goal for wall / bound."""


def trace(number: int) -> Trace:
    """A chat of about 1.2 KB, as the peers were measured with."""
    story = " ".join(f"step {step} of case {number} read the ledger" for step in range(30))
    return Trace(
        task=f"Book invoice {number}",
        messages=(
            Message(role="user", text=f"Book invoice {number}"),
            Message(role="assistant", text=story),
        ),
        source=Source(file="made", format="openai-chat", line=number + 1),
        feedback=f"field_{number} must hold {number * 7} cents",
    )


@contextmanager
def stand_in(latency: float) -> Iterator[str]:
    """The address of a stand-in server in another process."""
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.stand_in", "--latency", str(latency)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait()


def measure(n: int, parallel: int, latency: float) -> tuple[float, float]:
    """Seconds of one run, and seconds of CPU of this process in it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        stand_in(latency) as url,
        Workspace(Path(folder) / "bench.duckdb") as workspace,
    ):
        traces = workspace._traces
        traces.add(traces.begin_import("made", "openai-chat", ""), [trace(i) for i in range(n)], [], ImportCounts())
        endpoint = Endpoint(base_url=url, model="stand-in")
        spent = time.process_time()
        summary = workspace.learn(RunSettings(prompt="bench", batch=n, parallel=parallel, endpoint=endpoint))
        assert summary["state"] == "done", summary["error"]
        return summary["wall_s"], time.process_time() - spent


def main() -> None:
    """Print one line a case: the median of several runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    runs = parser.parse_args().runs
    print(f"{'n':>5} {'parallel':>8} {'latency':>8} {'bound':>7} {'wall':>7} {'ratio':>6} {'goal':>5}  CPU a call")
    for n, parallel, latency, goal in CASES:
        measured = sorted(measure(n, parallel, latency) for _ in range(runs))
        wall, cpu = measured[len(measured) // 2]
        bound = 3 * latency
        calls = n + int(n**0.5) + 1
        print(
            f"{n:>5} {parallel:>8} {latency:>7.1f}s {bound:>6.2f}s {wall:>6.2f}s {wall / bound:>6.2f} {goal:>5.2f}  "
            f"{cpu / calls * 1000:.1f} ms"
        )


if __name__ == "__main__":
    main()
