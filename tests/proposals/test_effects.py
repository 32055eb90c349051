"""Answers put into a playbook, whatever they are and in whatever order they meet."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from combee_core.playbook import Bullet, Playbook
from combee_core.proposals import Answer, Proposal, Side, State, answered

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = [f"b-{number}" for number in range(6)]
KINDS = st.sampled_from(["contradiction", "held_back", "not_taken_up", "alike", "too_long"])


def entry(trace: str) -> dict[str, str]:
    return {"trace": trace, "lesson": "r1-1", "reflection": "i1.r1", "run": "run-1"}


def side(kind: str, bullet: str | None, text: str) -> Side:
    place = None if kind in ("held_back", "not_taken_up") else bullet if kind == "contradiction" else bullet or "b-0"
    return Side(text, "RULES", (entry(f"t-{text}"),), place)


@st.composite
def proposals(draw: st.DrawFn) -> list[Proposal]:
    found = []
    for number in range(draw(st.integers(0, 5))):
        kind = draw(KINDS)
        count = draw(st.integers(2, 3)) if kind in ("contradiction", "alike") else 1
        bullets = draw(st.lists(st.sampled_from([*NAMES, None]), min_size=count, max_size=count))
        texts = draw(st.lists(st.sampled_from("pqrs"), min_size=count, max_size=count))
        sides = tuple(side(kind, bullet, text) for bullet, text in zip(bullets, texts, strict=True))
        found.append(Proposal(f"p{number}", kind, sides))
    return found


@given(proposals(), st.data())
def test_only_what_an_answer_is_about_changes_and_every_bullet_keeps_a_source(
    offered: list[Proposal], data: st.DataObject
) -> None:
    bullets = tuple(Bullet(id=name, section="RULES", content=f"text of {name}") for name in NAMES)
    before = State(Playbook(bullets=bullets), {name: [entry(f"t-{name}")] for name in NAMES}, 100)
    answers = {}
    for proposal in offered:
        choice = data.draw(st.sampled_from([*proposal.choices, None]))
        if choice:
            content = "edited" if choice == "edit" else None
            answers[proposal.id] = Answer(proposal.id, choice, content, "Ana", "", NOW)
    after = answered(before, offered, answers)

    said_yes = [proposal for proposal in offered if proposal.id in answers and answers[proposal.id].choice != "reject"]
    touched = {each.bullet for proposal in said_yes for each in proposal.sides}
    assert all(after.playbook.get(name) == before.playbook.get(name) for name in NAMES if name not in touched)
    assert {bullet.id for bullet in after.playbook.bullets} == after.sources.keys()
    assert all(after.sources.values())
    assert after.next_number >= before.next_number
    if not said_yes:
        assert after == before
