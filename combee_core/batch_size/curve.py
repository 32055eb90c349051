"""The curve of epoch times over batch sizes: a power law through measured delays, and the plateau on it.

It knows nothing of trials, of traces that remain or of what the run does next. Source: arXiv 2604.04247, dynamic batch
size controller.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from math import ceil, exp, floor, log, pow, sqrt
from statistics import median, median_low

from pydantic import BaseModel, ConfigDict, Field

TAU_SHARE = 0.016
"""The paper's τ, as a share of the slope at the smallest candidate."""

CONFIRMED = 3
"""Delays of one batch size that no single slow iteration can mislead."""

_FIRST = 5  # delays by which a batch size is judged
_TRUSTED = 0.3  # distance from the line, in log T, that is never held against a point: real curves bend that much
_ENOUGH = 4  # points among which one that is out of line shows
_T95 = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23)  # Student's t for a 95 % band, from 1 degree on


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Measurement(_Frozen):
    """One iteration: its delay in seconds, and whether it was a trial of a candidate.

    `failed`: it failed, or was interrupted and resumed, so that its seconds say nothing of its batch size.
    """

    batch_size: int = Field(ge=1)
    seconds: float = Field(ge=0, allow_inf_nan=False)
    trial: bool = False
    failed: bool = False


class Point(_Frozen):
    """What one batch size adds to the curve: its epoch time in seconds, and the number of delays that it rests on.

    `weight` is how much it counts in the fit, from 1 (fully) down to 0.
    """

    batch_size: int
    seconds: float
    delays: int
    weight: float = 1.0


class Fit(_Frozen):
    """The power law T(bs) = A · bs^(-alpha) of epoch times in seconds, and how well it holds.

    `r2` is the share of the variance of log T that the law explains. `spread` is the typical distance of a point from
    the curve as a share of it (0.1: 10 %), 0 for two points; `alpha_error` is the standard error of alpha.
    """

    A: float
    alpha: float
    r2: float
    spread: float
    alpha_error: float
    points: tuple[Point, ...]

    def epoch_seconds(self, batch_size: float) -> float:
        """Seconds of one epoch at this batch size."""
        return self.A * pow(batch_size, -self.alpha)

    def slope(self, batch_size: float) -> float:
        """Seconds that one more trace in each batch saves an epoch."""
        return self.alpha * self.A * pow(batch_size, -self.alpha - 1)

    def band(self, batch_size: float) -> tuple[float, float] | None:
        """The 95 % confidence band of the curve, from and to in seconds of an epoch; None for a curve of two points."""
        free = len(self.points) - 2
        if not free:
            return None
        weights = [point.weight for point in self.points]
        center, across = _center([log(point.batch_size) for point in self.points], weights)
        t = _T95[free - 1] if free <= len(_T95) else 1.96 + 2.4 / free
        wide = t * self.spread * sqrt(1 / sum(weights) + (log(batch_size) - center) ** 2 / across)
        return self.epoch_seconds(batch_size) * exp(-wide), self.epoch_seconds(batch_size) * exp(wide)


def fit(measurements: Iterable[Measurement], n: int, plain: bool = False) -> Fit | None:
    """Fit the power law to the epoch times that the measurements of one run, in order, give for n traces.

    See `epoch_times` and `through`, also for `plain`. None when fewer than two batch sizes have a delay above 0 s.
    """
    return through(epoch_times(measurements, n), plain)


def epoch_times(measurements: Iterable[Measurement], n: int) -> tuple[Point, ...]:
    """T(bs) = ceil(n / bs) · t(bs) of each batch size that has a delay to go by, smallest first (paper: controller).

    t(bs) is the lower median of the first five delays since the run came to this batch size, so that one slow
    iteration among several is passed over. Later ones say nothing of the batch size: they show how the run slows down
    as its playbook grows, and that is taken off all delays that come after, which makes them comparable.
    """
    delays: dict[int, list[float]] = {}
    slower = 1.0
    for size, stretch in groupby((m for m in measurements if not m.failed), key=lambda m: m.batch_size):
        seconds = [measured.seconds for measured in stretch]
        delays.setdefault(size, []).extend(delay / slower for delay in seconds[:_FIRST])
        first, last = median_low(seconds[:_FIRST]), median_low(seconds[-_FIRST:])
        if first and last:
            slower *= last / first
    return tuple(
        Point(batch_size=size, seconds=ceil(n / size) * typical, delays=len(seconds))
        for size, seconds in sorted(delays.items())
        if (typical := median_low(seconds)) > 0
    )


