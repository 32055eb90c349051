"""Comparisons as Plotly figures: a panel of bars for each measure, and what was kept against the time it took.

Pure: places and colours only, from the rows of a comparison. Labels also name the model of a run, and are escaped.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from pages.fate_style import CLEAR, LOOKS
from pages.numbers import compact, duration, money

Row = Mapping[str, Any]

HONEY, GREY = "#C77D0A", "#8C877D"
COLUMNS = 3
BAR_PIXELS, HEAD_PIXELS = 24, 44
GAP = 0.05


@dataclass(frozen=True)
class Panel:
    """One measure: how long a run's bar is (None: not known) and what is written at its end."""

    title: str
    value: Callable[[Row], float | None]
    text: Callable[[Row], str]


def share_kept(row: Row) -> float | None:
    """Share of the lessons' numbers, identifiers and names that the playbook still holds."""
    share: float | None = row["specificity"]["all"]["share"]
    return share


def per_cent(share: float | None) -> str:
    """92 %; a dash where there was nothing to keep."""
    return "–" if share is None else f"{share:.0%}".replace("%", " %")


def _per_bullet(row: Row) -> str:
    number = row["specificity"]["per_bullet"]
    return "–" if number is None else f"{number:.1f}"


LESSONS = "Lessons kept, held back, dropped"
PANELS = (
    Panel("Bullets", lambda row: row["bullets"], lambda row: f"{row['bullets']:,}"),
    Panel("Tokens of the playbook", lambda row: row["prompt_tokens"], lambda row: compact(row["prompt_tokens"])),
    Panel(LESSONS, lambda row: row["lessons"], lambda row: f"{row['kept']:,} of {row['lessons']:,}"),
    Panel(
        "Traces behind it",
        lambda row: row["traces_covered"],
        lambda row: f"{row['traces_covered']:,} of {row['traces']:,}",
    ),
    Panel("Numbers, identifiers, names kept", share_kept, lambda row: per_cent(share_kept(row))),
    Panel("Of these in one bullet", lambda row: row["specificity"]["per_bullet"], _per_bullet),
    Panel("Calls", lambda row: row["calls"], lambda row: f"{row['calls']:,}"),
    Panel("Cost", lambda row: row["cost_usd"], lambda row: money(row["cost_usd"])),
    Panel("Time", lambda row: row["wall_s"], lambda row: duration(row["wall_s"])),
)


def panels_figure(rows: Sequence[Row], ink: str) -> dict[str, Any]:
    """A panel a measure, each with a bar a run in the order of the rows."""
    lines = -(-len(PANELS) // COLUMNS)
    line_pixels = len(rows) * BAR_PIXELS + HEAD_PIXELS
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        "height": lines * line_pixels,
        "margin": {"l": 10, "r": 10, "t": HEAD_PIXELS - 8, "b": 0},
        "barmode": "stack",
        "showlegend": False,
        "dragmode": False,
        "hoverlabel": {"font": {"color": ink}},
        "annotations": [],
    }
    head = (HEAD_PIXELS - 8) / (lines * line_pixels)
    for place, panel in enumerate(PANELS):
        line, column = divmod(place, COLUMNS)
        number = "" if place == 0 else str(place + 1)
        left, right = _span(column)
        top = 1 - line / lines * (1 + head)
        bottom = top - (line_pixels - HEAD_PIXELS) / (lines * line_pixels) * (1 + head)
        values = [panel.value(row) or 0 for row in rows]
        layout[f"xaxis{number}"] = {
            "domain": [left, right],
            "anchor": f"y{number}",
            "visible": False,
            "fixedrange": True,
            "range": [0, (max(values, default=0) or 1) * 1.35],
        }
        layout[f"yaxis{number}"] = {
            "domain": [max(0, bottom), top],
            "anchor": f"x{number}",
            "autorange": "reversed",
            "showticklabels": column == 0,
            "automargin": column == 0,
            "ticks": "",
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        }
        layout["annotations"].append(_heading(panel.title, left, top, ink))
        traces += [bar | {"xaxis": f"x{number}", "yaxis": f"y{number}"} for bar in _bars(panel, rows, ink)]
    return {"data": traces, "layout": layout}


