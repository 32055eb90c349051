"""What the recording server keeps of requests, answered and given up."""

import http.client
import json
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from benchmarks.engine.server import Recording, Served, served
from tests.stand_in import Behaviour


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def sent(server: Recording, prompt: str) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc)
    body = {"model": "stand-in", "messages": [{"role": "user", "content": prompt}]}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    return connection


def kept(server: Recording) -> list[Served]:
    return served(server.url)


def test_a_merge_is_known_by_its_items_and_a_reflection_by_its_task():
    with Recording(Behaviour()) as server:
        sent(server, "ITEMS\n[r1-1] Pass cents\n[m1-2-3] Ask first").getresponse().read()
        sent(server, "<<<TRACE-1\nTASK\nBook invoice 7\n\nSTEPS\nTRACE-1>>>").getresponse().read()
        assert [one.about for one in kept(server)] == [("r1-1", "m1-2-3"), ("Book invoice 7",)]


def test_a_second_request_for_a_prompt_is_drawn_anew():
    with Recording(Behaviour(latency=0.001, sigma=0.6)) as server:
        for _ in range(2):
            sent(server, "TASK\nBook it").getresponse().read()
        first, second = kept(server)
    assert (first.asked, second.asked) == (1, 2)
    assert first.seconds != second.seconds


def test_a_request_that_is_given_up_is_kept_with_what_it_would_have_taken():
    with Recording(Behaviour(latency=600.0)) as server:
        connection = sent(server, "TASK\nBook it")
        until(lambda: bool(server.asked))
        connection.close()
        until(lambda: bool(kept(server)))
        (one,) = kept(server)
    assert (one.about, one.asked, one.seconds) == (("Book it",), 1, 600.0)
    assert one.ended - one.arrived < 60
