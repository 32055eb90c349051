"""The small drawing of a plan."""

from itertools import pairwise
from xml.etree import ElementTree

import pytest

from combee_core.scan import plan
from pages.plan_figure import HEIGHT, MOST_ROWS, WIDTH, plan_svg

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(("n", "groups"), [(1, 1), (3, 1), (10, 3), (64, 8), (1000, 31), (1000, 2), (2000, 100)])
def test_a_row_of_squares_and_a_hexagon_for_every_group_and_one_for_the_final_merge(n: int, groups: int) -> None:
    shape = plan(n, groups=groups)
    drawing = ElementTree.fromstring(plan_svg(shape))
    rows = drawing.findall(f"{SVG}line")
    assert len(rows) == min(groups, MOST_ROWS)
    assert len(drawing.findall(f"{SVG}polygon")) == (min(groups, MOST_ROWS) + 1 if groups > 1 else 1)
    assert len(drawing.findall(f"{SVG}path")) == (min(groups, MOST_ROWS) if groups > 1 else 0)


@pytest.mark.parametrize(("n", "groups"), [(1, 1), (10, 3), (1000, 31), (5000, 1), (300, 300)])
def test_everything_lies_within_the_drawing_and_rows_do_not_overlap(n: int, groups: int) -> None:
    lines = ElementTree.fromstring(plan_svg(plan(n, groups=groups))).findall(f"{SVG}line")
    heights = [float(line.get("y1", "")) for line in lines]
    thick = float(lines[0].get("stroke-width", ""))
    assert all(0 <= float(line.get("x1", "")) < float(line.get("x2", "")) <= WIDTH for line in lines)
    assert min(heights) - thick / 2 >= 0
    assert max(heights) + thick / 2 <= HEIGHT
    assert all(after - before >= thick for before, after in pairwise(heights))


def test_a_row_is_as_many_dashes_as_the_group_has_copies() -> None:
    line = ElementTree.fromstring(plan_svg(plan(64))).find(f"{SVG}line")
    assert line is not None
    dash, gap = map(float, line.get("stroke-dasharray", "").split())
    length = float(line.get("x2", "")) - float(line.get("x1", ""))
    assert (length + gap) / (dash + gap) == pytest.approx(16, abs=0.05)
