"""A run that ends with embeddings of its bullets, over real HTTP: counted, resumed, and gone without where need be."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from combee_core.engine.settings import RunSettings
from combee_core.llm.endpoint import Endpoint
from combee_core.store.traces import ImportCounts
from combee_core.workspace import Workspace
from tests.engine.scripted import make_trace
from tests.stand_in import StandIn


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace(tmp_path / "combee.duckdb") as workspace:
        traces = workspace._traces
        feedback = ["Pass the sum in cents", "Hand over the sum in cents", "Never pass the sum in cents", "Stay calm"]
        made = [
            make_trace(i).model_copy(update={"feedback": said, "task": "the task"}) for i, said in enumerate(feedback)
        ]
        traces.add(traces.begin_import("made", "openai-chat", ""), made, [], ImportCounts())
        yield workspace


MEANS = {"pass": "give", "hand": "give", "over": "give", "the": "a", "task": "a", "for": "a"}


def settings(server: StandIn, **chosen: Any) -> RunSettings:
    server.set(drop=0.0, means=MEANS)
    endpoint = Endpoint(base_url=server.url, model="stand-in", embedding_model="small", backoff_s=0.001, max_attempts=2)
    return RunSettings(prompt="p", batch=4, endpoint=endpoint, **chosen)


def twins(workspace: Workspace, version: str) -> list[set[str]]:
    offered = workspace.review.proposals(workspace.version(version))
    return [{side.text.split(": ")[1] for side in each.sides} for each in offered if each.kind == "alike"]


def test_bullets_that_mean_the_same_are_found_by_embeddings_and_the_call_is_counted(
    workspace: Workspace, stand_in: StandIn
) -> None:
    run = workspace.learn(settings(stand_in))
    assert run["upkeep"] == {"by": "embeddings", "calls": 1, "note": None}
    assert run["calls"] == stand_in.requests == 4 + 2 + 1 + 1
    assert twins(workspace, run["version"]) == [{"Pass the sum in cents", "Hand over the sum in cents"}]
    assert stand_in.bodies[-1]["model"] == "small"
    tree = workspace.tree(run["run"])
    assert {node["kind"] for each in tree["iterations"] for node in each["nodes"]} == {"reflection", "merge", "final"}


def test_without_a_model_for_embeddings_none_is_asked_for(workspace: Workspace, stand_in: StandIn) -> None:
    chosen = settings(stand_in)
    assert chosen.endpoint is not None
    plain = chosen.model_copy(update={"endpoint": chosen.endpoint.model_copy(update={"embedding_model": None})})
    run = workspace.learn(plain)
    assert run["upkeep"] == {"by": "wording", "calls": 0, "note": None}
    assert twins(workspace, run["version"]) == []


def test_an_endpoint_that_has_none_leaves_it_to_the_wording_and_the_run_says_so(
    workspace: Workspace, stand_in: StandIn
) -> None:
    chosen = settings(stand_in)
    stand_in.set(refuses=("embeddings",))
    run = workspace.learn(chosen)
    assert (run["state"], run["upkeep"]["by"], run["upkeep"]["calls"]) == ("done", "wording", 1)
    assert "knows no model small" in run["upkeep"]["note"]
    assert run["failures"] == {"auth": 1}
    assert twins(workspace, run["version"]) == []


def test_a_budget_that_is_used_up_by_then_is_kept_and_the_run_is_done(workspace: Workspace, stand_in: StandIn) -> None:
    run = workspace.learn(settings(stand_in, max_calls=7))
    assert (run["state"], run["calls"], stand_in.requests) == ("done", 7, 7)
    assert run["upkeep"]["by"] == "wording"
    assert "budget of 7 calls" in run["upkeep"]["note"]


def test_a_run_that_is_stopped_meanwhile_asks_again_for_embeddings_alone(
    workspace: Workspace, stand_in: StandIn
) -> None:
    chosen = settings(stand_in)

    async def held(request: web.Request, body: dict[str, Any]) -> None:
        if "input" in body:
            workspace.interrupt(run)
            await asyncio.sleep(3600)

    stand_in.instead = held
    run = workspace.start(chosen)
    assert workspace.wait(run, 30)
    assert workspace.run(run)["state"] == "interrupted"
    stand_in.instead = None
    before = stand_in.requests
    workspace.resume(run)
    assert workspace.wait(run, 30)
    done = workspace.run(run)
    assert (done["state"], done["upkeep"]["by"], stand_in.requests - before) == ("done", "embeddings", 1)
    assert done["calls"] == stand_in.requests
    assert len(twins(workspace, done["version"])) == 1
