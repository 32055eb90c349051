"""The garbage collector is left as it was found, whatever runs do."""

import gc

import pytest

from combee_core.engine.collector import ROUND, seldom_collected


def test_the_last_of_several_runs_leaves_the_collector_as_the_first_has_found_it() -> None:
    before = gc.get_threshold()
    first, second = seldom_collected(), seldom_collected()
    first.__enter__()
    second.__enter__()
    assert gc.get_threshold()[0] == ROUND
    assert gc.get_freeze_count() > 0
    first.__exit__(None, None, None)
    assert gc.get_threshold()[0] == ROUND, "another run still goes"
    second.__exit__(None, None, None)
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)


def test_a_run_that_breaks_leaves_it_as_it_was_too() -> None:
    before = gc.get_threshold()
    with pytest.raises(ZeroDivisionError), seldom_collected():
        _ = 1 / 0
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)
