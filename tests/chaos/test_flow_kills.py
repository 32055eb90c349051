"""Runs with every setting of the flow switched on, over HTTP and killed half-way, end with the same bytes."""

from pathlib import Path
from typing import Any

import pytest

from combee_core.workspace import Workspace
from tests.chaos.conftest import fill
from tests.chaos.test_kills import command
from tests.served import wait_until
from tests.stand_in import StandIn

TRACES, BATCH = 60, 20
FLOW = {
    "all": ("--staleness", "1", "--second-chance", "--token-budget", "800", "--hedge", "80", "--retain", "off"),
    "synchronous": ("--second-chance", "--token-budget", "800"),
}


def learn(server: StandIn, db: Path, parallel: int, flow: tuple[str, ...]) -> Any:
    endpoint = ("--base-url", server.url, "--model", "stand-in")
    size = ("--batch", str(BATCH), "--parallel", str(parallel))
    return command("learn", "--prompt", "p", *size, *endpoint, *flow, db=db)


def ended(db: Path) -> tuple[str, dict[str, Any]]:
    with Workspace(db) as workspace:
        return workspace.export("p@3", "json"), workspace.run("run-1")


def filled(path: Path) -> Path:
    fill(path, TRACES)
    return path


@pytest.mark.parametrize("flow", FLOW)
def test_a_killed_run_ends_like_one_that_was_not_at_any_parallelism(tmp_path: Path, flow: str) -> None:
    with StandIn() as server:
        server.set(latency=0.01, sigma=0.6, tail=0.02, drop=0.2)
        prompts = set()
        for parallel in (1, 64):
            db = filled(tmp_path / f"whole-{parallel}.duckdb")
            process = learn(server, db, parallel, FLOW[flow])
            process.join(60)
            assert process.exitcode == 0, db.with_suffix(".printed").read_text()[-2000:]
            prompt, summary = ended(db)
            prompts.add(prompt)
            assert summary["levels"] > 2
            assert summary["second_chances"] > 0
        db = filled(tmp_path / "killed.duckdb")
        process = learn(server, db, 4, FLOW[flow])
        for after in (15, 20, 20, 15):
            asked = server.answered
            wait_until(lambda mark=asked + after: server.answered >= mark, 30, "calls to be answered")
            process.kill()
            process.join(20)
            process = command("resume", "run-1", db=db)
        process.join(60)
        assert process.exitcode == 0, db.with_suffix(".printed").read_text()[-2000:]
        prompts.add(ended(db)[0])
        assert len(prompts) == 1


def test_a_hedged_run_is_not_held_up_by_answers_that_take_forever(tmp_path: Path) -> None:
    with StandIn() as server:
        # A request that hangs is asked again with the same prompt, and then answered.
        server.set(latency=0.005, faults={"hang": 0.05})
        db = filled(tmp_path / "hedged.duckdb")
        process = learn(server, db, 8, ("--hedge", "90"))
        process.join(60)
        assert process.exitcode == 0, db.with_suffix(".printed").read_text()[-2000:]
        _, summary = ended(db)
        assert server.by_fault["hang"] > 0
        assert summary["hedged"] >= server.by_fault["hang"]
        assert summary["calls"] == server.requests


def test_a_quorum_goes_on_without_stragglers_and_loses_nobody(tmp_path: Path) -> None:
    with StandIn() as server:
        server.set(latency=0.01, sigma=1.2, tail=0.1, drop=0.0)
        db = filled(tmp_path / "quorum.duckdb")
        process = learn(server, db, 64, ("--quorum", "0.7"))
        process.join(60)
        assert process.exitcode == 0, db.with_suffix(".printed").read_text()[-2000:]
        _, summary = ended(db)
        assert summary["late_reflections"] > 0
        assert (summary["lessons"], summary["dropped_lessons"]) == (TRACES, 0)
        assert server.requests == summary["calls"]
