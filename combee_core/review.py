"""Deciding over a new prompt version: the changes it makes, a decision for each, and the version that results."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import duckdb

from combee_core.diff import PlaybookDiff, compare
from combee_core.errors import CombeeError
from combee_core.evidence import Evidence, Removal, evidence, removals
from combee_core.playbook import Bullet, Playbook
from combee_core.proposals import Answer, Proposal, State, answered, proposals
from combee_core.store.database import Database, Row
from combee_core.store.versions import Sources, Version, Versions

Choice = Literal["accept", "reject", "edit"]

MOST_COLLECTED = 4
"""Versions whose proposals are kept at hand: they follow from what is stored and never change."""


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
    return [bullet.id for bullet in (*diff.added, *diff.removed)] + [change.id for change in diff.changed]


def reviewed(before: Playbook, after: Playbook, decisions: Mapping[str, Decision]) -> Playbook:
    """The new playbook with rejected changes undone and edits put in; changes without a decision stand as they are.

    An edited removal keeps the bullet with its new text. As soon as a bullet comes back, bullets stand in the order of
    the old playbook with the added ones after them, as when operations are applied; otherwise in the new one's order.
    """
    diff = compare(before, after)
    old = {change.id: change.before for change in diff.changed}
    added = {bullet.id for bullet in diff.added}
    stays: dict[str, Bullet] = {}
    back: dict[str, Bullet] = {}
    for bullet in after.bullets:
        decision = decisions.get(bullet.id)
        if decision is None or decision.choice != "reject":
            stays[bullet.id] = _edited(bullet, decision)
        elif bullet.id in old:
            back[old[bullet.id].id] = old[bullet.id]
        elif bullet.id not in added:
            stays[bullet.id] = bullet
    for bullet in diff.removed:
        decision = decisions.get(bullet.id)
        if decision is not None and decision.choice != "accept":
            back[bullet.id] = _edited(bullet, decision)
    if not back:
        return Playbook(bullets=tuple(stays.values()))
    new_id = {change.before.id: change.id for change in diff.changed}
    known = [back.get(bullet.id) or stays.pop(new_id.get(bullet.id, bullet.id), None) for bullet in before.bullets]
    return Playbook(bullets=(*filter(None, known), *stays.values()))


def _edited(bullet: Bullet, decision: Decision | None) -> Bullet:
    if decision is None or decision.choice != "edit" or not decision.content:
        return bullet
    return bullet.model_copy(update={"content": decision.content})


class Review:
    """Decisions and approval of stored versions."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._versions = Versions(database)
        self._collected: dict[str, list[Proposal]] = {}

    def before(self, version: Version) -> Version | None:
        """The version that a version's changes are reviewed against: the one that its run started from, if any."""
        if version.run is None:
            return self._versions.get(version.prompt, version.parent) if version.parent else None
        run: Row | None = self._database.row("select base_version from runs where id = ?", [version.run])
        base = run["base_version"] if run else None
        return self._versions.get(version.prompt, base) if base else None

    def changes(self, version: Version) -> PlaybookDiff:
        """What a version changes, and so what has to be decided."""
        return compare(_playbook(self.before(version)), version.playbook)

    def decide(
        self, version: Version, bullet: str, choice: Choice, reviewer: str, content: str | None = None, note: str = ""
    ) -> None:
        """Record one decision; a later one on the same bullet takes its place, the earlier stays on record."""
        self._must_be_open(version)
        if bullet not in changed_bullets(self.changes(version)):
            raise CombeeError(f"{version.name} does not change {bullet}: there is nothing to decide about it.")
        text = (content or "").strip() if choice == "edit" else None
        if text == "":
            raise CombeeError(f"The edit of {bullet} is empty: write the bullet's text, or reject the change.")
        with self._database.write() as cursor:
            _record(cursor, version, [bullet], choice, text, reviewer, note)

    def accept_rest(self, version: Version, reviewer: str) -> int:
        """Accept every change that has no decision yet, and return how many; decided ones stay as they are."""
        self._must_be_open(version)
        changes = changed_bullets(self.changes(version))
        with self._database.write() as cursor:
            rows = cursor.execute(
                "select distinct bullet from decisions where prompt = ? and version = ?",
                [version.prompt, version.version],
            ).fetchall()
            decided = {row[0] for row in rows}
            rest = [bullet for bullet in changes if bullet not in decided]
            _record(cursor, version, rest, "accept", None, reviewer, "")
        return len(rest)

    def decisions(self, version: Version) -> dict[str, Decision]:
        """The decision in force for each bullet."""
        rows = self._database.rows(
            'select bullet, decision as choice, content, reviewer, note, decided_at as "at" from decisions '
            "where prompt = ? and version = ? order by decided_at, rowid",
            [version.prompt, version.version],
        )
        return {row["bullet"]: Decision(**row) for row in rows}

    def approve(self, version: Version, by: str, note: str) -> Version:
        """Approve a version, and return what is approved.

        Where changes were rejected or edited, that is a new version made of this one: no version is ever overwritten.
        Raises CombeeError without a name, for a version that is approved already, and where every change is rejected.
        """
        if not by.strip():
            raise CombeeError("An approval needs the name of who approves: fill it in.")
        offered = self.proposals(version)
        with self._database.write() as cursor:
            self._must_be_open(version)
            number = self._chosen_version(cursor, version, offered)
            self._versions.approve(cursor, version.prompt, number, " ".join(by.split()), note.strip())
        return self._versions.get(version.prompt, number)

    def proposals(self, version: Version) -> list[Proposal]:
        """What is offered beyond the changes; an approved version has none."""
        if version.status == "approved":
            return []
        found = self._collected.get(version.name)
        if found is None:
            found = self._collected[version.name] = proposals(self._database, version)
            # Two readers at once may both come here: at worst one of them makes room twice.
            for name in list(self._collected)[:-MOST_COLLECTED]:
                self._collected.pop(name, None)
        return found

    def answer(
        self, version: Version, proposal: str, choice: str, reviewer: str, content: str | None = None, note: str = ""
    ) -> None:
        """Record the answer to one proposal; a later one takes its place, the earlier stays on record."""
        self._must_be_open(version)
        found = next((each for each in self.proposals(version) if each.id == proposal), None)
        if found is None:
            lists = f"`combee proposals {version.name}` lists them"
            raise CombeeError(f"{version.name} has no proposal {proposal}: {lists}.")
        if choice not in found.choices:
            raise CombeeError(f"{choice!r} is no answer to {proposal}: choose one of {', '.join(found.choices)}.")
        text = (content or "").strip() if choice == "edit" else None
        if text == "":
            raise CombeeError(f"The text for {proposal} is empty: write one, or reject the proposal.")
        with self._database.write() as cursor:
            cursor.execute(
                "insert into answers (prompt, version, proposal, answer, content, reviewer, note) "
                "values (?, ?, ?, ?, ?, ?, ?)",
                [version.prompt, version.version, proposal, choice, text, reviewer, note],
            )

    def answers(self, version: Version) -> dict[str, Answer]:
        """The answer in force for each proposal that has one."""
        rows = self._database.rows(
            'select proposal, answer as choice, content, reviewer, note, answered_at as "at" from answers '
            "where prompt = ? and version = ? order by answered_at, rowid",
            [version.prompt, version.version],
        )
        return {row["proposal"]: Answer(**row) for row in rows}

    def behind(self, offered: Sequence[Proposal]) -> dict[str, list[list[Evidence]]]:
        """For each proposal, the lessons and traces behind each of its sides."""
        sides = {f"{each.id} {number}": side for each in offered for number, side in enumerate(each.sides)}
        found = evidence(self._database, {name: [*map(dict, side.sources)] for name, side in sides.items()})
        return {each.id: [found[f"{each.id} {number}"] for number in range(len(each.sides))] for each in offered}

    def evidence(self, version: Version, bullets: Collection[str]) -> dict[str, list[Evidence]]:
        """The lessons and traces that bullets of a version come from."""
        return evidence(self._database, {bullet: version.sources.get(bullet, []) for bullet in bullets})

    def removals(self, version: Version, bullets: Collection[str]) -> dict[str, Removal]:
        """How bullets were removed by the run that made a version, and for which lessons."""
        return removals(self._database, version, bullets)

    def _must_be_open(self, version: Version) -> None:
        stored = self._versions.get(version.prompt, version.version)
        if stored.status == "approved":
            raise CombeeError(
                f"{version.name} was approved already, by {stored.approved_by}: it cannot change any more."
            )

    def _chosen_version(self, cursor: duckdb.DuckDBPyConnection, version: Version, offered: Sequence[Proposal]) -> int:
        """Number of the version that holds what was decided: the reviewed one itself, or a new one made of it."""
        base, decisions = self.before(version), self.decisions(version)
        playbook = reviewed(_playbook(base), version.playbook, decisions)
        state = State(playbook, _chosen_sources(playbook, version, base, decisions), version.next_number)
        chosen, sources, next_number = answered(state, offered, self.answers(version))
        if chosen == version.playbook and sources == state.sources:
            return version.version
        if _texts(chosen) == _texts(_playbook(base)):
            stays = f"{base.name} stays as it is" if base else "the prompt would be empty"
            raise CombeeError(f"Every change of {version.name} is rejected, so there is nothing to approve: {stays}.")
        return self._versions.add(cursor, version.prompt, version.version, chosen, sources, next_number, version.run)


