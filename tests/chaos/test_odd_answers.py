"""One odd answer in a whole run over real HTTP costs at most its own node, and every request is counted."""

import json

import pytest
from aiohttp import web

from tests.chaos.conftest import settings
from tests.stand_in import completion, reply

TRACES = 6


@pytest.fixture
def workspace(place):
    return place(TRACES)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace("units", "units \\ud83d"),
        lambda text: text.replace("units", "units \\u0000"),
        lambda text: [{"type": "text", "text": text[:30]}, {"type": "text", "text": text[30:]}],
        lambda text: [{"type": "text", "text": text.replace("units", "units \ud83d")}],
        lambda text: f"<think>\x00 {{</think>```json\n{text}\n```",
    ],
)
def test_every_lesson_survives_answers_that_are_odd_but_readable(workspace, stand_in, spoil):
    async def instead(request: web.Request, body: dict) -> web.Response:
        answer = completion(body, "")
        answer["choices"][0]["message"]["content"] = spoil(json.dumps(reply(body, stand_in.behaviour)))
        return web.json_response(answer)

    stand_in.instead = instead
    stand_in.set(drop=0.0)
    summary = workspace.learn(settings(stand_in))
    assert summary["state"] == "done", summary["error"]
    assert (summary["lessons"], summary["dropped_lessons"], summary["failures"]) == (TRACES, 0, {})
    assert summary["calls"] == stand_in.requests
    workspace.export(summary["version"], "json").encode()


def test_a_key_that_cannot_be_sent_ends_the_run_in_one_sentence_before_any_request(workspace, stand_in):
    run = workspace.start(settings(stand_in), api_key="sk-one\nsk-two")
    workspace.wait(run)
    summary = workspace.run(run)
    assert (summary["state"], summary["calls"], stand_in.requests) == ("failed", 0, 0)
    assert summary["error"].startswith("The key cannot be sent")
    stand_in.set(key="sk-one")
    assert workspace.resume(run, api_key=" sk-one\n")
    workspace.wait(run)
    assert workspace.run(run)["state"] == "done"