def through(points: Sequence[Point], plain: bool = False) -> Fit | None:
    """The power law through points of different batch sizes: least squares in log–log (paper: controller), made robust.

    A point far from the repeated-median line (Siegel 1982), which one bad point in four does not bend, loses weight by
    its distance, unless it rests on three delays or more, which are no accident. That takes four points: two of three
    that are in line cannot be told from the third. On clean data nothing loses weight, which leaves the paper's least
    squares; `plain` never weighs. The repeated-median line itself would jump between the pieces of a bent curve, where
    least squares uses all of it.

    None for fewer than two points.
    """
    if len(points) < 2:
        return None
    x, y = [log(point.batch_size) for point in points], [log(point.seconds) for point in points]
    doubted = not plain and len(points) >= _ENOUGH
    weights = _weights(x, y, [point.delays for point in points]) if doubted else [1.0] * len(points)
    level, slope = _least_squares(x, y, weights)
    off = sum(w * (yi - level - slope * xi) ** 2 for xi, yi, w in zip(x, y, weights, strict=True))
    (_, x_across), (_, y_across) = _center(x, weights), _center(y, weights)
    spread = sqrt(off / (len(points) - 2)) if len(points) > 2 else 0.0
    return Fit(
        A=exp(level),
        alpha=-slope,
        r2=max(0.0, 1 - off / y_across) if y_across > 1e-18 else 1.0,
        spread=spread,
        alpha_error=spread / sqrt(x_across),
        points=tuple(
            point.model_copy(update={"weight": weight}) for point, weight in zip(points, weights, strict=True)
        ),
    )


def tau(fit: Fit, smallest: int, tau_share: float = TAU_SHARE) -> float:
    """The paper's τ: the least saving, in seconds an epoch, for which a batch still takes one more trace."""
    return tau_share * fit.slope(smallest)


def plateau(fit: Fit, smallest: int, tau_share: float = TAU_SHARE) -> float:
    """The batch size at which one more trace saves τ: the paper's (alpha · A / τ)^(1 / (alpha + 1)).

    As τ is a share of the slope at the smallest candidate, A cancels out: smallest · tau_share^(-1 / (alpha + 1)).
    Where larger batches save no time (alpha <= 0) it is the smallest candidate.
    """
    return smallest * pow(tau_share, -1 / (fit.alpha + 1)) if fit.alpha > 0 else float(smallest)


def largest_worth(fit: Fit, smallest: int, tau_share: float = TAU_SHARE) -> int:
    """The plateau in whole traces; one that arithmetic puts a hair below a whole number is that number."""
    return floor(plateau(fit, smallest, tau_share) + 1e-6)


def _weights(x: Sequence[float], y: Sequence[float], delays: Sequence[int]) -> list[float]:
    """How far to trust each point, by its distance from the repeated-median line."""
    points = list(zip(x, y, strict=True))
    slope = median(median((yj - yi) / (xj - xi) for xj, yj in points if xj != xi) for xi, yi in points)
    level = median(yi - slope * xi for xi, yi in points)
    distances = [abs(yi - level - slope * xi) for xi, yi in points]
    trusted = max(_TRUSTED, 3 * 1.4826 * median(distances))
    return [
        1.0 if distance <= trusted or times >= CONFIRMED else (trusted / distance) ** 4
        for distance, times in zip(distances, delays, strict=True)
    ]


def _least_squares(x: Sequence[float], y: Sequence[float], weights: Sequence[float]) -> tuple[float, float]:
    """Level and slope of the line through weighted points."""
    x_center, across = _center(x, weights)
    y_center, _ = _center(y, weights)
    slope = sum(w * (xi - x_center) * (yi - y_center) for xi, yi, w in zip(x, y, weights, strict=True)) / across
    return y_center - slope * x_center, slope


def _center(values: Sequence[float], weights: Sequence[float]) -> tuple[float, float]:
    """The weighted mean, and the weighted sum of squared distances from it."""
    center = sum(w * value for value, w in zip(values, weights, strict=True)) / sum(weights)
    return center, sum(w * (value - center) ** 2 for value, w in zip(values, weights, strict=True))
