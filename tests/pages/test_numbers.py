"""Numbers as people read them."""

import pytest

from pages.numbers import compact, counted, duration, money


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.04, "0.0 s"),
        (0.44, "0.4 s"),
        (9.97, "10.0 s"),
        (12.2, "12 s"),
        (59.6, "1 min 0 s"),
        (200, "3 min 20 s"),
        (7500, "2 h 5 min"),
    ],
)
def test_a_duration_has_the_unit_that_fits(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


@pytest.mark.parametrize(
    ("dollars", "shown"),
    [
        (None, "unknown"),
        (0.0, "$0"),
        (0.00002, "under $0.0001"),
        (0.0042, "$0.0042"),
        (0.371, "$0.37"),
        (1234.5, "$1,234.50"),
    ],
)
def test_an_unknown_cost_is_not_nothing(dollars: float | None, shown: str) -> None:
    assert money(dollars) == shown


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0"), (950, "950"), (12_340, "12.3k"), (999_400, "999k"), (999_600, "1M"), (4_100_000, "4.1M")],
)
def test_large_numbers_keep_three_digits(number: int, shown: str) -> None:
    assert compact(number) == shown


def test_a_count_agrees_with_its_unit() -> None:
    assert [counted(1, "copy", "copies"), counted(2, "copy", "copies"), counted(1_200, "trace")] == [
        "1 copy",
        "2 copies",
        "1,200 traces",
    ]
