"""A real `combee learn` that is killed again and again pays for no finished call twice and ends with the same bytes."""

import multiprocessing
import os
import random
import threading
import time
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

from combee_core.cli.main import main
from combee_core.errors import CombeeError
from combee_core.store.database import Database
from combee_core.store.runs import Runs
from combee_core.store.traces import Traces
from combee_core.workspace import Workspace
from tests.chaos.conftest import fill, settings
from tests.served import wait_until
from tests.stand_in import ITEM, TASK, StandIn

TRACES, BATCH, KILLS = 80, 40, 10
CALLS = 2 * (BATCH + 6 + 1)

# A server that has everything imported forks each process: ten of them would else spend half a minute importing.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["combee_core.cli.main", "combee_core.learners.ace", "openai", "aiohttp", "pytest"])


def run_command(arguments: list[str], printed: Path) -> None:
    """What such a process does: the command, printing into a file."""
    output = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    main(arguments)


def command(name: str, *arguments: str, db: Path) -> Any:
    """Start `combee NAME …` in a process of its own, which prints into a file beside the database."""
    words = [name, *arguments, "--db", str(db), "--json"]
    process = PROCESSES.Process(target=run_command, args=(words, db.with_suffix(".printed")))
    process.start()
    return process


def learn(server: StandIn, db: Path) -> Any:
    endpoint = ("--base-url", server.url, "--model", "stand-in")
    return command("learn", "--prompt", "p", "--batch", str(BATCH), "--parallel", "4", *endpoint, db=db)


def asked_for(body: dict[str, Any]) -> Hashable:
    """Which node a request is for: a reflection's task, or a merge's items and whether it is of the first batch."""
    prompt = body["messages"][1]["content"]
    if found := TASK.search(prompt):
        return found[1]
    return "(empty)" in prompt, frozenset(name for name, _ in ITEM.findall(prompt))


def finished_calls(db: Path) -> dict[Hashable, str]:
    """What `asked_for` says of each node that is on disk as done."""
    database = Database(db)
    runs = Runs(database)
    found: dict[Hashable, str] = {}
    for run in runs.all():
        nodes = {(node["iteration"], node["id"]): node for node in runs.nodes(run["id"])}
        for (iteration, name), node in nodes.items():
            assert node["state"] == "done"
            if node["kind"] == "reflection":
                found[Traces(database).get(node["trace"]).task] = name
                continue
            outputs = [nodes[iteration, source]["output"] for source in node["inputs"]]
            items = [row["id"] for output in outputs for row in output.get("lessons", output.get("operations"))]
            found[iteration == 1, frozenset(items)] = name
    database.close()
    return found


def exported(db: Path) -> tuple[str, str]:
    with Workspace(db) as workspace:
        return workspace.export("p@2", "markdown"), workspace.export("p@2", "json")


def until(condition: Callable[[], bool], process: Any) -> bool:
    """Whether `condition` has come true before the process ended."""
    while not condition():
        if process.exitcode is not None:
            return False
        time.sleep(0.001)
    return True


def test_ten_kills_at_random_moments_repeat_no_finished_call_and_change_no_byte(tmp_path, stand_in):
    stand_in.set(drop=0.0, latency=0.02)
    whole, killed = tmp_path / "whole.duckdb", tmp_path / "killed.duckdb"
    for db in (whole, killed):
        fill(db, TRACES)
    unharmed = learn(stand_in, whole)
    unharmed.join(60)
    assert (unharmed.exitcode, stand_in.requests) == (0, CALLS)
    del stand_in.bodies[:]

    moments = random.Random(5)
    finished: dict[Hashable, str] = {}
    for kill in range(KILLS):
        begun, answered = len(stand_in.bodies), stand_in.answered
        process = learn(stand_in, killed) if kill == 0 else command("resume", "run-1", db=killed)
        more = moments.randint(3, 9)
        assert until(lambda goal=answered + more: stand_in.answered >= goal, process), (
            "it had ended before it was killed"
        )
        time.sleep(moments.uniform(0, 0.05))  # the moment is to be a random one: this waits for nothing
        process.kill()
        process.join(20)
        before, finished = finished, finished_calls(killed)
        assert before.items() <= finished.items(), "what was on disk is gone"
        again = [before[name] for name in map(asked_for, stand_in.bodies[begun:]) if name in before]
        assert not again, f"kill {kill}: finished calls were made again"
    assert len(finished) > 10, "the kills came too early to show anything"

    begun = len(stand_in.bodies)
    last = command("resume", "run-1", db=killed)
    last.join(60)
    assert last.exitcode == 0
    assert not [finished[name] for name in map(asked_for, stand_in.bodies[begun:]) if name in finished]
    assert exported(killed) == exported(whole)
    with Workspace(killed) as workspace:
        uncertain = workspace.run("run-1")["calls"] - len(stand_in.bodies)
    assert 0 <= uncertain <= KILLS * 4, "every request is counted, also one that a kill kept from arriving"


def test_a_second_process_cannot_work_on_a_run_that_is_live_in_another(tmp_path, stand_in):
    db = tmp_path / "combee.duckdb"
    fill(db, 9)
    stand_in.hold.clear()
    first = learn(stand_in, db)
    assert until(lambda: stand_in.in_flight == 4, first)
    second = command("resume", "run-1", db=db)
    second.join(30)
    assert second.exitcode == 1
    assert "process" in db.with_suffix(".printed").read_text()
    assert stand_in.requests == 4
    stand_in.hold.set()
    first.join(30)
    assert (first.exitcode, stand_in.requests) == (0, 9 + 3 + 1)


def test_of_many_clicks_on_resume_one_goes_on_with_the_run(place, stand_in):
    workspace = place(9)
    stand_in.hold.clear()
    run = workspace.start(settings(stand_in))
    wait_until(lambda: stand_in.in_flight == 9, 20, "all reflections to be asked")
    workspace.cancel(run)
    workspace.wait(run)
    told: list[object] = []

    def click() -> None:
        try:
            told.append(workspace.resume(run))
        except CombeeError as error:
            told.append(str(error))

    clicks = [threading.Thread(target=click) for _ in range(8)]
    for thread in clicks:
        thread.start()
    for thread in clicks:
        thread.join(20)
    stand_in.hold.set()
    workspace.wait(run)
    assert told.count(True) == 1
    assert told.count(f"{run} is running already.") == 7
    assert workspace.run(run)["state"] == "done"
    assert stand_in.requests == 9 + (9 + 3 + 1), "those that were cancelled in flight, and each call once"
