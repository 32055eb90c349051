"""How far a live run is, and how long it will still take."""

from collections import Counter

import pytest

from combee_core.engine.progress import Progress
from pages.run_pace import Pace, share_done


def at(reflections: int, merges: int, finals: int, iteration: int = 1, iterations: int = 1) -> Progress:
    """A run over 64 reflections, 8 groups, 16 at once: four waves, one wave, one call."""
    return Progress(
        iteration=iteration,
        iterations=iterations,
        limit=16,
        total=Counter(reflection=64, merge=8, final=1),
        done=Counter(reflection=reflections, merge=merges, final=finals),
    )


def test_the_share_counts_waves_of_calls_and_not_nodes() -> None:
    assert share_done(at(64, 0, 0)) == pytest.approx(4 / 6)
    assert share_done(at(64, 8, 0)) == pytest.approx(5 / 6)
    assert share_done(at(64, 8, 1)) == pytest.approx(1.0)


def test_iterations_that_are_over_count_in_full() -> None:
    assert share_done(at(0, 0, 0, iteration=3, iterations=4)) == pytest.approx(0.5)


def test_a_run_that_has_not_begun_has_done_nothing() -> None:
    assert share_done(Progress()) == 0.0


def test_the_time_left_follows_the_pace_since_the_first_look() -> None:
    now = [100.0]
    pace = Pace(clock=lambda: now[0])
    assert pace.seconds_left(at(32, 0, 0)) is None
    now[0] = 110.0
    assert pace.seconds_left(at(64, 0, 0)) == pytest.approx(10.0)


def test_a_run_that_begins_anew_is_measured_anew() -> None:
    now = [0.0]
    pace = Pace(clock=lambda: now[0])
    pace.seconds_left(at(64, 8, 0))
    now[0] = 50.0
    assert pace.seconds_left(at(0, 0, 0)) is None
    now[0] = 60.0
    assert pace.seconds_left(at(32, 0, 0)) == pytest.approx(20.0)
