"""Deciding over a new prompt version: the changes it makes, a decision for each, and the version that results."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from combee_core.diff import PlaybookDiff, compare
from combee_core.errors import CombeeError
from combee_core.playbook import Bullet, Playbook
from combee_core.store.database import Database, Row
from combee_core.store.versions import Version, Versions

Choice = Literal["accept", "reject", "edit"]


@dataclass(frozen=True)
class Decision:
    """What a reviewer said of one change; `content` is the bullet's new text for an edit."""

    bullet: str
    choice: Choice
    content: str | None
    reviewer: str
    note: str
    at: datetime


def changed_bullets(diff: PlaybookDiff) -> list[str]:
    """Ids of the changes that need a decision: added, removed and changed bullets, each named by one id."""
    return [bullet.id for bullet in (*diff.added, *diff.removed)] + [change.after.id for change in diff.changed]


def reviewed(before: Playbook, after: Playbook, decisions: Mapping[str, Decision]) -> Playbook:
    """The new playbook with rejected changes undone and edits put in; changes without a decision stand as they are."""
    diff = compare(before, after)
    old = {change.after.id: change.before for change in diff.changed}
    added = {bullet.id for bullet in diff.added}
    kept: list[Bullet] = []
    for bullet in after.bullets:
        decision = decisions.get(bullet.id)
        if decision is None or decision.choice == "accept":
            kept.append(bullet)
        elif decision.choice == "edit":
            kept.append(bullet.model_copy(update={"content": decision.content or bullet.content}))
        elif bullet.id not in added:
            kept.append(old.get(bullet.id, bullet))
    restored = [b for b in diff.removed if b.id in decisions and decisions[b.id].choice == "reject"]
    return Playbook(bullets=tuple(kept + restored))


class Review:
    """Decisions and approval of stored versions."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._versions = Versions(database)

    def decide(
        self, version: Version, bullet: str, choice: Choice, reviewer: str, content: str | None = None, note: str = ""
    ) -> None:
        """Record one decision; a later one on the same bullet takes its place, the earlier stays on record."""
        if version.status == "approved":
            raise CombeeError(f"{version.name} is approved already: its changes cannot be decided again.")
        if choice == "edit" and not (content or "").strip():
            raise CombeeError(f"The edit of {bullet} is empty: write the bullet's text, or reject the change.")
        with self._database.write() as cursor:
            cursor.execute(
                "insert into decisions (prompt, version, bullet, decision, content, reviewer, note) "
                "values (?, ?, ?, ?, ?, ?, ?)",
                [version.prompt, version.version, bullet, choice, content, reviewer, note],
            )

    def decisions(self, version: Version) -> dict[str, Decision]:
        """The decision in force for each bullet."""
        rows = self._database.rows(
            "select bullet, decision as choice, content, reviewer, note, at from decisions "
            "where prompt = ? and version = ? order by at, rowid",
            [version.prompt, version.version],
        )
        return {row["bullet"]: Decision(**row) for row in rows}

    def approve(self, version: Version, by: str, note: str) -> Version:
        """Approve a version, and return what is approved.

        Where changes were rejected or edited, that is a new version made of this one: no version is ever overwritten.
        """
        if not by.strip():
            raise CombeeError("An approval needs the name of who approves: give --by, or fill in your name.")
        if version.status == "approved":
            raise CombeeError(f"{version.name} was approved already, by {version.approved_by}.")
        chosen = self._chosen(version)
        if chosen == version.playbook:
            number = version.version
        else:
            kept = {bullet.id for bullet in chosen.bullets}
            sources = {bullet: entries for bullet, entries in self._all_sources(version).items() if bullet in kept}
            with self._database.write() as cursor:
                number = self._versions.add(
                    cursor, version.prompt, version.version, chosen, sources, version.next_number, version.run
                )
        self._versions.approve(version.prompt, number, by.strip(), note)
        return self._versions.get(version.prompt, number)

    def before(self, version: Version) -> Version | None:
        """The version that a version's changes are reviewed against: the one that its run started from, if any."""
        if version.run is None:
            return self._versions.get(version.prompt, version.parent) if version.parent else None
        run: Row | None = self._database.row("select base_version from runs where id = ?", [version.run])
        base = run["base_version"] if run else None
        return self._versions.get(version.prompt, base) if base else None

    def _chosen(self, version: Version) -> Playbook:
        base = self.before(version)
        return reviewed(base.playbook if base else Playbook(), version.playbook, self.decisions(version))

    def _all_sources(self, version: Version) -> dict[str, list[dict[str, Any]]]:
        """Sources of the version's bullets, and of those that a rejected removal brings back."""
        base = self.before(version)
        return (base.sources if base else {}) | version.sources
