"""The learner that asks a model, over real HTTP."""

import asyncio
import json
from typing import Any

from aiohttp import web

from combee_core.learners import ace
from combee_core.learners.ace import AceLearner, instructions
from combee_core.lesson import Item
from combee_core.llm.base import Meter
from combee_core.llm.endpoint import Endpoint, OpenAIModel
from combee_core.playbook import Bullet, Contradiction, Merged, Playbook, render
from tests.engine.scripted import make_trace
from tests.stand_in import Behaviour, StandIn, completion


def merged(server: StandIn, *items: Item, playbook: Playbook | None = None) -> Merged:
    async def ask() -> Merged:
        model = OpenAIModel(Endpoint(base_url=server.url, model="stand-in"), "key")
        try:
            return await AceLearner(model).merge(items, playbook or Playbook(), Meter(), False)
        finally:
            await model.aclose()

    return asyncio.run(ask())


def answered(operations: list[dict[str, Any]], *items: Item) -> Merged:
    """What is made of a model's very answer."""

    async def say(request: web.Request, body: dict[str, Any]) -> web.Response:
        return web.json_response(completion(body, json.dumps({"operations": operations, "contradictions": []})))

    with StandIn() as server:
        server.instead = say
        return merged(server, *items)


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


def test_what_an_addition_leaves_empty_comes_from_its_items():
    some = [
        Item(id="m1-1-1", text="Pay in cents", section="RULES"),
        Item(id="m1-1-2", text="Ask twice", section=""),
        Item(id="m1-2-1", text="Never pay in euros", section="MONEY"),
    ]
    operations = [
        {"item": "[m1-1-1]", "content": " ", "sources": ["m1-2-1"]},
        {"item": "m1-1-2", "content": "Ask two times", "sources": ["[m1-2-1]"]},
        {"item": "m9-9-9", "content": "", "sources": []},
    ]

    answer = answered(operations, *some)
    assert [(op.kind, op.section, op.content) for op in answer.operations] == [
        ("ADD", "RULES", "Pay in cents"),
        ("ADD", "MONEY", "Ask two times"),
        ("ADD", "OTHERS", ""),
    ]


def test_into_an_empty_playbook_a_model_writes_additions_and_is_told_where_the_items_end():
    with StandIn(Behaviour(drop=0.0)) as server:
        merged(server, Item(id="r1-1", text="Pay in cents"), Item(id="r2-1", text="Ask twice"))
        merged(server, Item(id="m1-1-1", text="Pay in cents"), Item(id="m1-2-1", text="Ask twice"))
        first, again = server.bodies
    wanted = first["response_format"]["json_schema"]["schema"]["$defs"]["AdditionAnswer"]
    assert list(wanted["properties"]) == ["item", "content", "sources"]
    assert "2 in all, from [r1-1] to [r2-1]" in first["messages"][-1]["content"]
    assert first["messages"][0]["content"] == instructions("merge-first")
    assert again["messages"][0]["content"] == instructions("merge-again")


def test_into_a_playbook_with_bullets_a_model_writes_edits():
    playbook = Playbook(bullets=(Bullet(id="rules-00001", section="RULES", content="Be kind"),))
    with StandIn(Behaviour(drop=0.0)) as server:
        answer = merged(server, Item(id="r1-1", text="Pay in cents"), playbook=playbook)
        (asked,) = server.bodies
    assert asked["messages"][0]["content"] == instructions("merge")
    assert "Be kind" in asked["messages"][-1]["content"]
    wanted = asked["response_format"]["json_schema"]["schema"]["$defs"]["OperationAnswer"]
    assert list(wanted["properties"])[0::5] == ["item", "sources"]
    assert [operation.content for operation in answer.operations] == ["Pay in cents"]


def test_an_item_with_an_operation_of_its_own_is_not_the_same_as_another():
    operations = [
        {"item": "r1-1", "content": "Pay in cents", "sources": ["r2-1", "r3-1"]},
        {"item": "[r2-1]", "content": "Ask twice", "sources": ["r1-1"]},
        {"sources": ["r4-1", "[r1-1]"], "content": "Be brief"},
        {"sources": [], "content": "Be kind"},
    ]
    answer = answered(operations, *(Item(id=f"r{number}-1", text="…") for number in range(1, 6)))
    assert [op.sources for op in answer.operations] == [("r1-1", "r3-1"), ("r2-1",), ("r4-1", "r1-1"), ()]


def test_an_item_of_which_a_bullet_holds_nothing_is_not_the_same():
    some = [
        Item(id="r1-1", text="A page has 250 rows"),
        Item(id="r2-1", text="A page has 80 columns"),
        Item(id="r3-1", text="No page has more than 250 rows"),
        Item(id="r4-1", text="Pages are long"),
    ]
    operations = [{"item": "r1-1", "content": "", "sources": ["r2-1", "r3-1", "r4-1"]}]
    (operation,) = answered(operations, *some).operations
    assert operation.content == "A page has 250 rows"
    assert operation.sources == ("r1-1", "r3-1", "r4-1")


def test_an_answer_says_whether_it_went_item_by_item():
    item = Item(id="r1-1", text="refund_order wants cents")
    by_item = {"item": "r1-1", "content": "Check the documentation.", "sources": ["r1-1"]}
    outright = {"sources": ["r1-1"], "content": "Check the documentation."}
    assert answered([by_item], item).by_item
    assert not answered([outright], item).by_item
    assert not answered([by_item, outright], item).by_item


def test_an_item_of_a_merge_keeps_its_words_where_the_bullet_holds_nothing_of_it():
    some = [
        Item(id="m1-1-1", text="A page has 250 rows"),
        Item(id="m1-1-2", text="refund_order wants cents"),
        Item(id="m1-2-1", text="Ask first"),
        Item(id="r1-1", text="It was late. A page has 80 columns."),
    ]
    operations = [
        {"item": "m1-1-1", "content": "refund_order wants cents", "sources": ["m1-1-1"]},
        {"item": "m1-1-2", "content": "Pass cents to refund_order", "sources": ["m1-1-2"]},
        {"item": "m1-2-1", "content": "Always ask first", "sources": ["m1-2-1"]},
        {"item": "r1-1", "content": "It was late.", "sources": ["r1-1"]},
    ]
    assert [op.content for op in answered(operations, *some).operations] == [
        "A page has 250 rows",
        "Pass cents to refund_order",
        "Always ask first",
        "It was late.",
    ]


def test_each_prompt_shows_its_own_playbook_which_is_written_out_once_for_a_batch(monkeypatch):
    written = []

    def counted(playbook: Playbook) -> str:
        written.append(playbook)
        return render(playbook)

    monkeypatch.setattr(ace, "render", counted)
    books = [Playbook(bullets=(Bullet(id=f"b-{word}", section="RULES", content=f"Stay {word}."),)) for word in "xy"]

    async def reflect(server: StandIn) -> None:
        model = OpenAIModel(Endpoint(base_url=server.url, model="stand-in"), "key")
        learner = AceLearner(model)
        for number, playbook in enumerate([books[0], books[0], books[0], books[1], books[1]]):
            await learner.reflect(make_trace(number), playbook, Meter())
        await model.aclose()

    with StandIn() as server:
        asyncio.run(reflect(server))
        shown = [body["messages"][1]["content"] for body in server.bodies]
    assert ["Stay x." in text for text in shown] == [True, True, True, False, False]
    assert ["Stay y." in text for text in shown] == [False, False, False, True, True]
    assert written == books
