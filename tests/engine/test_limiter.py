"""The concurrency limit: never passed, earlier batches and lower levels first, no place lost."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from combee_core.engine.limiter import Limiter, Turn


def test_earlier_batches_and_then_lower_levels_are_let_in_before_calls_that_waited_longer():
    async def scene() -> list[str]:
        limiter, order = Limiter(1), []

        async def call(name: str, turn: Turn) -> None:
            async with limiter.slot(turn):
                order.append(name)
                await asyncio.sleep(0)

        async with asyncio.TaskGroup() as tasks:
            for name, turn in (
                ("first", (1, 0)),
                ("reflection of the next batch", (2, 0)),
                ("merge", (1, 1)),
                ("reflection 1", (1, 0)),
                ("reflection 2", (1, 0)),
            ):
                tasks.create_task(call(name, turn))
        return order

    assert asyncio.run(scene()) == ["first", "reflection 1", "reflection 2", "merge", "reflection of the next batch"]


@given(
    limit=st.integers(1, 6), calls=st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=40), data=st.data()
)
def test_the_limit_holds_and_every_place_comes_back_even_when_calls_are_cancelled(limit, calls, data):
    cancelled = data.draw(st.sets(st.integers(0, max(0, len(calls) - 1))))

    async def scene() -> tuple[int, int]:
        limiter, most = Limiter(limit), 0

        async def call(turns: int, merge: bool) -> None:
            nonlocal most
            async with limiter.slot((1, int(merge))):
                most = max(most, limiter.in_flight)
                for _ in range(turns):
                    await asyncio.sleep(0)

        tasks = [asyncio.create_task(call(turns, merge)) for turns, merge in calls]
        for number, task in enumerate(tasks):
            if number in cancelled:
                await asyncio.sleep(0)
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return most, limiter.in_flight

    most, left = asyncio.run(scene())
    assert most <= limit
    assert left == 0


def test_overload_halves_the_limit_once_and_quiet_calls_grow_it_back():
    async def scene() -> list[int]:
        limiter = Limiter(8)
        limits = []
        limiter.overloaded()
        limiter.overloaded()
        limits.append(limiter.limit)
        for _ in range(4):
            limiter.worked()
        limits.append(limiter.limit)
        for _ in range(100):
            limiter.worked()
        limits.append(limiter.limit)
        return [*limits, limiter.changes]

    assert asyncio.run(scene()) == [4, 5, 8, 5]


def test_a_limit_that_grows_lets_waiters_in_at_once():
    async def scene() -> int:
        limiter = Limiter(2)
        limiter.overloaded()
        release = asyncio.Event()

        async def call() -> None:
            async with limiter.slot((1, 1)):
                await release.wait()

        tasks = [asyncio.create_task(call()) for _ in range(3)]
        await asyncio.sleep(0)
        before = limiter.in_flight
        limiter.worked()
        await asyncio.sleep(0)
        after = limiter.in_flight
        release.set()
        await asyncio.gather(*tasks)
        return before * 10 + after

    assert asyncio.run(scene()) == 12
