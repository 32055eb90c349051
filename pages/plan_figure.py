"""A small drawing of the merge tree that a plan gives, in the shapes of the Merges page: final, groups, copies.

Pure: SVG text from the plan alone. Each row of squares is one dashed line, so that it stays small at any size.
"""

from collections.abc import Sequence

from combee_core.scan import TreePlan

WIDTH, HEIGHT, MARGIN = 480.0, 190.0, 14.0
MOST_ROWS = 40
HONEY, GREY = "#C77D0A", "#8C877D"


def plan_svg(plan: TreePlan) -> str:
    """The drawing. Above `MOST_ROWS` groups only as many are drawn."""
    groups = plan.levels[0] if len(plan.levels) > 1 else ()
    sizes = [len(merge.inputs) for merge in groups][:MOST_ROWS] or [plan.items]
    rows = _rows(len(sizes))
    step = (HEIGHT - 2 * MARGIN) / max(len(sizes), 6)
    side = min(11.0, step * 0.62)
    longest = max(sizes)
    left = WIDTH * (0.34 if groups else 0.14)
    column = min(side * 1.5, (WIDTH - left - MARGIN) / longest)
    final = (MARGIN + 8, HEIGHT / 2)
    parts = []
    if groups:
        joint = left - 22
        parts += [_link(final, (joint, y)) for y in rows]
        parts += [_hexagon(joint, y, min(8.0, max(2.5, side * 0.7))) for y in rows]
    parts += [_squares(left, y, size, column, side) for y, size in zip(rows, sizes, strict=True)]
    parts.append(_hexagon(*final, 11.0))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" width="{WIDTH:g}" '
        f'height="{HEIGHT:g}">{"".join(parts)}</svg>'
    )


def _rows(count: int) -> Sequence[float]:
    """Heights of the rows, evenly apart and no wider apart than a sixth of the drawing."""
    step = (HEIGHT - 2 * MARGIN) / max(count, 6)
    first = HEIGHT / 2 - step * (count - 1) / 2
    return [round(first + step * number, 1) for number in range(count)]


def _link(start: tuple[float, float], end: tuple[float, float]) -> str:
    (x0, y0), (x1, y1) = start, end
    middle = (x0 + x1) / 2
    path = f"M{x0:g} {y0:g}C{middle:g} {y0:g} {middle:g} {y1:g} {x1:g} {y1:g}"
    return f'<path d="{path}" fill="none" stroke="{HONEY}" stroke-width="1.4" opacity=".5"/>'


def _hexagon(x: float, y: float, radius: float) -> str:
    half, high = radius / 2, radius * 0.866
    points = ((radius, 0), (half, high), (-half, high), (-radius, 0), (-half, -high), (half, -high))
    return f'<polygon points="{" ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in points)}" fill="{HONEY}"/>'


def _squares(left: float, y: float, count: int, column: float, side: float) -> str:
    """`count` squares side by side, as the dashes of one line."""
    dash = min(side, column * 0.72)
    return (
        f'<line x1="{left:g}" y1="{y:g}" x2="{left + column * count - (column - dash):.2f}" y2="{y:g}" stroke="{GREY}" '
        f'stroke-width="{dash if dash > 3 else side:.2f}" stroke-dasharray="{dash:.3f} {column - dash:.3f}"/>'
    )