def _span(column: int) -> tuple[float, float]:
    """Left and right end of a column of panels."""
    wide = (1 - GAP * (COLUMNS - 1)) / COLUMNS
    left = column * (wide + GAP)
    return left, min(1.0, left + wide)


def _heading(title: str, left: float, top: float, ink: str) -> dict[str, Any]:
    return {
        "text": f"<b>{title}</b>",
        "x": left,
        "y": top,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 13, "color": ink},
    }


def _bars(panel: Panel, rows: Sequence[Row], ink: str) -> list[dict[str, Any]]:
    """One bar a run; the lessons in three parts, in the colours that their fates have everywhere."""
    labels = [escape(row["label"]) for row in rows]
    if panel.title != LESSONS:
        colours = [HONEY if row["strategy"] == "combee" else GREY for row in rows]
        bar = _bar(labels, [panel.value(row) or 0 for row in rows], {"color": colours})
        return [_written(bar, panel, rows, ink)]
    parts = (("kept", "in_prompt"), ("held", "held"), ("dropped", "dropped"))
    bars = [
        _bar(labels, [row[part] for row in rows], _marker(LOOKS[fate].fill, LOOKS[fate].line))
        | {"hovertemplate": f"%{{y}}: %{{x:,}} {LOOKS[fate].words}<extra></extra>"}
        for part, fate in parts
    ]
    nothing = _bar(labels, [0 for _ in rows], {"color": CLEAR})
    return [*bars, _written(nothing, panel, rows, ink)]


def _marker(fill: str, line: str) -> dict[str, Any]:
    return {"color": fill, "line": {"color": line, "width": 1.2}}


def _bar(labels: Sequence[str], values: Sequence[float], marker: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "y": labels,
        "x": values,
        "width": 0.62,
        "marker": marker,
        "cliponaxis": False,
    }


def _written(bar: dict[str, Any], panel: Panel, rows: Sequence[Row], ink: str) -> dict[str, Any]:
    """The bar with its number at the end."""
    texts = [panel.text(row) for row in rows]
    return bar | {
        "text": texts,
        "textposition": "outside",
        "constraintext": "none",
        "textfont": {"color": ink, "size": 12},
        "customdata": texts,
        "hovertemplate": f"%{{y}}: %{{customdata}}<extra>{panel.title}</extra>",
    }


def trade_figure(rows: Sequence[Row], ink: str) -> dict[str, Any]:
    """What was kept against the minutes it took (paper, quality over delay); the larger, the more bullets."""
    known = sorted((row for row in rows if share_kept(row) is not None), key=lambda row: float(row["wall_s"]))
    most = max((row["bullets"] for row in known), default=0) or 1
    minutes = [max(row["wall_s"], 0.01) / 60 for row in known]
    far_apart = bool(minutes) and minutes[-1] > 5 * minutes[0]
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "markers+text",
                "x": minutes,
                "y": [share_kept(row) for row in known],
                "text": [escape(row["label"]) for row in known],
                # Neighbours in time would write over each other.
                "textposition": ["top center" if place % 2 == 0 else "bottom center" for place in range(len(known))],
                "textfont": {"color": ink, "size": 12},
                "cliponaxis": False,
                "customdata": [[row["bullets"], duration(row["wall_s"])] for row in known],
                "hovertemplate": "<b>%{text}</b><br>%{y:.0%} kept in %{customdata[1]}<br>"
                "%{customdata[0]:,} bullets<extra></extra>",
                "marker": {
                    "size": [10 + 26 * (row["bullets"] / most) ** 0.5 for row in known],
                    "color": [HONEY if row["strategy"] == "combee" else GREY for row in known],
                    "opacity": 0.85,
                    "line": {"width": 1, "color": ink},
                },
            }
        ],
        "layout": {
            "height": 340,
            "margin": {"l": 10, "r": 30, "t": 30, "b": 10},
            "dragmode": False,
            "showlegend": False,
            "hoverlabel": {"font": {"color": ink}},
            "xaxis": {
                "title": {"text": "Minutes"},
                "type": "log" if far_apart else "linear",
                "rangemode": "tozero",
                "fixedrange": True,
                "automargin": True,
            },
            "yaxis": {
                "title": {"text": "Kept"},
                "tickformat": ".0%",
                "range": [-0.05, 1.12],
                "fixedrange": True,
                "automargin": True,
            },
        },
    }
