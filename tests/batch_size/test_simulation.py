import pytest
from hypothesis import given
from hypothesis import strategies as st

from combee_core.batch_size import Controller, epoch_seconds, simulate
from tests.batch_size.delays import Engine, power_law, trials


class TestEpochSeconds:
    @given(st.integers(1, 500), st.integers(1, 600))
    def test_every_trace_is_counted_once(self, n: int, size: int) -> None:
        assert epoch_seconds(n, size, float) == n

    def test_the_last_batch_takes_what_its_own_size_takes(self) -> None:
        assert epoch_seconds(10, 4, {4: 3.0, 2: 1.0}.__getitem__) == 7.0

    @given(st.integers(1, 300), st.integers(1, 300))
    def test_it_is_the_time_of_the_iterations_one_after_the_other(self, n: int, size: int) -> None:
        assert epoch_seconds(n, size, Engine()) == pytest.approx(Engine().epoch(n, size))


class TestSimulate:
    def test_it_asks_the_controller_with_what_it_has_measured(self) -> None:
        law = power_law(300, 200, 0.8)
        controller = Controller(300, (5, 10, 20))
        run = simulate(controller, 300, law)
        assert [(choice.batch_size, seconds) for choice, seconds in run[:3]] == [
            (5, law(5)),
            (10, law(10)),
            (20, law(20)),
        ]
        assert run[3][0] == controller.next_batch(trials((5, 10, 20), law), 265)
        assert sum(choice.batch_size for choice, _ in run) == 300
