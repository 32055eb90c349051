"""What all commands share: the options after their name, output for programs and for people."""

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import orjson

from combee_core.workspace import TraceFilter, Workspace, default_path


@dataclass
class Session:
    """The open workspace of one command and whether it answers in JSON."""

    workspace: Workspace
    json: bool

    def answer(self, document: dict[str, Any], text: Callable[[], None]) -> None:
        """Print the one JSON object, or what a person reads."""
        if self.json:
            click.echo(as_json(document))
        else:
            text()


def with_workspace(function: Callable[..., int | None]) -> Callable[..., None]:
    """Give a command `--db` and `--json`, and an open workspace that is closed at its end."""

    @click.option("--db", type=click.Path(path_type=Path), help="Database file [default: COMBEE_HOME/combee.duckdb].")
    @click.option("--json", "json_", is_flag=True, help="Print one JSON object on stdout, and nothing else there.")
    @functools.wraps(function)
    def command(db: Path | None, json_: bool, **options: Any) -> None:
        with Workspace(db or default_path()) as workspace:
            code = function(Session(workspace, json_), **options)
        if code:
            raise click.exceptions.Exit(code)

    return command


def with_filter(function: Callable[..., int | None]) -> Callable[..., int | None]:
    """Give a command the options that say which traces are meant, handed on as one TraceFilter `which`."""

    @click.option("--id", "ids", multiple=True, help="Only this trace (may be given several times).")
    @click.option("--format", "format_", help="Only traces of this format.")
    @click.option("--outcome", type=click.Choice(["success", "failure", "unknown"]), help="Only this outcome.")
    @click.option("--text", default="", help="Only traces that hold this text in task, messages or feedback.")
    @click.option("--tag", "tag_", help="Only traces with this tag.")
    @click.option("--min-score", type=float, help="Only traces with at least this score.")
    @click.option("--max-score", type=float, help="Only traces with at most this score.")
    @functools.wraps(function)
    def command(
        *arguments: Any,
        ids: tuple[str, ...],
        format_: str | None,
        outcome: str | None,
        text: str,
        tag_: str | None,
        min_score: float | None,
        max_score: float | None,
        **options: Any,
    ) -> int | None:
        which = TraceFilter(format_, outcome, text, tag_, min_score, max_score, ids=ids)
        return function(*arguments, which=which, **options)

    return command


def as_json(document: dict[str, Any]) -> str:
    """A document as JSON text; times in ISO 8601."""
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()


def say(message: str) -> None:
    """One line for the person, on stderr."""
    click.echo(message, err=True)


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows in aligned columns."""
    cells = [[str(cell) if cell is not None else "–" for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in [list(header), *cells]) for column in range(len(header))]
    for row in [list(header), *cells]:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def one_line(text: str, length: int = 70) -> str:
    """Text on one line, cut at `length` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= length else flat[: length - 1] + "…"


def counted(number: int, noun: str) -> str:
    """`1 trace`, `2 traces`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
