"""The two figures of the batch size controller: epoch time against batch size, and the trajectory over iterations.

Pure: Plotly documents from numbers. Reasons are Combee's own sentences, so that hovers need no escaping.
"""

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Any

from combee_core.batch_size import Fit, largest_worth, plateau, tau
from combee_core.engine.batch_sizes import Chosen
from pages.numbers import duration

HONEY, BLUE, GREY = "#C77D0A", "#2F6FDB", "#8C877D"
BAND = "rgba(199,125,10,.16)"
CURVE_POINTS = 60
HEIGHT = 380


def curve_figure(curve: Fit, smallest: int, tau_share: float, most: int, ink: str) -> dict[str, Any]:
    """Measured epoch times, the fitted power law with its band, the line of τ and the plateau; both axes logarithmic.

    `most` is the largest batch size that is shown.
    """
    edge = plateau(curve, smallest, tau_share)
    least = min(smallest, *(point.batch_size for point in curve.points))
    sizes = _between(least, max(most, edge * 1.5))
    line = _tau_line(curve, edge, smallest, tau_share, sizes[-1])
    traces = [*_band(curve, sizes), _law(curve, sizes), *line, _points(curve)]
    if curve.alpha > 0:
        traces.append(_plateau(curve, edge, largest_worth(curve, smallest, tau_share)))
    layout = _layout(ink) | {
        "xaxis": _axis("Batch size", type="log", ticks=_doublings(sizes)),
        "yaxis": _axis("Seconds an epoch", type="log", ticks=_one_two_five(traces)),
        "legend": {"orientation": "h", "y": 1.14, "x": 0},
    }
    return {"data": traces, "layout": layout}


def trajectory_figure(choices: Sequence[Chosen], ink: str) -> dict[str, Any]:
    """Batch size above and delay beneath, an iteration a column; trials are hollow."""
    steps = {"mode": "lines", "line": {"color": GREY, "width": 1, "shape": "hv"}, "hoverinfo": "skip"}
    traces = [
        _scatter([c.iteration for c in choices], [c.batch_size for c in choices], showlegend=False, **steps),
        *(_dots(choices, trial, "y") for trial in (False, True)),
        *(_dots([c for c in choices if c.seconds is not None], trial, "y2") for trial in (False, True)),
    ]
    layout = _layout(ink) | {
        "xaxis": _axis("Iteration", domain=[0, 1], anchor="y2") | _whole_numbers(len(choices)),
        "yaxis": _axis("Batch size", domain=[0.5, 1], rangemode="tozero"),
        "yaxis2": _axis("Seconds", domain=[0, 0.4], rangemode="tozero"),
        "legend": {"orientation": "h", "y": 1.14, "x": 0},
    }
    return {"data": traces, "layout": layout}


def _between(least: float, most: float) -> list[float]:
    """Sizes evenly apart on a logarithmic axis."""
    ratio = (most / least) ** (1 / (CURVE_POINTS - 1))
    return [least * ratio**step for step in range(CURVE_POINTS)]


def _band(curve: Fit, sizes: Sequence[float]) -> list[dict[str, Any]]:
    bands = [curve.band(size) for size in sizes]
    low, high = [band[0] for band in bands if band], [band[1] for band in bands if band]
    if not low:
        return []
    outline = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    return [
        _scatter(sizes, low, showlegend=False, **outline),
        _scatter(sizes, high, name="95 % band", fill="tonexty", fillcolor=BAND, **outline),
    ]


def _law(curve: Fit, sizes: Sequence[float]) -> dict[str, Any]:
    return _scatter(
        sizes,
        [curve.epoch_seconds(size) for size in sizes],
        mode="lines",
        name="fitted",
        line={"color": HONEY, "width": 2.5},
        customdata=[[duration(curve.epoch_seconds(size))] for size in sizes],
        hovertemplate="batch size %{x:.0f}: %{customdata[0]} an epoch<extra></extra>",
    )


def _tau_line(curve: Fit, edge: float, smallest: int, tau_share: float, most: float) -> list[dict[str, Any]]:
    """The tangent at the plateau: to its left one more trace saves more than τ, to its right less."""
    if curve.alpha <= 0:
        return []
    saving = tau(curve, smallest, tau_share)
    level = curve.epoch_seconds(edge)
    around = [size for size in _between(edge / 3, min(most, edge * 3)) if level - saving * (size - edge) > level / 4]
    return [
        _scatter(
            around,
            [level - saving * (size - edge) for size in around],
            mode="lines",
            name="saves τ a trace",
            line={"color": BLUE, "width": 1.5, "dash": "dot"},
            hoverinfo="skip",
        )
    ]


