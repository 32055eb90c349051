"""Commands on traces: import, reimport, traces, tag, delete, undelete, rejects."""

from pathlib import Path
from typing import Any

import click

from combee_core.cli.common import Session, counted, one_line, say, table, with_filter, with_workspace
from combee_core.importers import FIELDS, FORMATS, LAYOUTS, parse_mapping
from combee_core.workspace import FileReport, ImportReport, TraceFilter

MOST = 10**12


_TITLES = {layout.name: layout.title for layout in LAYOUTS.values()} | {
    importer.name: importer.title for importer in FORMATS.values()
}
_FORMATS = ", ".join(f"{name} ({title})" for name, title in _TITLES.items())


@click.command("import", epilog=f"Formats: {_FORMATS}.")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--format", "format_", metavar="NAME", help="Read as this format, without detection.")
@click.option("--map", "mapping", metavar="task=COLUMN,…", help=f"Columns of an unknown table: {', '.join(FIELDS)}.")
@with_workspace
def import_(session: Session, paths: tuple[Path, ...], format_: str | None, mapping: str | None) -> int:
    """Read trace files, folders and archives into the database. Formats are recognised by content."""
    report = session.workspace.import_paths(paths, format_, mapping=parse_mapping(mapping) if mapping else None)
    session.answer(_import_document(report), lambda: _tell(report))
    if report.traces == 0:
        found = " ".join(_why_not(file) for file in report.files) or "There is no file in the folder."
        is_unknown = any(file.format is None and not file.skipped for file in report.files)
        say(f"No trace came in. {found}{_HINT if is_unknown else ''}")
        return 1
    return 0


_HINT = " `combee import --help` lists what is read, and says how to name the columns of a table."


def _why_not(file: FileReport) -> str:
    if file.skipped:
        return f"{file.path}: {file.skipped}"
    if file.format and not file.rejected:
        return f"{file.path} holds no record of the format {file.format}."
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
        # Why no file at all could be read is said at the end, once.
        why = f" ({file.skipped or file.reason})" if file.format or report.traces else ""
        click.echo(f"{file.path}: {file.format or 'not read'}{why}: {counts}")
    if report.rejected:
        click.echo("`combee rejects` lists what could not be read and why.")


@click.command("reimport")
@with_workspace
def reimport(session: Session) -> None:
    """Read every imported file again, from the copies that were kept, with the importers of this release."""
    report = session.workspace.reimport()

    def tell() -> None:
        counts = f"{counted(report.new, 'new trace')}, {report.duplicates:,} as before, {report.replaced:,} replaced"
        click.echo(f"{counted(len(report.files), 'file')} read again: {counts}, {report.rejected:,} rejected")

    session.answer(_import_document(report) | {"replaced": report.replaced}, tell)


@click.command("traces")
@click.option("--limit", type=click.IntRange(1, MOST), default=50, show_default=True, help="Lines at most.")
@click.option("--offset", type=click.IntRange(0, MOST), default=0, help="Lines to leave out before the first.")
@with_filter
@with_workspace
def traces(session: Session, limit: int, offset: int, which: TraceFilter) -> None:
    """List the traces in the database."""
    total, rows = session.workspace.traces(which, limit, offset)
    shown = ("id", "task", "format", "success", "score", "steps", "source")

    def tell() -> None:
        table(shown, [[one_line(str(row[name])) if name == "task" else row[name] for name in shown] for row in rows])
        click.echo(f"{len(rows)} of {counted(total, 'trace')}")

    session.answer({"total": total, "traces": [{name: row[name] for name in shown} for row in rows]}, tell)


@click.command("tag")
@click.argument("tag")
@click.option("--remove", is_flag=True, help="Take the tag off instead.")
@with_filter
@with_workspace
def tag(session: Session, tag: str, remove: bool, which: TraceFilter) -> None:
    """Put TAG on all traces that match; without a filter that is every trace."""
    changed = session.workspace.tag(which, tag, remove)
    done = "taken off" if remove else "put on"
    session.answer({"tag": tag, "changed": changed}, lambda: click.echo(f"{tag} {done} {counted(changed, 'trace')}"))


@click.command("delete")
@with_filter
@with_workspace
def delete(session: Session, which: TraceFilter) -> None:
    """Hide all traces that match from lists and runs; `combee undelete` brings them back."""
    if which == TraceFilter():
        raise click.UsageError("say which traces: an id, or one of the filters (combee delete --help)")
    changed = session.workspace.delete(which)
    session.answer({"deleted": changed}, lambda: click.echo(f"{counted(changed, 'trace')} deleted"))


@click.command("undelete")
@with_filter
@with_workspace
def undelete(session: Session, which: TraceFilter) -> None:
    """Bring deleted traces that match back; without a filter that is all of them."""
    changed = session.workspace.undelete(which)
    session.answer({"undeleted": changed}, lambda: click.echo(f"{counted(changed, 'trace')} brought back"))


@click.command("rejects")
@click.option("--limit", type=click.IntRange(1, MOST), default=50, show_default=True, help="Lines at most.")
@click.option("--offset", type=click.IntRange(0, MOST), default=0, help="Lines to leave out before the first.")
@with_workspace
def rejects(session: Session, limit: int, offset: int) -> None:
    """List records that could not be read: file, line and reason."""
    total, rows = session.workspace.rejects(limit, offset)
    shown = ("file", "line", "reason", "excerpt")

    def tell() -> None:
        table(
            shown, [[row["file"], row["line"], one_line(row["reason"], 120), one_line(row["excerpt"])] for row in rows]
        )
        click.echo(f"{len(rows)} of {counted(total, 'reject')}")

    session.answer({"total": total, "rejects": [{name: row[name] for name in shown} for row in rows]}, tell)


COMMANDS = (import_, reimport, traces, tag, delete, undelete, rejects)
