"""The figure of a merge tree: every copy is there once, where its group is and as its fate looks."""

import json
from typing import Any

import pytest

from pages.fate_style import CLEAR, LOOKS, NO_LESSON, NOT_FOUND, TO_COME, Look
from pages.merge_figure import lay_out, merge_figure, rows_of
from pages.merge_view import MergeView
from tests.pages.trees import grown, keep

PAPER = CLEAR


def drawn(view: MergeView, **how: Any) -> dict[str, Any]:
    return merge_figure(view, lay_out(view), **how)


def clickable(figure: dict[str, Any]) -> list[str]:
    return [point[0] for trace in figure["data"] for point in trace.get("customdata", ())]


def drawn_as(figure: dict[str, Any], look: Look) -> list[str]:
    """Ids of the nodes drawn with that symbol, fill and line; a look without a line of its own has that of the page."""
    line = look.line if look.width else PAPER
    return [
        point[0]
        for trace in figure["data"]
        if "customdata" in trace
        and (trace["marker"]["symbol"], trace["marker"]["color"]) == (look.symbol, look.fill)
        and trace["marker"]["line"]["color"] == line
        for point in trace["customdata"]
    ]


@pytest.mark.parametrize("n", [1, 3, 10, 100, 1000])
def test_every_copy_of_every_reflection_is_a_square_and_every_merge_a_marker(n: int) -> None:
    view = grown(n)
    ids = clickable(drawn(view))
    copies = [copy.reflection for copies in view.copies.values() for copy in copies]
    assert sorted(ids) == sorted(copies + [merge["id"] for merge in view.merges])
    assert len(copies) == (2 * n if n >= 4 else n)


@pytest.mark.parametrize("shape", [{"groups": 1}, {"groups": 2}, {}, {"groups": 40}, {"groups": 20, "fan_in": 4}])
def test_no_two_squares_share_a_place_and_all_lie_within_the_axes(shape: dict[str, Any]) -> None:
    view = grown(200, **shape)
    layout = lay_out(view)
    places = [place for _, place in layout.squares]
    assert len(set(places)) == len(places)
    axes = merge_figure(view, layout)["layout"]
    left, right = axes["xaxis"]["range"]
    bottom, top = axes["yaxis"]["range"]
    every = [*places, *layout.merges.values()]
    assert all(left < x < right and top < y < bottom for x, y in every)


def test_a_square_shows_what_became_of_its_copy() -> None:
    view = grown(
        16,
        keep("gold", groups=("gold", "silver")),
        lessons=lambda index: {0: ("gold",), 1: ("silver",), 2: ("clay",), 3: ()}.get(index, ("gold",)),
        failed=(4,),
    )
    figure = drawn(view)
    assert set(drawn_as(figure, LOOKS["lost_above"])) == {"i1.r2"}
    assert set(drawn_as(figure, LOOKS["dropped"])) == {"i1.r3"}
    assert set(drawn_as(figure, LOOKS["failed"])) == {"i1.r5"}
    assert set(drawn_as(figure, NO_LESSON)) == {"i1.r4"}
    assert "i1.r1" in drawn_as(figure, LOOKS["in_prompt"])


def test_rows_are_sorted_by_the_share_of_lessons_that_reached_the_prompt() -> None:
    view = grown(100, keep("gold"), lessons=lambda index: ("gold",) if index < 40 else ("clay",))
    shares = [view.share(row) for row in rows_of(view)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > shares[-1]


def test_more_levels_stand_in_columns_between_the_final_merge_and_the_groups() -> None:
    view = grown(64, groups=16, fan_in=4)
    places = lay_out(view).merges
    columns: dict[int, set[float]] = {view.nodes[node]["level"]: set() for node in places}
    for node, (x, _) in places.items():
        columns[view.nodes[node]["level"]].add(round(x, 3))
    assert [len(columns[level]) for level in (1, 2, 3)] == [1, 1, 1]
    assert max(columns[3]) < max(columns[2]) < max(columns[1])


def test_branches_of_a_deep_tree_do_not_cross() -> None:
    view = grown(64, keep("gold"), lessons=lambda index: ("gold",) if index % 3 else ("clay",), groups=16, fan_in=4)
    parents = [view.reader[row] for row in rows_of(view)]
    assert len([parent for before, parent in zip(["", *parents], parents, strict=False) if before != parent]) == 4


def test_choosing_a_reflection_outlines_all_its_copies_and_choosing_a_merge_outlines_it() -> None:
    view = grown(100, copies=3)
    layout = lay_out(view)
    line, squares, merges = merge_figure(view, layout, selected="i1.r7")["data"][-3:]
    expected = [place for copy, place in layout.squares if copy.reflection == "i1.r7"]
    assert len(expected) == 3
    assert (
        list(zip(squares["x"], squares["y"], strict=True)) == expected == list(zip(line["x"], line["y"], strict=True))
    )
    assert merges["x"] == []
    of_group = merge_figure(view, layout, selected="i1.m1.4")["data"][-1]
    assert (of_group["x"][0], of_group["y"][0]) == layout.merges["i1.m1.4"]


def test_a_search_draws_what_it_has_found_by_its_own_fate_and_the_rest_faintly_but_for_clicks() -> None:
    view = grown(10)
    lost = {("i1.r3", merge): "lost_above" for merge in view.readers("i1.r3")}
    figure = drawn(view, found=lost)
    assert drawn_as(figure, LOOKS["in_prompt"]) == []
    assert drawn_as(figure, LOOKS["lost_above"]) == ["i1.r3", "i1.r3"]
    assert len(drawn_as(figure, NOT_FOUND)) == 18
    assert sorted(clickable(figure)) == sorted(clickable(drawn(view)))


def test_the_number_of_traces_never_changes() -> None:
    views = [grown(1), grown(10, until="r4"), grown(10, failed=(2,)), grown(64, groups=16, fan_in=4)]
    figures = [drawn(view) for view in views] + [drawn(views[1], selected="i1.r2", found={})]
    assert len({len(figure["data"]) for figure in figures}) == 1


def test_while_a_run_works_what_is_still_to_come_is_drawn_as_waiting() -> None:
    figure = drawn(grown(10, until="r4"))
    assert len(drawn_as(figure, LOOKS["waiting"])) == 8
    assert len(drawn_as(figure, TO_COME)) == 12
    final = next(
        trace for trace in figure["data"] if [point[0] for point in trace.get("customdata", ())] == ["i1.final"]
    )
    assert final["marker"]["color"] == ["rgba(0,0,0,0)"]
    assert figure["layout"]["annotations"] == []


def test_the_figure_of_a_thousand_reflections_stays_small() -> None:
    assert len(json.dumps(drawn(grown(1000)))) < 250_000
