"""What endpoints really send with status 200, over real HTTP: each oddity has a defined outcome and is counted."""

import asyncio
import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from combee_core.llm.answer import completion_of
from combee_core.llm.base import CallFailed, ChatMessage, Completion, Meter
from combee_core.llm.endpoint import Endpoint, OpenAIModel
from combee_core.llm.failures import RequestFailed
from tests.stand_in import StandIn, completion

HELLO = [ChatMessage("user", "hello")]
USAGE = {"prompt_tokens": 3, "completion_tokens": 5}


def ask(server: StandIn, meter: Meter, url: str = "", **chosen: Any) -> Completion:
    async def scene() -> Completion:
        settings = {"timeout_s": 5.0, "backoff_s": 0.001, "max_attempts": 2} | chosen
        model = OpenAIModel(Endpoint(base_url=url or server.url, model="stand-in", **settings), None)
        try:
            return await model.complete(HELLO, meter)
        finally:
            await model.aclose()

    return asyncio.run(scene())


def sends(server: StandIn, data: bytes, content_type: str = "application/json", **headers: str) -> None:
    async def instead(request: web.Request, body: dict[str, Any]) -> web.Response:
        return web.Response(body=data, content_type=content_type, headers=headers)

    server.instead = instead


def message(**fields: Any) -> Callable[[], bytes]:
    return lambda: json.dumps({"choices": [{"message": fields, "finish_reason": "stop"}], "usage": USAGE}).encode()


def part(text: object, kind: str = "text") -> dict[str, object]:
    return {"type": kind, "text": text}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        ([part("one "), part("two")], "one two"),
        ([part("thought", "thinking"), part("said")], "said"),
        (["bare ", part("text")], "bare text"),
        ([part(None), {"type": "image_url"}, 3], ""),
        ([], ""),
        (None, ""),
        (7, "7"),
        ({"answer": 1}, '{"answer":1}'),
        ("a \ud83d b", "a \N{REPLACEMENT CHARACTER} b"),
        ("a \x00 b", "a \N{REPLACEMENT CHARACTER} b"),
        ("<think>{} or {1}?</think>\n{}", "{}"),
        ("they write <think>here</think>", "they write <think>here</think>"),
    ],
)
def test_the_text_of_an_answer_is_read_from_every_shape_of_content(stand_in, content, text):
    sends(stand_in, message(content=content)())
    meter = Meter()
    assert ask(stand_in, meter).text == text
    assert (meter.requests, meter.failed, meter.input_tokens, meter.output_tokens) == (1, 0, 3, 5)


def test_an_answer_that_went_whole_into_the_reasoning_is_taken_from_there_but_thoughts_are_not(stand_in):
    sends(stand_in, message(content=None, reasoning_content='\n{"lessons": []}')())
    assert ask(stand_in, Meter()).text == '{"lessons": []}'
    sends(stand_in, message(content=None, reasoning_content="Let me think.")())
    assert ask(stand_in, Meter()).text == ""


@pytest.mark.parametrize(
    "answer",
    [
        {"choices": [], "usage": USAGE},
        {"choices": None, "usage": USAGE},
        {"choices": [{"message": None}], "usage": USAGE},
        {"choices": [None], "usage": USAGE},
        {"choices": [{"finish_reason": {"odd": 1}, "message": {"content": "", "refusal": ["no"]}}], "usage": USAGE},
    ],
)
def test_an_answer_without_content_is_empty_and_its_tokens_are_counted(stand_in, answer):
    sends(stand_in, json.dumps(answer).encode())
    meter = Meter()
    assert ask(stand_in, meter).text == ""
    assert (meter.requests, meter.input_tokens, meter.output_tokens) == (1, 3, 5)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ("null", 0),
        ("[]", 0),
        ('"many"', 0),
        ('{"prompt_tokens": null}', 0),
        ('{"prompt_tokens": "12"}', 12),
        ('{"prompt_tokens": 12.0}', 12),
        ('{"prompt_tokens": true}', 0),
        ('{"prompt_tokens": -3}', 0),
        ('{"prompt_tokens": NaN}', 0),
        ('{"prompt_tokens": Infinity}', 0),
        ('{"prompt_tokens": 1e300}', 0),
        ('{"prompt_tokens": 99999999999999999999999}', 0),
        ('{"prompt_tokens": 1, "prompt_tokens": 2}', 2),
    ],
)
def test_usage_of_any_kind_is_a_count_or_nothing(stand_in, usage, tokens):
    sends(stand_in, f'{{"choices": [{{"message": {{"content": "x"}}}}], "usage": {usage}}}'.encode())
    meter = Meter()
    assert ask(stand_in, meter).text == "x"
    assert meter.input_tokens == tokens


