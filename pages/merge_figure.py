"""The merge tree as a figure: final merge → groups as curved links, then a square for each reflection copy.

Pure: places and colours only. Ids are the only text from outside that gets into it, so that hovers need no escaping.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isqrt
from typing import Any, Literal

from combee_core.engine.fates import CopyFate
from pages.fate_style import CLEAR, LOOKS, NO_LESSON, NOT_FOUND, TO_COME, Look
from pages.merge_view import Found, MergeView

MOST_COLUMNS, LEAST_COLUMNS = 70, 14
CURVE_POINTS = 14
LINK_WIDTHS = (0.8, 1.8, 3.2, 5.0)
FIGURE_HEIGHT, ASSUMED_WIDTH = 560, 660
FINAL_SIZE = 28.0
HONEY, GREY = "#C77D0A", "#8C877D"

Place = tuple[float, float]


@dataclass(frozen=True)
class Layout:
    """Where everything stands, in columns of squares (x) and lines of squares (y, downwards)."""

    merges: Mapping[str, Place]
    squares: Sequence[tuple[CopyFate, Place]]
    rows: Sequence[str]
    columns: int
    tree_width: float
    lines: float

    @property
    def column_width(self) -> float:
        """Pixels a column of squares, in a figure of the usual width."""
        return ASSUMED_WIDTH / (self.columns + self.tree_width)

    @property
    def line_height(self) -> float:
        """Pixels a line of squares."""
        return min(36.0, max(11.0, FIGURE_HEIGHT / self.lines))

    @property
    def square(self) -> float:
        """Side of a square in pixels, so that neighbours do not touch where there is room."""
        return max(4.0, min(20.0, self.line_height - 4, self.column_width - 2))

    @property
    def height(self) -> int:
        """Pixels of the whole figure."""
        return int(self.line_height * self.lines) + 30

    @property
    def hexagon(self) -> float:
        """Size of a group's hexagon in pixels."""
        return max(9.0, min(20.0, self.line_height - 2))


def rows_of(view: MergeView, merge: str | None = None) -> list[str]:
    """Merges that read reflections, each once, best share first, each branch of the tree in one piece."""
    merge = merge or view.final["id"]
    below = [name for name in view.nodes[merge]["inputs"] if view.nodes[name]["kind"] != "reflection"]
    if not below:
        return [merge]
    ranked = sorted(below, key=lambda name: (-view.share(name), view.nodes[name]["place"]))
    # What does not fit into one call is cut into parts, and two of them may read the same merge.
    return list(dict.fromkeys(row for name in ranked for row in rows_of(view, name)))