def _points(curve: Fit) -> dict[str, Any]:
    return _scatter(
        [point.batch_size for point in curve.points],
        [point.seconds for point in curve.points],
        mode="markers",
        name="measured",
        marker={
            "size": 11,
            "color": [f"rgba(199,125,10,{max(0.15, point.weight):.2f})" for point in curve.points],
            "line": {"color": HONEY, "width": 1.5},
        },
        customdata=[[duration(point.seconds), _rests_on(point.delays, point.weight)] for point in curve.points],
        hovertemplate="<b>batch size %{x}</b>: %{customdata[0]} an epoch<br>%{customdata[1]}<extra></extra>",
    )


def _rests_on(delays: int, weight: float) -> str:
    seen = "measured once" if delays == 1 else f"measured {delays} times"
    return seen if weight > 0.99 else f"{seen}; counts for {weight:.0%}, as it is far from the others' line"


def _plateau(curve: Fit, edge: float, whole: int) -> dict[str, Any]:
    return _scatter(
        [edge],
        [curve.epoch_seconds(edge)],
        mode="markers+text",
        name="plateau",
        text=[f"{whole:,}"],
        textposition="top right",
        textfont={"size": 15},
        marker={"symbol": "diamond", "size": 13, "color": BLUE},
        customdata=[[duration(curve.epoch_seconds(edge))]],
        hovertemplate="<b>plateau at %{text}</b>: %{customdata[0]} an epoch<extra></extra>",
    )


def _dots(choices: Sequence[Chosen], trial: bool, axis: str) -> dict[str, Any]:
    some = [choice for choice in choices if choice.trial == trial]
    return _scatter(
        [choice.iteration for choice in some],
        [choice.batch_size if axis == "y" else choice.seconds for choice in some],
        yaxis=axis,
        mode="markers",
        name="trial" if trial else "chosen",
        showlegend=axis == "y",
        marker={
            "size": 9 if len(choices) < 80 else 5,
            "color": "rgba(0,0,0,0)" if trial else HONEY,
            "line": {"color": HONEY, "width": 2 if trial else 0},
        },
        customdata=[[_took(choice), _broken(choice.why)] for choice in some],
        hovertemplate="<b>iteration %{x}</b>, %{customdata[0]}<br>%{customdata[1]}<extra></extra>",
    )


def _took(choice: Chosen) -> str:
    seconds = "not finished" if choice.seconds is None else duration(choice.seconds)
    return f"batch size {choice.batch_size:,}, {seconds}"


def _broken(sentence: str, width: int = 60) -> str:
    """A sentence in lines that a hover has room for."""
    lines = [""]
    for word in sentence.split():
        if len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "<br>".join(lines)


def _scatter(xs: Sequence[Any], ys: Sequence[Any], **more: Any) -> dict[str, Any]:
    return {"type": "scatter", "x": list(xs), "y": list(ys)} | more


def _axis(title: str, ticks: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"title": {"text": title}, "fixedrange": True, "zeroline": False, "showgrid": True} | more | (ticks or {})


def _doublings(sizes: Sequence[float]) -> dict[str, Any]:
    """Whole batch sizes, each twice the one before or a multiple of it where that would be crowded."""
    steps = [float(2**power) for power in range(24) if sizes[0] <= 2**power <= sizes[-1]]
    shown = steps[:: max(1, -(-len(steps) // 9))]
    return {"tickvals": shown, "ticktext": [f"{size:,.0f}" for size in shown]}


def _one_two_five(traces: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Ticks at 1, 2, 5, 10 … seconds, wherever something is drawn."""
    seconds = [y for trace in traces for y in trace["y"]]
    decades = range(floor(log10(min(seconds))), ceil(log10(max(seconds))) + 1)
    shown = [digit * 10.0**decade for decade in decades for digit in (1, 2, 5)]
    return {"tickvals": shown, "ticktext": [f"{value:,g}" for value in shown]}


def _whole_numbers(count: int) -> dict[str, Any]:
    return {"range": [0.5, count + 0.5]} | ({"dtick": 1} if count <= 12 else {"tickformat": "d"})


def _layout(ink: str) -> dict[str, Any]:
    return {
        "height": HEIGHT,
        "margin": {"l": 58, "r": 12, "t": 36, "b": 44},
        "dragmode": False,
        "hovermode": "closest",
        "hoverlabel": {"font": {"color": ink}, "align": "left"},
    }