@pytest.mark.parametrize(
    ("data", "kind", "said"),
    [
        (b"<html><title>Sign in</title></html>", "not_json", "Sign in"),
        (b"", "not_json", "nothing"),
        (b'{"choices": [{"mess', "not_json", "choices"),
        (b"[" * 100_000, "not_json", "[["),
        (b'{"error": {"message": "Provider returned error", "code": 502}}', "server_error", "Provider returned error"),
        (b'{"error": {"message": "Slow down", "code": 429}}', "rate_limited", "Slow down"),
        (b'{"error": "out of memory"}', "server_error", "out of memory"),
    ],
)
def test_what_is_no_answer_is_asked_for_again_and_shown(stand_in, data, kind, said):
    sends(stand_in, data)
    meter = Meter()
    with pytest.raises(CallFailed, match=r"127\.0\.0\.1") as told:
        ask(stand_in, meter)
    assert told.value.kind == kind
    assert said in str(told.value)
    assert "\n" not in str(told.value)
    assert (meter.requests, meter.failures) == (2, {kind: 2})
    assert stand_in.requests == 2


@pytest.mark.parametrize("data", [b'{"object": "list", "data": []}', b"[]", b"3", b'"ok"'])
def test_json_that_is_no_chat_completion_is_told_at_once(stand_in, data):
    sends(stand_in, data)
    meter = Meter()
    with pytest.raises(CallFailed, match="not as an OpenAI-compatible endpoint does"):
        ask(stand_in, meter)
    assert (meter.requests, meter.failures) == (1, {"not_json": 1})


def test_broken_utf8_costs_no_more_than_its_characters(stand_in):
    sends(stand_in, b'{"choices": [{"message": {"content": "caf\xe9"}}]}')
    assert ask(stand_in, Meter()).text.startswith("caf")


def test_a_broken_gzip_body_is_a_lost_connection(stand_in):
    whole = gzip.compress(message(content="x")())
    sends(stand_in, whole[:20] + b"garbage" + whole[25:], **{"Content-Encoding": "gzip"})
    meter = Meter()
    with pytest.raises(CallFailed) as told:
        ask(stand_in, meter)
    assert told.value.kind == "connection"
    assert meter.requests == stand_in.requests == 2


def test_a_chunked_body_that_is_cut_short_is_a_lost_connection(stand_in):
    stand_in.set(faults={"cut": 1.0})
    meter = Meter()
    with pytest.raises(CallFailed) as told:
        ask(stand_in, meter)
    assert told.value.kind == "connection"
    assert meter.requests == stand_in.requests == 2


def test_a_redirect_that_keeps_the_request_is_followed(stand_in):
    async def instead(request: web.Request, body: dict[str, Any]) -> web.StreamResponse | None:
        if "to" in request.query:
            return None
        raise web.HTTPTemporaryRedirect(f"{stand_in.url}/chat/completions?to=here")

    stand_in.instead = instead
    assert ask(stand_in, Meter()).text


def test_a_redirect_that_loses_the_request_says_which_address_to_set(stand_in):
    async def instead(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        raise web.HTTPMovedPermanently(stand_in.url.replace("/v1", "/v2/chat/completions"))

    stand_in.instead = instead
    with pytest.raises(CallFailed, match="set that address") as told:
        ask(stand_in, Meter())
    assert stand_in.url.replace("/v1", "/v2:") in str(told.value)


@pytest.mark.parametrize("ending", ["/", " ", "\n", "//"])
def test_what_follows_an_address_by_accident_does_no_harm(stand_in, ending):
    assert ask(stand_in, Meter(), url=stand_in.url + ending).text


def test_the_query_of_an_address_is_sent_with_every_request(stand_in):
    seen = []

    async def instead(request: web.Request, body: dict[str, Any]) -> None:
        seen.append(request.query_string)

    stand_in.instead = instead
    assert ask(stand_in, Meter(), url=f"{stand_in.url}?api-version=2026-01-01").text
    assert seen == ["api-version=2026-01-01"]


def test_an_answer_of_many_megabytes_is_read(stand_in):
    sends(stand_in, message(content="x" * 8_000_000)())
    assert len(ask(stand_in, Meter()).text) == 8_000_000


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
ODD = st.fixed_dictionaries(
    {},
    optional={
        "choices": JSON
        | st.lists(
            JSON
            | st.fixed_dictionaries(
                {},
                optional={
                    "message": JSON
                    | st.fixed_dictionaries({}, optional={"content": JSON, "refusal": JSON, "reasoning": JSON}),
                    "finish_reason": JSON,
                },
            ),
            max_size=2,
        ),
        "usage": JSON | st.dictionaries(st.sampled_from(["prompt_tokens", "completion_tokens"]), JSON),
        "error": JSON,
    },
)


@given(answer=ODD | JSON, cut=st.none() | st.integers(0, 60))
def test_no_answer_breaks_the_reader(answer, cut):
    data = json.dumps(answer).encode()[:cut]
    try:
        read = completion_of(data, "http://here", "key")
    except RequestFailed:
        return
    read.text.encode()
    assert "\x00" not in read.text
    assert 0 <= read.input_tokens < 2**40
    assert isinstance(read.refusal, str)
    assert isinstance(read.finish_reason, str)


def test_the_stand_in_sends_what_is_read(stand_in):
    body = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
    read = completion_of(json.dumps(completion(body, "hi")).encode(), "http://here", "")
    assert (read.text, read.input_tokens, read.output_tokens) == ("hi", 1, 1)
