"""What an epoch would take at other batch sizes, beside what it took. Pure."""

from typing import Any

from combee_core.batch_size import Fit
from combee_core.engine.batch_sizes import BatchSizes
from pages.numbers import duration


def comparison_rows(sizes: BatchSizes, curve: Fit) -> list[dict[str, Any]]:
    """Sequential learning, every measured batch size and the one it came to, by the curve; then what was."""
    measured = {point.batch_size: point for point in curve.points}
    chosen = sizes.settled.batch_size if sizes.settled else None
    sizes_shown = sorted({1, *measured} | ({chosen} if chosen else set()))
    fastest = min(curve.epoch_seconds(size) for size in sizes_shown)
    rows = [
        {
            "Batch size": f"{size:,}, sequential" if size == 1 else f"{size:,}",
            "An epoch, predicted": duration(curve.epoch_seconds(size)),
            "Times the fastest": round(curve.epoch_seconds(size) / fastest, 2),
            "Where from": _where_from(size in measured, size == chosen),
        }
        for size in sizes_shown
    ]
    if sizes.measured_epoch is not None:
        rows.append(
            {
                "Batch size": "as this run chose",
                "An epoch, predicted": duration(sizes.measured_epoch),
                "Times the fastest": round(sizes.measured_epoch / fastest, 2),
                "Where from": "what the first epoch took, trials included",
            }
        )
    return rows


def _where_from(measured: bool, chosen: bool) -> str:
    known = "fitted through a measured size" if measured else "the curve alone"
    return f"{known}; the size it came to" if chosen else known
