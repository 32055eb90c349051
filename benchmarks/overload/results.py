"""Rows of results: appended to a file one by one as they come, read back so that nothing is measured twice."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import orjson

Row = dict[str, Any]
KEY = ("curator", "strategy", "n", "seed", "instructions")


def key(row: Row) -> tuple[Any, ...]:
    """What a row was measured on."""
    return tuple(row[name] for name in KEY)


def read(file: Path) -> list[Row]:
    """All rows so far; none where there is no file yet. A line that a kill has cut off is left out."""
    lines = file.read_bytes().splitlines() if file.exists() else []
    return [orjson.loads(line) for line in lines if line.endswith(b"}")]


def append(file: Path, row: Row) -> None:
    """Add one row; it is on disk when this returns."""
    file.parent.mkdir(parents=True, exist_ok=True)
    cut_off = file.exists() and file.stat().st_size > 0 and not file.read_bytes().endswith(b"\n")
    with file.open("ab") as opened:
        opened.write((b"\n" if cut_off else b"") + orjson.dumps(row) + b"\n")


def table(rows: Iterable[Row]) -> str:
    """A Markdown table: for each curator, n and strategy the mean of what was kept, its band, and each seed's."""
    cases: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        cases[row["curator"], row["instructions"], row["n"], row["strategy"]].append(row)
    lines = [
        "| curator | merge instructions | n | strategy | kept, mean | least–most | share | by seed | bullets | calls |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for (curator, instructions, n, strategy), found in sorted(cases.items()):
        found.sort(key=lambda row: row["seed"])
        kept = [row["kept"] for row in found]
        lines.append(
            f"| {curator} | {instructions} | {n} | {strategy} | {mean(kept):.1f} | {min(kept)}–{max(kept)} | "
            f"{mean(kept) / n:.0%} | {_some(kept)} | {mean(row['bullets'] for row in found):.0f} | "
            f"{mean(row['calls'] for row in found):.0f} |"
        )
    return "\n".join(lines)


def _some(kept: Sequence[int]) -> str:
    return ", ".join(map(str, kept))
