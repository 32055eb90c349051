"""Commands on traces: import, traces, rejects."""

from pathlib import Path
from typing import Any

import click

from combee_core.cli.common import Session, counted, one_line, say, table, with_workspace
from combee_core.importers import FORMATS
from combee_core.workspace import FileReport, ImportReport, TraceFilter


@click.command("import")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--format", "format_", type=click.Choice(sorted(FORMATS)), help="Read as this format, without detection.")
@with_workspace
def import_(session: Session, paths: tuple[Path, ...], format_: str | None) -> int:
    """Read trace files into the database. Formats are recognised by content."""
    report = session.workspace.import_paths(paths, format_)
    session.answer(_import_document(report), lambda: _tell(report))
    if report.traces == 0:
        say("No trace came in. " + " ".join(_why_not(file) for file in report.files))
        return 1
    return 0


def _why_not(file: FileReport) -> str:
    if file.skipped:
        return f"{file.path}: {file.skipped}"
    if file.format:
        return f"{file.path}: all {file.rejected:,} records were rejected, `combee rejects` says why."
    return file.reason


def _import_document(report: ImportReport) -> dict[str, Any]:
    totals = {name: getattr(report, name) for name in ("traces", "new", "duplicates", "rejected")}
    return {"files": [_file(file) for file in report.files], **totals}


def _file(file: FileReport) -> dict[str, Any]:
    counts = {name: getattr(file, name) for name in ("traces", "new", "duplicates", "rejected")}
    skipped = {"skipped": file.skipped} if file.skipped else {}
    return {"path": file.path, "format": file.format, "reason": file.reason, **counts, **skipped}


def _tell(report: ImportReport) -> None:
    for file in report.files:
        counts = (
            f"{counted(file.new, 'new trace')}, {counted(file.duplicates, 'duplicate')}, {file.rejected:,} rejected"
        )
        click.echo(f"{file.path}: {file.format or 'not read'} ({file.skipped or file.reason}): {counts}")
    if report.rejected:
        click.echo("`combee rejects` lists what could not be read and why.")


@click.command("traces")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True)
@click.option("--offset", type=click.IntRange(0), default=0)
@click.option("--format", "format_", help="Only traces of this format.")
@click.option("--outcome", type=click.Choice(["success", "failure", "unknown"]))
@click.option("--text", default="", help="Only traces that hold this text in task, messages or feedback.")
@with_workspace
def traces(session: Session, limit: int, offset: int, format_: str | None, outcome: str | None, text: str) -> None:
    """List the traces in the database."""
    total, rows = session.workspace.traces(TraceFilter(format=format_, outcome=outcome, text=text), limit, offset)
    shown = ("id", "task", "format", "success", "score", "steps", "source")

    def tell() -> None:
        table(shown, [[one_line(str(row[name])) if name == "task" else row[name] for name in shown] for row in rows])
        click.echo(f"{len(rows)} of {counted(total, 'trace')}")

    session.answer({"total": total, "traces": [{name: row[name] for name in shown} for row in rows]}, tell)


@click.command("rejects")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True)
@click.option("--offset", type=click.IntRange(0), default=0)
@with_workspace
def rejects(session: Session, limit: int, offset: int) -> None:
    """List records that could not be read: file, line and reason."""
    total, rows = session.workspace.rejects(limit, offset)
    shown = ("file", "line", "reason", "excerpt")

    def tell() -> None:
        table(shown, [[row["file"], row["line"], row["reason"], one_line(row["excerpt"])] for row in rows])
        click.echo(f"{len(rows)} of {counted(total, 'reject')}")

    session.answer({"total": total, "rejects": [{name: row[name] for name in shown} for row in rows]}, tell)


COMMANDS = (import_, traces, rejects)
