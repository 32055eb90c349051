"""Hedged calls: what counts as overdue, and whose answer is used."""

import asyncio
from collections.abc import Callable

import pytest

from combee_core.engine.hedging import LEAST_SEEN, Latencies, hedged
from combee_core.llm.base import CallFailed


class Pair:
    """Two attempts that end when they are told to."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.late, self.first, self.second = (loop.create_future() for _ in range(3))
        self.begun: list[str] = []
        self.cancelled: list[str] = []

    async def _attempt(self, name: str, answer: "asyncio.Future[str]") -> str:
        self.begun.append(name)
        try:
            return await answer
        except asyncio.CancelledError:
            self.cancelled.append(name)
            raise

    def start(self) -> "asyncio.Task[str]":
        return asyncio.ensure_future(
            hedged(lambda: self._attempt("first", self.first), lambda: self._attempt("second", self.second), self.late)
        )


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def played(scene: Callable[[Pair], object]) -> None:
    async def play() -> None:
        await scene(Pair())  # type: ignore[misc]

    asyncio.run(play())


def test_an_answer_in_time_needs_no_second_request():
    async def scene(pair: Pair) -> None:
        task = pair.start()
        await settle()
        pair.first.set_result("A")
        assert await task == "A"
        assert (pair.begun, pair.cancelled) == (["first"], [])

    played(scene)


@pytest.mark.parametrize("winner", ["first", "second"])
def test_the_first_usable_answer_wins_and_the_other_is_cancelled(winner):
    async def scene(pair: Pair) -> None:
        task = pair.start()
        pair.late.set_result(None)
        await settle()
        getattr(pair, winner).set_result(winner)
        assert await task == winner
        assert pair.begun == ["first", "second"]
        assert pair.cancelled == [{"first": "second", "second": "first"}[winner]]

    played(scene)


def test_an_attempt_that_fails_leaves_it_to_the_other_and_two_failures_are_one():
    async def scene(pair: Pair) -> None:
        task = pair.start()
        pair.late.set_result(None)
        await settle()
        pair.second.set_exception(CallFailed("refusal", "no"))
        await settle()
        assert not task.done()
        pair.first.set_result("A")
        assert await task == "A"

    async def both(pair: Pair) -> None:
        task = pair.start()
        pair.late.set_result(None)
        await settle()
        pair.first.set_exception(CallFailed("refusal", "first"))
        await settle()
        pair.second.set_exception(CallFailed("empty", "second"))
        with pytest.raises(CallFailed, match="second"):
            await task

    played(scene)
    played(both)


def test_whoever_gives_the_call_up_gives_up_both_attempts():
    async def scene(pair: Pair) -> None:
        task = pair.start()
        pair.late.set_result(None)
        await settle()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert sorted(pair.cancelled) == ["first", "second"]

    played(scene)


def test_nothing_is_overdue_before_enough_was_seen_and_kinds_are_judged_apart():
    async def scene() -> None:
        latencies = Latencies(90)
        for number in range(LEAST_SEEN - 1):
            latencies.record("reflection", number)
        assert latencies.usual("reflection") is None
        latencies.record("reflection", 100.0)
        assert latencies.usual("reflection") == 100.0
        assert latencies.usual("merge") is None
        for _ in range(LEAST_SEEN):
            latencies.record("merge", 3.0)
        assert latencies.usual("final") == latencies.usual("merge") == 3.0

    asyncio.run(scene())


def test_a_call_that_began_before_anything_was_seen_is_overdue_as_soon_as_it_is_known_to_be():
    async def scene() -> None:
        latencies = Latencies(50)
        waiting = asyncio.ensure_future(latencies.overdue("reflection"))
        await settle()
        assert not waiting.done()
        for _ in range(LEAST_SEEN):
            latencies.record("reflection", 0.0)
        await asyncio.wait_for(waiting, 5)

    asyncio.run(scene())
