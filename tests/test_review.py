"""The review: what is left of a new version's changes after each was accepted, rejected or edited."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from combee_core.diff import compare
from combee_core.errors import CombeeError
from combee_core.playbook import Bullet, Operation, Playbook, apply
from combee_core.review import Decision, Review, changed_bullets, reviewed
from combee_core.store.database import Database
from combee_core.store.runs import Runs
from combee_core.store.versions import Version, Versions

SECTIONS = ("RULES", "TOOLS", "FORMATS")
WORDS = st.text(alphabet="abcdef ", min_size=1, max_size=30).filter(str.strip)
BULLETS = st.builds(
    Bullet, id=st.from_regex(r"b-[0-9]{1,2}", fullmatch=True), section=st.sampled_from(SECTIONS), content=WORDS
)
PLAYBOOKS = st.lists(BULLETS, max_size=8, unique_by=lambda bullet: bullet.id).map(
    lambda bullets: Playbook(bullets=tuple(bullets))
)


def bullet(number: int, content: str, section: str = "RULES", helpful: int = 0) -> Bullet:
    return Bullet(id=f"b-{number}", section=section, content=content, helpful=helpful)


def playbook(*bullets: Bullet) -> Playbook:
    return Playbook(bullets=bullets)


def decision(bullet_id: str, choice: Any, content: str | None = None) -> Decision:
    return Decision(bullet_id, choice, content, "Ana", "", datetime(2026, 1, 1, tzinfo=UTC))


def decide_all(before: Playbook, after: Playbook, choice: str) -> dict[str, Decision]:
    return {name: decision(name, choice) for name in changed_bullets(compare(before, after))}


@st.composite
def learnt(draw: st.DrawFn) -> tuple[Playbook, Playbook]:
    """A playbook and what some operations make of it."""
    before = draw(PLAYBOOKS)
    ids = st.sampled_from([item.id for item in before.bullets] or ["none"])
    operation = st.builds(
        Operation,
        kind=st.sampled_from(["ADD", "UPDATE", "MERGE", "DELETE"]),
        section=st.sampled_from(["", *SECTIONS]),
        content=WORDS,
        bullets=st.lists(ids, max_size=3).map(tuple),
    )
    return before, apply(before, draw(st.lists(operation, max_size=6)), 100).playbook


@given(PLAYBOOKS, PLAYBOOKS, st.data())
def test_every_change_ends_as_it_was_decided_and_nothing_else_changes(
    before: Playbook, after: Playbook, data: st.DataObject
) -> None:
    diff = compare(before, after)
    choices = {name: data.draw(st.sampled_from(["accept", "reject", "edit", None])) for name in changed_bullets(diff)}
    decisions = {name: decision(name, choice, f"edited {name}") for name, choice in choices.items() if choice}

    expected = {(item.id, item.section, item.content) for item in diff.unchanged}
    for old, new in (
        [(None, b) for b in diff.added]
        + [(b, None) for b in diff.removed]
        + [(change.before, change.after) for change in diff.changed]
    ):
        name = (new or old).id  # type: ignore[union-attr]
        kept = {"reject": old, "edit": new or old}.get(choices[name] or "accept", new)
        if kept is not None:
            content = f"edited {name}" if choices[name] == "edit" else kept.content
            expected.add((kept.id, kept.section, content))

    result = reviewed(before, after, decisions)
    assert {(item.id, item.section, item.content) for item in result.bullets} == expected


@given(PLAYBOOKS, PLAYBOOKS)
def test_without_decisions_or_with_all_accepted_the_new_playbook_stands(before: Playbook, after: Playbook) -> None:
    assert reviewed(before, after, {}) == after
    assert reviewed(before, after, decide_all(before, after, "accept")) == after


@given(learnt())
def test_rejecting_all_that_a_run_changed_gives_back_the_old_text_in_the_old_order(
    pair: tuple[Playbook, Playbook],
) -> None:
    before, after = pair
    # A bullet that was deleted and added again in the same words has not changed: there is nothing to put back.
    assume(all(before.get(item.id) for item in compare(before, after).unchanged))
    result = reviewed(before, after, decide_all(before, after, "reject"))
    assert [(item.section, item.content) for item in result.bullets] == [
        (item.section, item.content) for item in before.bullets
    ]


def test_counts_of_a_bullet_whose_text_did_not_change_are_the_new_ones() -> None:
    before = playbook(bullet(1, "first", helpful=1), bullet(2, "second"))
    after = playbook(bullet(1, "first", helpful=5))
    result = reviewed(before, after, {"b-2": decision("b-2", "reject")})
    assert result == playbook(bullet(1, "first", helpful=5), bullet(2, "second"))


def test_a_removal_that_is_rejected_brings_the_bullet_back_to_its_place() -> None:
    before = playbook(bullet(1, "first"), bullet(2, "second"), bullet(3, "third"))
    after = playbook(bullet(1, "first"), bullet(3, "third"), bullet(4, "fourth"))
    result = reviewed(before, after, {"b-2": decision("b-2", "reject")})
    assert [item.content for item in result.bullets] == ["first", "second", "third", "fourth"]


def test_an_edited_removal_keeps_the_bullet_with_its_new_text() -> None:
    before, after = playbook(bullet(1, "first"), bullet(2, "second")), playbook(bullet(1, "first"))
    result = reviewed(before, after, {"b-2": decision("b-2", "edit", "second, but shorter")})
    assert [item.content for item in result.bullets] == ["first", "second, but shorter"]


def test_a_rejected_move_puts_the_bullet_back_into_its_section() -> None:
    before = playbook(bullet(1, "first"), bullet(2, "second"), bullet(3, "third", "TOOLS"))
    after = playbook(bullet(2, "second"), bullet(3, "third", "TOOLS"), bullet(1, "first", "TOOLS"))
    assert reviewed(before, after, {"b-1": decision("b-1", "reject")}) == before


class Desk:
    """A database with the prompt `p`: version 1 approved, version 2 the candidate of a run that started from it."""

    def __init__(self, path: Path) -> None:
        self.database = Database(path)
        self.versions, self.review = Versions(self.database), Review(self.database)
        old = playbook(bullet(1, "cents, not euros"), bullet(2, "ask twice"), bullet(3, "stay calm"))
        new = playbook(bullet(1, "cents, never euros"), bullet(3, "stay calm"), bullet(4, "dates are ISO 8601"))
        self.first = self.add(old, {"b-1": [source("t-1")], "b-2": [source("t-2")]})
        self.review.approve(self.first, "Ana", "")
        run = Runs(self.database).create("p", {}, ["t-3"], 1)
        self.candidate = self.add(
            new, {"b-1": [source("t-1"), source("t-3", run)], "b-4": [source("t-3", run)]}, parent=1, run=run
        )

    def add(self, content: Playbook, sources: Any, parent: int | None = None, run: str | None = None) -> Version:
        with self.database.write() as cursor:
            number = self.versions.add(cursor, "p", parent, content, sources, 5, run, 1 if run else None)
        return self.versions.get("p", number)

    def decide(self, bullet_id: str, choice: Any, content: str | None = None) -> None:
        self.review.decide(self.candidate, bullet_id, choice, "Ana", content)

    def count(self) -> int:
        return len(self.versions.of_prompt("p"))


def source(trace: str, run: str | None = None) -> dict[str, Any]:
    return {"trace": trace, "lesson": "r1-1", "reflection": "i1.r1", "node": "i1.final", "via": [], "run": run}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "combee.duckdb")
    yield made
    made.database.close()


def test_a_version_is_reviewed_against_the_one_its_run_started_from(desk: Desk) -> None:
    assert desk.review.before(desk.candidate) == desk.versions.get("p", 1)
    assert desk.review.before(desk.first) is None
    assert changed_bullets(desk.review.changes(desk.candidate)) == ["b-4", "b-2", "b-1"]


def test_approving_without_decisions_approves_the_version_as_it_is(desk: Desk) -> None:
    approved = desk.review.approve(desk.candidate, " Ana ", " looks good ")
    assert (approved.version, approved.status) == (2, "approved")
    assert (approved.approved_by, approved.note) == ("Ana", "looks good")
    assert approved.playbook == desk.candidate.playbook
    assert desk.count() == 2


def test_accepting_everything_makes_no_new_version(desk: Desk) -> None:
    assert desk.review.accept_rest(desk.candidate, "Ana") == 3
    assert desk.review.approve(desk.candidate, "Ana", "").version == 2


def test_rejections_and_edits_are_approved_as_a_new_version_and_the_candidate_stays(desk: Desk) -> None:
    desk.decide("b-1", "reject")
    desk.decide("b-2", "reject")
    desk.decide("b-4", "edit", "  dates are ISO 8601, in UTC\n")
    approved = desk.review.approve(desk.candidate, "Ana", "")
    assert (approved.version, approved.parent, approved.status, approved.run) == (3, 2, "approved", desk.candidate.run)
    assert [item.content for item in approved.playbook.bullets] == [
        "cents, not euros",
        "ask twice",
        "stay calm",
        "dates are ISO 8601, in UTC",
    ]
    untouched = desk.versions.get("p", 2)
    assert (untouched.status, untouched.playbook) == ("candidate", desk.candidate.playbook)


def test_a_bullet_that_comes_back_has_the_sources_of_its_old_text(desk: Desk) -> None:
    desk.decide("b-1", "reject")
    desk.decide("b-2", "reject")
    approved = desk.review.approve(desk.candidate, "Ana", "")
    traces = {name: [entry["trace"] for entry in entries] for name, entries in approved.sources.items()}
    assert traces == {"b-1": ["t-1"], "b-2": ["t-2"], "b-4": ["t-3"]}


def test_the_rest_is_accepted_without_overriding_a_decision(desk: Desk) -> None:
    desk.decide("b-4", "reject")
    assert desk.review.accept_rest(desk.candidate, "Ben") == 2
    decisions = desk.review.decisions(desk.candidate)
    assert {name: (made.choice, made.reviewer) for name, made in decisions.items()} == {
        "b-4": ("reject", "Ana"),
        "b-1": ("accept", "Ben"),
        "b-2": ("accept", "Ben"),
    }
    assert desk.review.accept_rest(desk.candidate, "Ben") == 0


def test_a_later_decision_takes_the_place_of_an_earlier_one_which_stays_on_record(desk: Desk) -> None:
    desk.decide("b-4", "edit", "another text")
    desk.decide("b-4", "accept")
    assert desk.review.decisions(desk.candidate)["b-4"].choice == "accept"
    assert desk.database.row("select count(*) as n from decisions") == {"n": 2}


def test_an_edit_without_text_is_refused(desk: Desk) -> None:
    with pytest.raises(CombeeError, match="edit of b-4 is empty"):
        desk.decide("b-4", "edit", "  \n")


@pytest.mark.parametrize("bullet_id", ["b-3", "b-99"])
def test_there_is_nothing_to_decide_about_what_did_not_change(desk: Desk, bullet_id: str) -> None:
    with pytest.raises(CombeeError, match=f"does not change {bullet_id}"):
        desk.decide(bullet_id, "reject")


def test_an_approved_version_can_neither_be_decided_nor_approved_again(desk: Desk) -> None:
    stale = desk.candidate
    desk.review.approve(stale, "Ana", "")
    for attempt in (
        lambda: desk.review.decide(stale, "b-4", "reject", "Ben"),
        lambda: desk.review.accept_rest(stale, "Ben"),
        lambda: desk.review.approve(stale, "Ben", ""),
    ):
        with pytest.raises(CombeeError, match="approved already, by Ana"):
            attempt()
    assert desk.versions.get("p", 2).approved_by == "Ana"


def test_an_approval_needs_a_name(desk: Desk) -> None:
    with pytest.raises(CombeeError, match="needs the name"):
        desk.review.approve(desk.candidate, "  ", "")


def test_where_every_change_is_rejected_there_is_nothing_to_approve(desk: Desk) -> None:
    for name in ("b-1", "b-2", "b-4"):
        desk.decide(name, "reject")
    with pytest.raises(CombeeError, match="p@1 stays as it is"):
        desk.review.approve(desk.candidate, "Ana", "")
    assert desk.count() == 2


def test_a_first_version_with_every_bullet_rejected_is_not_approved_empty(desk: Desk) -> None:
    first = desk.add(playbook(bullet(1, "only")), {})
    desk.review.decide(first, "b-1", "reject", "Ana")
    with pytest.raises(CombeeError, match="would be empty"):
        desk.review.approve(first, "Ana", "")


def test_an_approval_that_breaks_off_leaves_no_half_made_version(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.decide("b-4", "reject")

    def broken(*_: object) -> None:
        raise RuntimeError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Versions, "approve", broken)
        with pytest.raises(RuntimeError):
            desk.review.approve(desk.candidate, "Ana", "")
    assert desk.count() == 2
    assert desk.review.approve(desk.candidate, "Ana", "").version == 3
