"""Requests over real HTTP: what is retried, what is counted, what a person is told."""

import asyncio
import time

import pytest

from combee_core.llm.base import AnswerSchema, CallFailed, ChatMessage, Completion, Meter
from combee_core.llm.endpoint import Endpoint, OpenAIModel
from combee_core.llm.failures import retry_after

HELLO = [ChatMessage("user", "hello")]
KEY = "sk-secret-1234"


def complete(
    url: str, meter: Meter, key: str | None = None, schema: AnswerSchema | None = None, **chosen
) -> Completion:
    async def scene() -> Completion:
        settings = {"timeout_s": 5.0, "backoff_s": 0.001} | chosen
        model = OpenAIModel(Endpoint(base_url=url, model="stand-in", **settings), key)
        try:
            return await model.complete(HELLO, meter, schema)
        finally:
            await model.aclose()

    return asyncio.run(scene())


def test_an_answer_is_counted_with_its_tokens(stand_in):
    meter = Meter()
    assert complete(stand_in.url, meter).text == '{"answer": "ready"}'
    assert (meter.requests, meter.failed) == (1, 0)
    assert (meter.input_tokens, meter.input_chars) == (len("hello") // 4, len("hello"))
    assert meter.output_tokens > 0
    assert meter.cost_usd is None, "the price of this model is unknown, not zero"


@pytest.mark.parametrize(
    ("fault", "kind"), [("429", "rate_limited"), ("500", "server_error"), ("reset", "connection"), ("hang", "timeout")]
)
def test_what_passes_is_tried_again_and_every_request_is_counted(stand_in, fault, kind):
    stand_in.set(faults={fault: 1.0})
    meter = Meter()
    with pytest.raises(CallFailed) as told:
        complete(stand_in.url, meter, max_attempts=3, timeout_s=0.2)
    assert told.value.kind == kind
    assert meter.requests == stand_in.requests == 3
    assert meter.failed == 3
    assert meter.failures == {kind: 3}


def test_a_retry_that_works_gives_the_answer(stand_in):
    stand_in.set(faults={"500": 0.6})
    meter = Meter()
    assert complete(stand_in.url, meter, max_attempts=20).text
    assert meter.requests == stand_in.requests == meter.failed + 1


def test_retry_after_is_honoured(stand_in):
    stand_in.set(faults={"429": 1.0}, retry_after=0.3)
    started = time.monotonic()
    with pytest.raises(CallFailed):
        complete(stand_in.url, Meter(), max_attempts=2, backoff_s=0.0)
    assert time.monotonic() - started >= 0.3


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "86400"}, 120.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers, seconds):
    assert retry_after(headers) == seconds


def test_a_refused_key_is_final_and_never_shown(stand_in):
    stand_in.set(key="another")
    meter = Meter()
    with pytest.raises(CallFailed) as told:
        complete(stand_in.url, meter, key=KEY)
    assert told.value.kind == "auth"
    assert meter.requests == 1
    assert KEY not in str(told.value)
    assert "refused the key" in str(told.value)


@pytest.mark.parametrize("pasted", [f"{KEY}\n", f"  {KEY}\t", f"\n{KEY}\r\n", f"{KEY}\N{NO-BREAK SPACE}"])
def test_what_was_copied_around_a_key_is_left_out(stand_in, pasted):
    stand_in.set(key=KEY)
    assert complete(stand_in.url, Meter(), key=pasted).text


@pytest.mark.parametrize(
    "pasted", ["sk-one sk-two", "sk-one\nsk-two", "\N{CYRILLIC SMALL LETTER ES}k-1", "sk-\x00", "sk-é"]
)
def test_a_key_that_no_header_can_carry_is_told_before_anything_is_sent(stand_in, pasted):
    meter = Meter()
    with pytest.raises(CallFailed, match="The key cannot be sent") as told:
        complete(stand_in.url, meter, key=pasted)
    assert pasted not in str(told.value)
    assert meter.requests == stand_in.requests == 0


@pytest.mark.parametrize(
    "address", ["localhost:8000/v1", "", "ftp://x/v1", "http://", "http://[::1", "http://x:port/v1"]
)
def test_an_address_that_is_none_is_told_before_anything_is_sent(address):
    meter = Meter()
    with pytest.raises(CallFailed, match="is no address"):
        complete(address, meter)
    assert meter.requests == 0


def test_the_key_is_no_part_of_what_can_be_stored_or_printed():
    endpoint = Endpoint(model="m")
    assert KEY not in repr(OpenAIModel(endpoint, KEY))
    assert "key" not in endpoint.model_dump()


@pytest.mark.parametrize("refused", [("json_schema",), ("json_schema", "json_object"), ("temperature",)])
def test_what_the_endpoint_refuses_is_left_out_and_remembered(stand_in, refused):
    stand_in.set(refuses=refused)
    schema = AnswerSchema("Any", {"type": "object", "properties": {"a": {"type": "string"}}})

    async def scene() -> Meter:
        model = OpenAIModel(Endpoint(base_url=stand_in.url, model="stand-in"), None)
        meter = Meter()
        await model.complete(HELLO, meter, schema)
        await model.complete(HELLO, meter, schema)
        await model.aclose()
        return meter

    meter = asyncio.run(scene())
    assert meter.failed == len(refused)
    assert meter.requests == stand_in.requests == len(refused) + 2


def test_max_tokens_becomes_max_completion_tokens_where_it_is_refused(stand_in):
    stand_in.set(refuses=("max_tokens",))
    complete(stand_in.url, Meter(), max_output_tokens=50)
    assert stand_in.bodies[-1]["max_completion_tokens"] == 50


def test_no_server_is_told_in_one_sentence():
    with pytest.raises(CallFailed, match=r"No connection to http://127\.0\.0\.1:9/v1") as told:
        complete("http://127.0.0.1:9/v1", Meter(), max_attempts=1)
    assert "\n" not in str(told.value)


def test_many_requests_at_once_stay_near_the_latency_bound(stand_in):
    stand_in.set(latency=0.2)

    async def scene() -> float:
        model = OpenAIModel(Endpoint(base_url=stand_in.url, model="stand-in"), None)
        await model.complete(HELLO, Meter())
        limit = asyncio.Semaphore(64)

        async def one() -> None:
            async with limit:
                await model.complete(HELLO, Meter())

        started = time.perf_counter()
        await asyncio.gather(*(one() for _ in range(128)))
        spent = time.perf_counter() - started
        await model.aclose()
        return spent

    # Two waves of 200 ms; the margin is for a busy machine, the point is that it is not 128 times 200 ms.
    assert asyncio.run(scene()) < 5.0