def _playbook(version: Version | None) -> Playbook:
    return version.playbook if version else Playbook()


def _texts(playbook: Playbook) -> set[tuple[str, str]]:
    return {(bullet.section, bullet.content) for bullet in playbook.bullets}


def _chosen_sources(
    chosen: Playbook, version: Version, base: Version | None, decisions: Mapping[str, Decision]
) -> Sources:
    """Sources of each bullet of what was chosen; one that came back has those of its old text."""
    sources: Sources = {}
    for bullet in chosen.bullets:
        decision = decisions.get(bullet.id)
        came_back = version.playbook.get(bullet.id) is None or (decision is not None and decision.choice == "reject")
        origin = (base.sources if base else {}) if came_back else version.sources
        if bullet.id in origin:
            sources[bullet.id] = origin[bullet.id]
    return sources


def _record(
    cursor: duckdb.DuckDBPyConnection,
    version: Version,
    bullets: Sequence[str],
    choice: Choice,
    content: str | None,
    reviewer: str,
    note: str,
) -> None:
    cursor.execute(
        "insert into decisions (prompt, version, bullet, decision, content, reviewer, note) "
        "select ?, ?, unnest(?::varchar[]), ?, ?, ?, ?",
        [version.prompt, version.version, list(bullets), choice, content, reviewer, note],
    )
