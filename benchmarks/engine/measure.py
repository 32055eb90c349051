"""One run through the product's own engine, store and client, in a process of its own so that its memory can be told.

As a command, for `run`: `python -m benchmarks.engine.measure CASE`, a case as JSON; prints what was measured as JSON.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from pydantic import BaseModel

from benchmarks.engine import schedule
from benchmarks.engine.cases import Case
from benchmarks.engine.server import Served, served, serving
from combee_core.engine import tree
from combee_core.engine.run import tree_plan
from combee_core.llm.endpoint import Endpoint, OpenAIModel
from combee_core.scan import TreePlan
from combee_core.store.traces import ImportCounts
from combee_core.trace import Message, Source, Trace
from combee_core.workspace import RunSettings, Workspace


class Measured(BaseModel):
    """What one run took, and what its latencies allow, in seconds unless said otherwise.

    `cpu_ms` is CPU of this process for each call, client included. `lower` is the bound that no schedule can beat,
    `listed` what the schedule takes that sends the longest way first, `barrier` what the order level by level takes.
    `waits` are medians and 95th percentiles of the time from the end of a group's last reflection to the arrival of its
    merge at the server; `waits_listed` the same in the schedule, where merges wait while reflections go first.
    """

    wall: float
    calls: int
    cpu_ms: float
    memory_mb: float
    lower: float
    listed: float
    barrier: float
    waits: tuple[float, float]
    waits_listed: tuple[float, float]


def run(case: Case) -> Measured:
    """Measure a case in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.engine.measure", case.model_dump_json()]
    told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return Measured.model_validate_json(told.stdout)


def made_trace(number: int) -> Trace:
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


def add_traces(workspace: Workspace, n: int) -> None:
    """Put made traces into an empty workspace."""
    traces = workspace._traces
    traces.add(traces.begin_import("made", "openai-chat", ""), [made_trace(i) for i in range(n)], [], ImportCounts())


def measure(case: Case) -> Measured:
    """Learn from made traces in this process and compare with the schedule."""
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(case.behaviour) as url,
        Workspace(Path(folder) / "bench.duckdb") as workspace,
    ):
        add_traces(workspace, case.n)
        endpoint = Endpoint(base_url=url, model="stand-in")
        settings = RunSettings(prompt="bench", batch=case.n, parallel=case.parallel, endpoint=endpoint, **case.settings)
        # Loading the client takes the better part of a second, once a process.
        OpenAIModel(endpoint, None).connect()
        spent = time.process_time()
        summary = workspace.learn(settings)
        spent = time.process_time() - spent
        memory = _peak_memory_mb()
        assert summary["state"] == "done", summary["error"]
        plan = tree_plan(case.n, 1, settings)
        tasks = {row["id"]: row["task"] for row in workspace.traces(limit=case.n)[1]}
        nodes = sorted(workspace.nodes(summary["run"], 1), key=lambda node: (node["level"], node["place"]))
        order = [tasks[node["trace"]] for node in nodes[: case.n]]
        by_node = requests_by_node(plan, order, served(url))
        calls = schedule.calls_of(plan, {name: request.seconds for name, request in by_node.items()})
        return Measured(
            wall=summary["wall_s"],
            calls=summary["calls"],
            cpu_ms=spent / summary["calls"] * 1000,
            memory_mb=memory,
            lower=schedule.lower_bound(calls, case.parallel),
            listed=schedule.makespan(calls, case.parallel),
            barrier=schedule.makespan(schedule.with_barriers(calls), case.parallel),
            waits=percentiles(waits(plan, by_node)),
            waits_listed=percentiles(listed_waits(calls, case.parallel)),
        )


def requests_by_node(plan: TreePlan, order: Sequence[str], requests: Sequence[Served]) -> dict[str, Served]:
    """The first request for each node of a tree of one iteration; `order` holds the tasks of the batch.

    A merge is known by what its items are of, in order. Raises ValueError when a node was not asked for, or something
    that is no node, such as a merge's second try.
    """
    nodes = {(task,): tree.reflection_id(1, index) for index, task in enumerate(order)}
    for level in plan.levels:
        for merge in level:
            parents = tuple(name.removeprefix("i1.").replace(".", "-") for name in tree.input_ids(1, merge))
            nodes[parents] = tree.merge_id(1, merge, final=merge is plan.final)
    found: dict[str, Served] = {}
    for request in requests:
        if request.asked == 1:
            node = nodes.get(tuple(dict.fromkeys(map(_parent, request.about))))
            if node is None:
                raise ValueError(f"A request is of no node of the tree: {', '.join(request.about)[:200]}")
            found[node] = request
    if missing := len(nodes) - len(found):
        raise ValueError(f"{missing} of {len(nodes)} nodes cannot be found among {len(requests)} requests.")
    return found


def waits(plan: TreePlan, by_node: Mapping[str, Served]) -> list[float]:
    """For each group merge, seconds from the end of its own last reflection to its arrival at the server."""
    return [
        by_node[tree.merge_id(1, merge, final=merge is plan.final)].arrived
        - max(by_node[name].ended for name in tree.input_ids(1, merge))
        for merge in plan.levels[0]
    ]


def listed_waits(calls: Sequence[schedule.Call], parallel: int) -> list[float]:
    """The same in the schedule on the simulated clock."""
    ends = schedule.simulate(calls, parallel)
    return [
        ends[call.name] - call.seconds - max(ends[name] for name in call.needs) for call in calls if call.level == 1
    ]


def percentiles(values: Sequence[float]) -> tuple[float, float]:
    """Median and 95th percentile."""
    middle, high = np.percentile(values, [50, 95])
    return float(middle), float(high)


def _parent(about: str) -> str:
    """The node behind an item (r12 of r12-1, m1-3 of m1-3-2); a task is its own."""
    return about if " " in about else about.rpartition("-")[0]


def _peak_memory_mb() -> float:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    print(measure(Case.model_validate_json(sys.argv[1])).model_dump_json())
