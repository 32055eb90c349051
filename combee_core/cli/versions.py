"""Commands on prompt versions: versions, diff, proposals, approve, export."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from combee_core.cli.common import Session, counted, one_line, say, table, with_workspace
from combee_core.diff import PlaybookDiff
from combee_core.errors import CombeeError
from combee_core.exporters import FORMATS
from combee_core.playbook import Bullet
from combee_core.proposals import Proposal


@click.command("versions")
@click.argument("name")
@with_workspace
def versions(session: Session, name: str) -> None:
    """List the versions of a prompt, newest first."""
    rows = [
        {
            "version": f"{name}@{row['version']}",
            "parent": f"{name}@{row['parent']}" if row["parent"] else None,
            "status": row["status"],
            "run": row["run"],
            "bullets": row["bullets"],
            "created": row["created_at"],
            "approved_by": row["approved_by"],
            "approved": row["approved_at"],
            "note": row["note"],
        }
        for row in session.workspace.versions(name)
    ]
    shown = ("version", "parent", "status", "run", "bullets", "approved_by")
    session.answer(
        {"prompt": name, "versions": rows}, lambda: table(shown, [[row[key] for key in shown] for row in rows])
    )


@click.command("diff")
@click.argument("before")
@click.argument("after")
@with_workspace
def diff(session: Session, before: str, after: str) -> None:
    """Show bullet by bullet what changed between two versions."""
    found = session.workspace.diff(before, after)
    document = {
        "before": session.workspace.version(before).name,
        "after": session.workspace.version(after).name,
        "added": [_bullet(bullet) for bullet in found.added],
        "removed": [_bullet(bullet) for bullet in found.removed],
        "changed": [
            _bullet(change.after)
            | {"before": change.before.content, "after": change.after.content}
            | {"before_id": change.before.id, "before_section": change.before.section}
            for change in found.changed
        ],
        "unchanged": [_bullet(bullet) for bullet in found.unchanged],
    }
    session.answer(document, lambda: _tell_diff(found))


def _bullet(bullet: Bullet) -> dict[str, Any]:
    return {"section": bullet.section, "id": bullet.id, "content": bullet.content}


def _tell_diff(found: PlaybookDiff) -> None:
    for bullet in found.removed:
        click.echo(f"- [{bullet.id}] {bullet.content}")
    for bullet in found.added:
        click.echo(f"+ [{bullet.id}] {bullet.content}")
    for change in found.changed:
        click.echo(f"~ [{change.after.id}]\n  - {change.before.content}\n  + {change.after.content}")
    counts = f"{len(found.added)} added, {len(found.removed)} removed, {len(found.changed)} changed"
    click.echo(f"{counts}, {len(found.unchanged)} unchanged")


@click.command("proposals")
@click.argument("version")
@with_workspace
def proposals(session: Session, version: str) -> None:
    """List what the review of a version offers beyond its changes: lessons not taken up, contradictions, upkeep."""
    found = session.workspace.version(version)
    review = session.workspace.review
    offered, answers = review.proposals(found), review.answers(found)
    behind = review.behind(offered)
    rows = [
        {
            "id": each.id,
            "kind": each.kind,
            "about": each.about,
            "sides": [
                {"text": side.text, "section": side.section, "bullet": side.bullet, "support": side.support}
                | {"evidence": [asdict(item) for item in evidence]}
                for side, evidence in zip(each.sides, behind[each.id], strict=True)
            ],
            "choices": each.choices,
            "answer": answers[each.id].choice if each.id in answers else None,
        }
        for each in offered
    ]
    session.answer({"version": found.name, "proposals": rows}, lambda: _tell_proposals(offered))


def _tell_proposals(offered: Sequence[Proposal]) -> None:
    for each in offered:
        click.echo(f"{each.id}  {each.kind.replace('_', ' ')}  {one_line(each.about)}".rstrip())
        for number, side in enumerate(each.sides, 1):
            place = f" [{side.bullet}]" if side.bullet else ""
            click.echo(f"  {number}{place} {one_line(side.text, 160)} ({counted(side.support, 'trace')})")
    click.echo(counted(len(offered), "proposal"))


@click.command("approve")
@click.argument("version")
@click.option("--by", required=True, help="Name of who approves.")
@click.option("--note", default="", help="Why, kept with the approval.")
@click.option("--add", multiple=True, metavar="ID", help="Accept this proposal (may be given several times).")
@click.option("--keep", multiple=True, metavar="ID=SIDE", help="Side of a contradiction that stays: 1, 2 or both.")
@with_workspace
def approve(session: Session, version: str, by: str, note: str, add: tuple[str, ...], keep: tuple[str, ...]) -> None:
    """Approve a version, so that its prompt's name alone stands for it."""
    if "@" not in version:
        raise click.UsageError(f"{version} names no version: write {version}@N.")
    found = session.workspace.version(version)
    for proposal, choice in [*((name, "accept") for name in add), *map(_side_kept, keep)]:
        session.workspace.review.answer(found, proposal, choice, by)
    approved = session.workspace.approve(version, by, note)
    document = {
        "version": approved.name,
        "status": approved.status,
        "by": approved.approved_by,
        "at": approved.approved_at,
        "note": approved.note,
    }
    session.answer(document, lambda: click.echo(f"{approved.name} is approved by {approved.approved_by}."))


def _side_kept(text: str) -> tuple[str, str]:
    proposal, equals, side = text.rpartition("=")
    if not equals:
        raise click.UsageError(f"--keep {text} names no side: write {text}=1, {text}=2 or {text}=both.")
    return proposal, side


@click.command("export")
@click.argument("version")
@click.option(
    "--format",
    "format_",
    type=click.Choice(list(FORMATS)),
    default="markdown",
    show_default=True,
    help="Form of the text.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file.")
@with_workspace
def export(session: Session, version: str, format_: str, output: Path | None) -> None:
    """Print a version's prompt, or write it to a file; NAME alone is its latest approved version."""
    found = session.workspace.version(version)
    text = session.workspace.export(found.name, "json" if session.json else format_)
    if found.status != "approved":
        say(f"{found.name} is not approved: it is a {found.status}.")
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        output.write_bytes(text.encode())
    except OSError as error:
        raise CombeeError(f"{output} cannot be written ({error.strerror}): choose another file.") from error
    say(f"{found.name} written to {one_line(str(output), 200)}.")


COMMANDS = (versions, diff, proposals, approve, export)
