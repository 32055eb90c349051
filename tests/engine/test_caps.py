"""Caps a minute hold in every sixty seconds, first turn first, and no request waits longer than it has to."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from combee_core.engine.caps import MINUTE_S, Caps
from combee_core.engine.limiter import Limiter
from tests.engine.virtual_time import run

REFLECTION, MERGE = (1, 0), (1, 1)


def now() -> float:
    return asyncio.get_running_loop().time()


def test_without_caps_nobody_waits():
    async def scene() -> float:
        caps = Caps(None, None)
        for _ in range(1000):
            await caps.let_through(REFLECTION, 10_000)
        return now()

    assert run(scene()) == 0.0


def test_requests_beyond_the_cap_wait_until_a_minute_after_those_before():
    async def scene() -> list[float]:
        caps, at = Caps(2, None), []
        for _ in range(5):
            await caps.let_through(REFLECTION, 0)
            at.append(now())
            await asyncio.sleep(10)
        return at

    assert run(scene()) == [0, 10, 60, 70, 120]


def test_tokens_are_capped_and_what_was_reported_counts_in_place_of_what_was_expected():
    async def scene() -> list[float]:
        caps, at = Caps(None, 100), []
        first = await caps.let_through(REFLECTION, 90)

        async def later() -> None:
            await caps.let_through(REFLECTION, 50)
            at.append(now())

        waiting = asyncio.create_task(later())
        await asyncio.sleep(7)
        caps.settle(first, 40)
        await waiting
        await caps.let_through(REFLECTION, 11)
        return [*at, now()]

    assert run(scene()) == [7, 60]


def test_a_request_larger_than_the_cap_goes_alone():
    async def scene() -> list[float]:
        caps, at = Caps(None, 100), []
        for tokens in (10, 500, 10):
            await caps.let_through(REFLECTION, tokens)
            at.append(now())
        return at

    assert run(scene()) == [0, 60, 120]


def test_the_lower_turn_goes_first_whoever_came_first():
    async def scene() -> list[str]:
        caps, order = Caps(1, None), []

        async def request(name: str, turn: tuple[int, int]) -> None:
            await caps.let_through(turn, 0)
            order.append(name)

        async with asyncio.TaskGroup() as tasks:
            for name, turn in (("first", MERGE), ("merge", MERGE), ("reflection", REFLECTION)):
                tasks.create_task(request(name, turn))
        return order

    assert run(scene()) == ["first", "reflection", "merge"]


def test_whoever_is_held_back_by_a_cap_is_told_and_that_it_is_over():
    async def scene() -> list[tuple[int, str]]:
        told = []
        caps = Caps(1, None, lambda waiting, cap: told.append((waiting, cap)))
        await asyncio.gather(*(caps.let_through(REFLECTION, 0) for _ in range(3)))
        return told

    assert run(scene()) == [(1, "rpm"), (2, "rpm"), (1, "rpm"), (0, "rpm")]


REQUESTS = st.lists(st.tuples(st.floats(0, 90), st.integers(0, 2), st.integers(1, 60), st.booleans()), max_size=25)


@given(rpm=st.none() | st.integers(1, 5), tpm=st.none() | st.integers(1, 100), requests=REQUESTS)
def test_no_minute_holds_more_than_the_caps_and_everyone_gets_through(rpm, tpm, requests):
    async def scene() -> list[tuple[float, int]]:
        caps, sent = Caps(rpm, tpm), []

        async def request(after: float, level: int, tokens: int) -> None:
            await asyncio.sleep(after)
            await caps.let_through((1, level), tokens)
            sent.append((now(), tokens))

        tasks = [asyncio.create_task(request(*row[:3])) for row in requests]
        for task, row in zip(tasks, requests, strict=True):
            if row[3]:
                asyncio.get_running_loop().call_later(row[0] + 30, task.cancel)
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(end is None or row[3] for end, row in zip(ended, requests, strict=True))
        return sent

    sent = run(scene())
    for start, _ in sent:
        minute = [tokens for at, tokens in sent if start <= at < start + MINUTE_S - 1e-6]
        assert rpm is None or len(minute) <= rpm
        assert tpm is None or len(minute) == 1 or sum(minute) <= tpm


def test_reflections_that_wait_for_a_cap_keep_no_places_from_merges_of_the_batch_before():
    async def scene() -> float:
        caps, limiter = Caps(2, None), Limiter(3)
        limiter.held_back = caps.holds_back
        at: dict[str, float] = {}

        async def call(name: str, turn: tuple[int, int], seconds: float) -> None:
            async with limiter.slot(turn):
                try:
                    await caps.let_through(turn, 0)
                finally:
                    limiter.let_in()
                at[name] = now()
                await asyncio.sleep(seconds)

        async with asyncio.TaskGroup() as tasks:
            for number in range(6):
                tasks.create_task(call(f"reflection {number}", (2, 0), 1))
            await asyncio.sleep(5)
            tasks.create_task(call("merge", (1, 1), 1))
        assert len(at) == 7
        return at["merge"]

    assert run(scene()) == 60, "at the first request that the cap lets through"


def test_a_request_that_is_cancelled_as_it_is_let_through_leaves_its_place_to_the_next():
    async def scene() -> float:
        caps = Caps(1, None)
        await caps.let_through(REFLECTION, 0)
        first = asyncio.create_task(caps.let_through(REFLECTION, 0))
        second = asyncio.create_task(caps.let_through(REFLECTION, 0))
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_at(60, first.cancel)
        await second
        return now()

    assert run(scene()) == 60
