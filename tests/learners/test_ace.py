"""The learner that asks a model, over real HTTP."""

import asyncio
from typing import Any

from combee_core.learners.ace import AceLearner
from combee_core.lesson import Item
from combee_core.llm.base import Meter
from combee_core.llm.endpoint import Endpoint, OpenAIModel
from combee_core.playbook import Contradiction, Merged, Playbook
from tests.stand_in import Behaviour, StandIn


def merged(server: StandIn, *items: Item) -> Merged:
    async def ask() -> Merged:
        model = OpenAIModel(Endpoint(base_url=server.url, model="stand-in"), "key")
        try:
            return await AceLearner(model).merge(items, Playbook(), Meter(), False)
        finally:
            await model.aclose()

    return asyncio.run(ask())


def test_contradictions_of_a_merge_come_back_beside_its_operations():
    some = [
        Item(id="r1-1", text="Pay in cents"),
        Item(id="r2-1", text="Ask twice"),
        Item(id="r3-1", text="Pay in euros"),
    ]
    with StandIn(Behaviour(drop=0.0, contradict=("cents", "euros"))) as server:
        answer = merged(server, *some)
    assert answer.contradictions == (Contradiction(sources=("r1-1", "r3-1"), about="cents or euros"),)
    assert len(answer.operations) == 3


def test_a_merge_is_told_how_many_runs_are_behind_an_item():
    with StandIn() as server:
        merged(server, Item(id="m1-1-1", text="Pay in cents", support=7), Item(id="m1-1-2", text="Ask twice"))
        prompt: Any = server.bodies[0]["messages"][-1]["content"]
    assert "m1-1-1: seen in 7 runs" in prompt
    assert "m1-1-2:" not in prompt
