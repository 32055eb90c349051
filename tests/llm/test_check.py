"""Testing a connection says in one sentence what is wrong, and never raises."""

import asyncio

import pytest

from combee_core.llm.check import check_endpoint
from combee_core.llm.prices import cost


def test_a_working_endpoint_lists_its_models_and_its_latency(stand_in):
    found = asyncio.run(check_endpoint(stand_in.url, None, "stand-in"))
    assert found.ok, found.message
    assert found.models == ("stand-in",)
    assert found.latency_ms is not None
    assert "stand-in answers in" in found.message


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("", "is no address"),
        ("localhost:1234", "is no address"),
        ("http://127.0.0.1:9/v1", "No connection to http://127.0.0.1:9/v1"),
        ("http://no-such-host.invalid/v1", "No connection to"),
    ],
)
def test_a_wrong_address_is_told(url, part):
    found = asyncio.run(check_endpoint(url, None))
    assert not found.ok
    assert part in found.message


def test_a_refused_key_is_told_without_showing_it(stand_in):
    stand_in.set(key="right")
    found = asyncio.run(check_endpoint(stand_in.url, "sk-wrong-key"))
    assert not found.ok
    assert "refused the key" in found.message
    assert "sk-wrong-key" not in found.message


def test_a_key_that_cannot_be_sent_is_told(stand_in):
    found = asyncio.run(check_endpoint(stand_in.url, "sk-one sk-two"))
    assert not found.ok
    assert "The key cannot be sent" in found.message


def test_a_path_without_v1_is_told(stand_in):
    found = asyncio.run(check_endpoint(stand_in.url.removesuffix("/v1"), None))
    assert not found.ok
    assert "/v1" in found.message


def test_known_models_have_a_price_and_unknown_ones_none():
    assert cost("gpt-4o-mini", "https://api.openai.com/v1", 1_000_000, 0) == pytest.approx(0.15)
    assert cost("my-own-model", "http://localhost:8000/v1", 1_000, 10) is None
