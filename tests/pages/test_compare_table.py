"""Words and figures of a comparison."""

from typing import Any

import pytest

from pages.compare_figure import PANELS, panels_figure, trade_figure
from pages.compare_table import batch_sizes, headline


def row(label: str, share: float | None, **more: Any) -> dict[str, Any]:
    kinds = {
        kind: {"in_lessons": 10, "kept": 5, "share": share} for kind in ("numbers", "identifiers", "entities", "all")
    }
    return {
        "label": label,
        "name": "naive",
        "strategy": "naive",
        "bullets": 3,
        "prompt_tokens": 1_200,
        "lessons": 8,
        "kept": 5,
        "held": 1,
        "dropped": 2,
        "traces": 9,
        "traces_covered": 4,
        "calls": 12,
        "cost_usd": None,
        "wall_s": 90.0,
        "specificity": kinds | {"per_bullet": None if share is None else 2.5},
    } | more


@pytest.mark.parametrize(
    ("sizes", "words"),
    [([], ""), ([5], "5"), ([32, 32, 7], "2 × 32, 7"), ([1] * 1200, "1,200 × 1"), ([2, 4, 2], "2, 4, 2")],
)
def test_batch_sizes_are_told_in_runs_of_the_same(sizes: list[int], words: str) -> None:
    assert batch_sizes(sizes) == words


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([row("a", None)], "The lessons named no numbers, identifiers or names that could have been kept."),
        ([row("a", 0.5)], "a kept 50 % of the 10 numbers, identifiers and names in its lessons."),
        (
            [row("a", 0.2), row("b", 0.9)],
            "b kept 90 % of the 10 numbers, identifiers and names in its lessons, a 20 %.",
        ),
        ([row("a", 0.9), row("b", 0.9)], "All kept 90 % of the numbers, identifiers and names in their lessons."),
    ],
)
def test_the_headline_names_who_kept_most_and_least(rows: list[dict[str, Any]], sentence: str) -> None:
    assert headline(rows) == sentence


@pytest.mark.parametrize("number", [1, 2, 6, 12])
def test_panels_lie_within_the_figure_apart_from_one_another_and_hold_a_bar_a_run(number: int) -> None:
    rows = [row(f"run {n}", n / number) for n in range(number)]
    figure = panels_figure(rows, "#000000")
    layout = figure["layout"]
    spans = []
    for place in range(len(PANELS)):
        suffix = "" if place == 0 else str(place + 1)
        across, up = layout[f"xaxis{suffix}"]["domain"], layout[f"yaxis{suffix}"]["domain"]
        assert 0 <= across[0] < across[1] <= 1
        assert 0 <= up[0] < up[1] <= 1
        spans.append((across, up))
    for one in spans:
        for other in spans:
            apart_across = one[0][1] <= other[0][0] or other[0][1] <= one[0][0]
            apart_up = one[1][1] < other[1][0] or other[1][1] < one[1][0]
            assert one is other or apart_across or apart_up
    assert all(len(bar["x"]) == number for bar in figure["data"])


def test_labels_are_shown_and_never_read_as_markup() -> None:
    rows = [row('<a href="http://evil.example">x</a>', 0.5)]
    drawn = str([panels_figure(rows, "#000000"), trade_figure(rows, "#000000")])
    assert "<a href" not in drawn
    assert "&lt;a href" in drawn


def test_what_kept_nothing_measurable_is_not_drawn_against_the_time() -> None:
    rows = [row("a", None), row("b", 0.5, wall_s=600.0), row("c", 0.7, wall_s=60.0)]
    figure = trade_figure(rows, "#000000")
    assert figure["data"][0]["text"] == ["c", "b"]
    assert figure["layout"]["xaxis"]["type"] == "log"
    assert trade_figure([row("a", None)], "#000000")["data"][0]["x"] == []
