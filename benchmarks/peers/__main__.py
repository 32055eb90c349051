"""The same traces through other tools and through Combee, against the same simulated model, in one run.

    python -m benchmarks.peers [--traces 64] [--parallel 64] [--latency 0.2] [--only gepa] [--python PATH]

Each peer runs in a virtual environment that this command makes. They do not do the same work: gepa's released package
reflects on each trace and stops there (one call a trace, nothing is merged); kayba's ace-framework reflects on each
trace and then edits its skillbook once a trace, in order (three calls a trace); Combee reflects, merges groups, and
merges those. The openai client or litellm is loaded before the clock starts.
"""

import argparse
import json
import subprocess
import tempfile
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from benchmarks.engine.cases import Case
from benchmarks.engine.measure import made_trace, run
from benchmarks.peers.environments import GEPA, KAYBA, Missing, Peer, environment
from benchmarks.serving import address_of


@dataclass(frozen=True)
class Row:
    """One way to run a peer; `workers` 0 is what it does unless told otherwise, None as many as Combee has."""

    what: str
    peer: Peer
    workers: int | None


ROWS = (
    Row("gepa, its reflections alone", GEPA, 0),
    Row("gepa, with as many workers", GEPA, None),
    Row("kayba TraceAnalyser", KAYBA, 0),
    Row("kayba, with as many workers", KAYBA, None),
)


def drive(python: Path, row: Row, traces: Path, latency: float, workers: int) -> dict[str, float]:
    """Seconds, CPU seconds and requests of a peer. Raises Missing when it does not run."""
    driver = Path(__file__).parent / "drivers" / f"run_{row.peer.name}.py"
    with address_of("benchmarks.peers.server", "--latency", str(latency)) as url:
        command = [str(python), str(driver), url, str(traces), str(workers)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as answer:
            requests = json.load(answer)["requests"]
    if done.returncode:
        raise Missing(f"{row.peer.name} did not run: {''.join(done.stderr.strip().splitlines()[-1:])}")
    return json.loads(done.stdout.strip().splitlines()[-1]) | {"calls": requests}


def main() -> None:
    """Combee first, then a line a peer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=int, default=64)
    parser.add_argument("--parallel", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds an answer")
    parser.add_argument("--only", default="", metavar="WORD", help="peers whose name holds this")
    parser.add_argument("--python", metavar="PATH", help="a Python to make environments with")
    asked = parser.parse_args()
    case = Case(name="ours", tail="fixed", median=asked.latency, n=asked.traces, parallel=asked.parallel)
    ours = run(case)
    print(f"{'':>30} {'calls':>6} {'calls a trace':>13} {'ours / theirs':>13} {'CPU, ours / theirs':>18}")
    print(f"{'Combee':>30} {ours.calls:>6} {ours.calls / asked.traces:>13.2f}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        traces = Path(folder) / "traces.json"
        made = [made_trace(number) for number in range(asked.traces)]
        texts = [{"task": one.task, "text": one.messages[1].text, "feedback": one.feedback} for one in made]
        traces.write_text(json.dumps(texts))
        for row in ROWS:
            if asked.only not in row.what:
                continue
            workers = asked.parallel if row.workers is None else row.workers
            try:
                theirs = drive(environment(row.peer, asked.python), row, traces, asked.latency, workers)
            except Missing as missing:
                print(f"{row.what:>30}  skipped: {missing}", flush=True)
                continue
            cpu = ours.cpu_ms * ours.calls / 1000 / theirs["cpu"]
            print(
                f"{row.what:>30} {theirs['calls']:>6} {theirs['calls'] / asked.traces:>13.2f} "
                f"{ours.wall / theirs['wall']:>13.3f} {cpu:>18.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
