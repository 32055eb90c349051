"""Embeddings over real HTTP: what is sent, counted, tried again, and told."""

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web

from combee_core.llm.base import CallFailed, Meter
from combee_core.llm.endpoint import Endpoint, OpenAIModel
from tests.stand_in import StandIn, embedding

TEXTS = ["Pass the amount in cents.", "Ask first."]


def embed(server: StandIn, meter: Meter, **chosen: Any) -> list[list[float]]:
    async def scene() -> list[list[float]]:
        settings = {"timeout_s": 5.0, "backoff_s": 0.001, "embedding_model": "small"} | chosen
        model = OpenAIModel(Endpoint(base_url=server.url, model="stand-in", **settings), None)
        try:
            return await model.embed(TEXTS, meter)
        finally:
            await model.aclose()

    return asyncio.run(scene())


def test_each_text_gets_its_vector_and_the_call_is_counted(stand_in: StandIn) -> None:
    meter = Meter()
    assert embed(stand_in, meter) == [embedding(text, {}) for text in TEXTS]
    assert stand_in.bodies == [{"model": "small", "input": TEXTS}]
    chars = sum(map(len, TEXTS))
    assert (meter.requests, meter.failed, meter.input_tokens, meter.input_chars) == (1, 0, chars // 4, chars)
    assert (meter.output_tokens, meter.cost_usd) == (0, None), "the price of this model is unknown"


def test_what_passes_is_tried_again(stand_in: StandIn) -> None:
    stand_in.set(faults={"500": 0.6})
    meter = Meter()
    assert len(embed(stand_in, meter, max_attempts=20)) == 2
    assert meter.requests == stand_in.requests == meter.failed + 1


def test_an_endpoint_without_the_model_is_told_in_one_sentence_that_names_it(stand_in: StandIn) -> None:
    stand_in.set(refuses=("embeddings",))
    meter = Meter()
    with pytest.raises(CallFailed, match="knows no model small") as told:
        embed(stand_in, meter)
    assert (told.value.kind, meter.requests, meter.failed) == ("auth", 1, 1)


@pytest.mark.parametrize(
    "data",
    [
        [],
        [{"index": 0, "embedding": [1.0]}],
        [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}],
        [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": ["1"]}],
        [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}],
        [{"index": 5, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}],
        [1, None],
        "AAAA",
    ],
)
def test_an_answer_without_a_vector_for_each_text_is_of_no_use_and_counted(stand_in: StandIn, data: object) -> None:
    async def instead(request: web.Request, body: dict[str, Any]) -> web.Response:
        return web.Response(body=json.dumps({"data": data}), content_type="application/json")

    stand_in.instead = instead
    meter = Meter()
    with pytest.raises(CallFailed):
        embed(stand_in, meter, max_attempts=1)
    assert (meter.requests, meter.failed) == (1, 1)


def test_vectors_go_to_their_texts_in_whatever_order_they_come(stand_in: StandIn) -> None:
    async def instead(request: web.Request, body: dict[str, Any]) -> web.Response:
        data = [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [1, 0]}]
        return web.Response(body=json.dumps({"data": data}), content_type="application/json")

    stand_in.instead = instead
    assert embed(stand_in, Meter()) == [[1.0, 0.0], [0.0, 2.0]]