def lay_out(view: MergeView) -> Layout:
    """Rows of squares, long rows folded into several lines, and each merge at the middle of what it reads."""
    rows = rows_of(view)
    longest = max(len(view.copies[row]) for row in rows)
    folded = longest > MOST_COLUMNS
    # Folded rows make a block: columns and lines are then chosen about as wide as high.
    columns = isqrt(sum(len(view.copies[row]) for row in rows)) if folded else longest
    columns = min(MOST_COLUMNS, max(LEAST_COLUMNS, columns))
    depth = view.final["level"]
    tree_width = columns * {1: 0.1, 2: 0.3}.get(depth, 0.42)
    squares: list[tuple[CopyFate, Place]] = []
    places: dict[str, Place] = {}
    line = 0.0
    for row in rows:
        copies = _ranked(view.copies[row])
        lines = max(1, ceil(len(copies) / columns))
        squares += [
            (copy, (tree_width + number % columns, line + number // columns)) for number, copy in enumerate(copies)
        ]
        places[row] = (_x_of(view.nodes[row]["level"], depth, tree_width), line + (lines - 1) / 2)
        line += lines + (0.6 if folded else 0.0)
    for merge in view.merges:
        if merge["id"] not in places:
            below = [places[name][1] for name in merge["inputs"]]
            places[merge["id"]] = (_x_of(merge["level"], depth, tree_width), sum(below) / len(below))
    return Layout(places, squares, rows, columns, tree_width, line)


def _x_of(level: int, depth: int, tree_width: float) -> float:
    """The final merge stands at the left edge, groups before the squares, levels evenly between."""
    return tree_width * 0.8 * (depth - level) / max(1, depth - 1) if depth > 1 else 0.0


def _ranked(copies: Sequence[CopyFate]) -> list[CopyFate]:
    """Squares of one fate stand together, best first, so that a row reads as a bar."""
    order = {name: rank for rank, name in enumerate(LOOKS)}
    return sorted(copies, key=lambda copy: (order[copy.fate], copy.lessons == 0, -copy.in_prompt))


def merge_figure(
    view: MergeView,
    layout: Layout,
    ink: str = GREY,
    paper: str = CLEAR,
    selected: str = "",
    found: Found | None = None,
) -> dict[str, Any]:
    """The Plotly figure; `ink` is the colour of text and of the outline round the selected node and its copies,
    `paper` that of the page, which parts squares where they touch.

    `found` draws the copies that it holds by the fates it gives, and all others small and faint.

    The number and order of its traces never changes, so that the browser updates them in place.
    """
    traces = [
        *_links(view, layout),
        *_squares(view, layout, found, paper),
        _merges(view, layout, final=False),
        _merges(view, layout, final=True),
        *_selection(view, layout, ink, selected),
    ]
    return {"data": traces, "layout": _layout(view, layout, ink)}


def _links(view: MergeView, layout: Layout) -> list[dict[str, Any]]:
    """One trace a width class: a link is as thick as the number of lessons that reached the prompt through it."""
    curves: list[tuple[list[float | None], list[float | None]]] = [([], []) for _ in LINK_WIDTHS]
    carried = {name: view.through(name) for name in view.reader if view.nodes[name]["kind"] != "reflection"}
    most = max(carried.values(), default=0) or 1
    for name, lessons in carried.items():
        xs, ys = curves[min(len(LINK_WIDTHS) - 1, int(lessons / most * len(LINK_WIDTHS)))]
        above, below = (layout.merges[merge] for merge in (view.reader[name], name))
        start = FINAL_SIZE if view.reader[name] == view.final["id"] else layout.hexagon
        for x, y in _curve(_aside(above, start / 2, layout), _aside(below, -layout.hexagon / 2, layout)):
            xs.append(x)
            ys.append(y)
        xs.append(None)
        ys.append(None)
    return [
        _trace("lines", xs, ys, hoverinfo="skip", opacity=0.55, line={"color": HONEY, "width": width})
        for (xs, ys), width in zip(curves, LINK_WIDTHS, strict=True)
    ]


def _aside(place: Place, pixels: float, layout: Layout) -> Place:
    """A place so many pixels further right, as links begin and end at the edge of a hexagon."""
    return place[0] + pixels / layout.column_width, place[1]


def _curve(start: Place, end: Place) -> list[Place]:
    """A cubic that leaves and arrives level."""
    (x0, y0), (x1, y1) = start, end
    steps = [step / (CURVE_POINTS - 1) for step in range(CURVE_POINTS)]
    return [(round(x0 + (x1 - x0) * t, 2), round(y0 + (y1 - y0) * t * t * (3 - 2 * t), 2)) for t in steps]


def _squares(view: MergeView, layout: Layout, found: Found | None, paper: str) -> list[dict[str, Any]]:
    """One trace a look, then one for the squares that the search has not found."""
    looks = [(_look(view, copy, found), copy, place) for copy, place in layout.squares]
    return [
        _marks(view, [(copy, place) for own, copy, place in looks if own is look], look, layout.square, paper)
        for look in (*LOOKS.values(), NO_LESSON, TO_COME, NOT_FOUND)
    ]


def _look(view: MergeView, copy: CopyFate, found: Found | None) -> Look:
    """How a copy is drawn: as the best that became of its lessons, or of those among them that were searched for."""
    if found is not None:
        fate = found.get((copy.reflection, copy.merge))
        return LOOKS[fate] if fate else NOT_FOUND
    if copy.fate == "waiting" and view.nodes[copy.reflection]["state"] != "done":
        return TO_COME
    return NO_LESSON if copy.fate == "dropped" and copy.lessons == 0 else LOOKS[copy.fate]


def _marks(
    view: MergeView, squares: Sequence[tuple[CopyFate, Place]], look: Look, size: float, paper: str
) -> dict[str, Any]:
    size = size if look is not NOT_FOUND else max(3.0, size * 0.55)
    of_square = {"square": size - look.width, "circle": size * 0.5, "line-ew": size * 0.4, "x-thin": size * 0.7}
    return _trace(
        "markers",
        [place[0] for _, place in squares],
        [place[1] for _, place in squares],
        customdata=[
            [copy.reflection, view.name(copy.reflection), view.name(copy.merge), copy.in_prompt, copy.lessons]
            for copy, _ in squares
        ],
        hovertemplate="<b>%{customdata[1]}</b> in %{customdata[2]}: "
        + look.words
        + "<br>%{customdata[3]} of %{customdata[4]} lessons in the prompt<extra></extra>",
        marker={
            "symbol": look.symbol,
            "size": round(of_square[look.symbol], 1),
            "color": look.fill,
            "line": {"color": look.line, "width": look.width} if look.width else {"color": paper, "width": 1},
        },
    )


def _merges(view: MergeView, layout: Layout, final: bool) -> dict[str, Any]:
    """Group merges as hexagons, the final merge as a larger one; hollow while it is waiting, a cross when it failed."""
    merges = [merge for merge in view.merges if (merge["kind"] == "final") == final]
    size = FINAL_SIZE if final else layout.hexagon
    numbered = not final and size >= 14
    return _trace(
        "markers+text" if numbered else "markers",
        [layout.merges[merge["id"]][0] for merge in merges],
        [layout.merges[merge["id"]][1] for merge in merges],
        customdata=[[merge["id"], view.name(merge["id"]), _in_and_out(view, merge["id"])] for merge in merges],
        hovertemplate="<b>%{customdata[1]}</b><br>%{customdata[2]}<extra></extra>",
        text=[str(merge["place"] + 1) for merge in merges] if numbered else None,
        textfont={
            "size": 9 if size < 18 else 10,
            "color": ["#211C15" if merge["output"] else GREY for merge in merges],
        },
        marker={
            "symbol": ["x" if merge["state"] == "failed" else "hexagon2" for merge in merges],
            "size": size,
            "color": [_merge_colour(merge["state"]) for merge in merges],
            "line": {"color": ["#C23B2B" if merge["state"] == "failed" else HONEY for merge in merges], "width": 1.5},
        },
    )


def _merge_colour(state: str) -> str:
    return {"done": HONEY, "carried": "rgba(199,125,10,.38)", "failed": "#C23B2B"}.get(state, CLEAR)


def _in_and_out(view: MergeView, merge: str) -> str:
    output = view.nodes[merge]["output"]
    if not output:
        return str(view.nodes[merge]["state"])
    return f"{len(view.came_in(merge))} in, {len(output['operations'])} out, {len(output['dropped'])} dropped"


def _selection(view: MergeView, layout: Layout, ink: str, selected: str) -> list[dict[str, Any]]:
    """An outline round the selected node; round every copy of a reflection, with a line that joins them."""
    copies = [place for copy, place in layout.squares if copy.reflection == selected]
    merge = [layout.merges[selected]] if selected in layout.merges else []
    size = FINAL_SIZE + 10 if selected == view.final["id"] else layout.hexagon + 8
    return [
        _trace("lines", *_apart(copies), hoverinfo="skip", line={"color": ink, "width": 1, "dash": "dot"}),
        _outline(copies, "square-open", layout.square + 6, ink),
        _outline(merge, "hexagon2-open", size, ink),
    ]


def _outline(
    places: Sequence[Place], symbol: Literal["square-open", "hexagon2-open"], size: float, ink: str
) -> dict[str, Any]:
    marker = {"symbol": symbol, "size": size, "color": ink, "line": {"width": 2.5, "color": ink}}
    return _trace("markers", *_apart(places), hoverinfo="skip", marker=marker)


def _apart(places: Sequence[Place]) -> tuple[list[float | None], list[float | None]]:
    return [x for x, _ in places], [y for _, y in places]


def _trace(mode: str, xs: Sequence[float | None], ys: Sequence[float | None], **more: Any) -> dict[str, Any]:
    """`selected` and `unselected` keep Plotly from dimming everything else after a click."""
    plain = {"marker": {"opacity": 1}} if mode != "lines" else {}
    return (
        {"type": "scatter", "mode": mode, "x": xs, "y": ys, "showlegend": False, "cliponaxis": False}
        | more
        | ({"selected": plain, "unselected": plain} if plain else {})
    )


def _layout(view: MergeView, layout: Layout, ink: str) -> dict[str, Any]:
    right = layout.tree_width + layout.columns
    return {
        "height": layout.height,
        "margin": {"l": 14, "r": 4, "t": 4, "b": 4},
        "dragmode": False,
        "hovermode": "closest",
        "hoverlabel": {"font": {"color": ink}},
        "xaxis": {
            "visible": False,
            "fixedrange": True,
            "range": [-layout.columns * 0.04, right + layout.columns * 0.1],
        },
        "yaxis": {"visible": False, "fixedrange": True, "range": [layout.lines - 0.2, -0.9]},
        "annotations": _labels(view, layout, ink) if layout.line_height >= 11 else [],
    }


def _labels(view: MergeView, layout: Layout, ink: str) -> list[dict[str, Any]]:
    """The share of its lessons that reached the prompt, at the end of each row."""
    if not view.final["output"]:
        return []
    return [
        {
            "x": layout.tree_width + min(layout.columns, len(view.copies[row])) - 0.2,
            "y": layout.merges[row][1],
            "text": f"{view.share(row):.0%}",
            "showarrow": False,
            "xanchor": "left",
            "font": {"size": 11, "color": ink},
            "opacity": 0.8,
        }
        for row in layout.rows
    ]
