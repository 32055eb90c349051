"""The one thing to do next, by what there is."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pages.next_step import Standing

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
TRACES = {"total": 40, "success": 20, "failure": 15, "unknown": 5}


def imported(hours: int = 0, new: int = 40) -> dict[str, Any]:
    return {"file": "a.jsonl", "new_traces": new, "imported_at": NOON + timedelta(hours=hours)}


def run(state: str, name: str = "run-1", hours: int = 1, **settings: str) -> dict[str, Any]:
    of_prompt = f"shop-{settings['strategy']}" if settings else "shop"
    times = {"created_at": NOON + timedelta(hours=hours)}
    return {"id": name, "state": state, "prompt": of_prompt, "settings": settings} | times


def prompt(latest: int, approved: int | None, name: str = "shop") -> dict[str, Any]:
    return {"prompt": name, "latest": latest, "approved": approved}


def test_without_traces_the_samples_come_first():
    assert Standing(TRACES | {"total": 0}, [], [], []).next == "samples"


def test_with_traces_and_no_run_learning_comes_next():
    assert Standing(TRACES, [imported()], [], []).next == "learn"


@pytest.mark.parametrize("state", ["queued", "running"])
def test_a_live_run_is_watched_whatever_else_waits(state: str):
    now = Standing(TRACES, [imported()], [run("done", "run-2"), run(state)], [prompt(2, 1)])
    assert now.next == "watch"
    assert now.live == run(state)


@pytest.mark.parametrize("state", ["failed", "cancelled", "interrupted"])
def test_a_run_that_stopped_half_way_is_resumed_first(state: str):
    assert Standing(TRACES, [imported()], [run(state)], [prompt(1, None)]).next == "resume"


def test_a_version_newer_than_the_approved_one_waits_for_review():
    now = Standing(TRACES, [imported()], [run("done")], [prompt(3, 2), prompt(1, 1, "other")])
    assert now.next == "review"
    assert now.waiting == ["shop@3"]
    assert now.approved == ["shop@2", "other@1"]


def test_what_was_learnt_only_to_compare_waits_for_nobody():
    runs = [run("done", strategy="naive", compared_for="shop"), run("done")]
    now = Standing(TRACES, [imported()], runs, [prompt(3, 3), prompt(1, None, "shop-naive")])
    assert now.next == "ship"
    assert now.waiting == []


def test_when_all_is_approved_it_can_be_shipped():
    assert Standing(TRACES, [imported()], [run("done")], [prompt(3, 3)]).next == "ship"


def test_new_traces_after_the_last_run_ask_for_learning_again():
    assert Standing(TRACES, [imported(hours=2)], [run("done")], [prompt(3, 3)]).next == "learn"


def test_an_import_of_known_traces_only_asks_for_nothing():
    now = Standing(TRACES, [imported(hours=2, new=0), imported()], [run("done")], [prompt(3, 3)])
    assert now.next == "ship"
