"""What a review offers beyond the changes of a version, and what the answers make of it, over whole scripted runs."""

from collections.abc import Callable, Sequence

import pytest

from combee_core.engine.report import run_summary
from combee_core.errors import CombeeError
from combee_core.lesson import Item, Lesson, Reflection
from combee_core.playbook import Bullet, Contradiction, Merged, Operation, Playbook
from combee_core.proposals import Proposal
from combee_core.review import Review
from combee_core.store.versions import Version, Versions
from tests.engine.bench import Bench
from tests.engine.scripted import Scripted, add_each

Making = Callable[[int], Bench]


def leave_out(*texts: str) -> Scripted:
    """A learner whose merges cite no item that holds one of the texts."""
    return Scripted(merge=lambda items: add_each([item for item in items if not any(t in item.text for t in texts)]))


def teaches(texts: Sequence[str], **more: object) -> Scripted:
    """A learner that draws the lesson `texts[n]` from trace number n."""
    return Scripted(
        reflect=lambda trace: Reflection(
            lessons=(Lesson(text=texts[int(trace.feedback.split()[0].split("_")[1])], section="RULES"),)
        ),
        **more,  # type: ignore[arg-type]
    )


def offered(place: Bench, version: Version) -> tuple[Review, list[Proposal]]:
    review = Review(place.database)
    return review, review.proposals(version)


def contents(version: Version) -> list[str]:
    return [bullet.content for bullet in version.playbook.bullets]


def test_a_lesson_that_ended_nowhere_is_offered_with_its_evidence_and_one_answer_adds_it(bench: Making) -> None:
    place = bench(9)
    run, version = place.learn(leave_out("field_3"), batch=9)
    assert run_summary(place.database, run)["dropped_lessons"] == 1
    review, (proposal,) = offered(place, version)
    assert (proposal.kind, proposal.sides[0].text) == ("not_taken_up", "field_3 must be 21 units")
    ((behind,),) = review.behind([proposal])[proposal.id]
    assert (behind.text, behind.node) == (proposal.sides[0].text, behind.reflection)

    review.answer(version, proposal.id, "accept", "Ana")
    approved = review.approve(version, "Ana", "")
    assert contents(approved) == [*contents(version), "field_3 must be 21 units"]
    (entry,) = approved.sources[approved.playbook.bullets[-1].id]
    assert (entry["trace"], entry["run"]) == (behind.trace, run)
    assert approved.parent == version.version
    assert contents(Versions(place.database).get("p", version.version)) == contents(version)
    assert approved.next_number == version.next_number + 1


def test_without_an_answer_nothing_is_added_and_no_version_is_made(bench: Making) -> None:
    place = bench(9)
    _, version = place.learn(leave_out("field_3"), batch=9)
    review, (proposal,) = offered(place, version)
    review.answer(version, proposal.id, "accept", "Ana")
    review.answer(version, proposal.id, "reject", "Ben")
    assert review.approve(version, "Ana", "").version == version.version


def test_an_edit_is_added_in_the_words_of_the_reviewer(bench: Making) -> None:
    place = bench(4)
    _, version = place.learn(leave_out("field_3"), batch=4)
    review, (proposal,) = offered(place, version)
    review.answer(version, proposal.id, "edit", "Ana", "  field_3 takes 21 units ")
    assert contents(review.approve(version, "Ana", ""))[-1] == "field_3 takes 21 units"


@pytest.mark.parametrize("retain", ["off", "carry"])
def test_other_ways_to_retain_offer_nothing(bench: Making, retain: str) -> None:
    place = bench(4)
    _, version = place.learn(leave_out("field_3"), batch=4, retain=retain)
    assert offered(place, version)[1] == []
    assert any("field_3" in text for text in contents(version)) == (retain == "carry")


def test_a_lesson_whose_twin_is_in_the_prompt_is_not_offered(bench: Making) -> None:
    texts = ["Pass the amount in cents.", "Ask for the order number first.", "pass the amount in cents", "Stay calm."]
    place = bench(4)
    learner = teaches(texts, merge=lambda items: add_each([item for item in items if item.text[0] not in "pS"]))
    _, version = place.learn(learner, batch=4)
    assert [proposal.sides[0].text for proposal in offered(place, version)[1]] == ["Stay calm."]


def test_lost_lessons_that_say_the_same_are_offered_once_with_all_their_traces(bench: Making) -> None:
    texts = ["Stay calm and ask again.", "stay calm, and ask again", "Send a receipt.", "Ask for the order."]
    place = bench(4)
    learner = teaches(texts, merge=lambda items: add_each([item for item in items if "order" in item.text]))
    _, version = place.learn(learner, batch=4)
    found = offered(place, version)[1]
    assert [len(proposal.sides[0].sources) for proposal in found] == [2, 1]
    assert found[0].sides[0].support == 2


def test_what_is_lost_in_one_iteration_and_learnt_in_a_later_one_is_not_offered(bench: Making) -> None:
    place, seen = bench(4), []

    def merge(items: Sequence[Item]) -> tuple[Operation, ...]:
        seen.append(items)
        return add_each([item for item in items if "calm" not in item.text or len(seen) > 1])

    _, version = place.learn(teaches(["Stay calm."] * 4, merge=merge), batch=2, recheck=False)
    assert contents(version) == ["Stay calm."]
    assert offered(place, version)[1] == []
    assert len(offered(place, Versions(place.database).get("p", 1))[1]) == 1


def test_a_bullet_that_is_held_back_says_so_and_can_be_added(bench: Making) -> None:
    place = bench(4)
    texts = ["Pass cents.", "Pass cents.", "Pass cents.", "Stay calm."]
    _, version = place.learn(teaches(texts), batch=4, min_support=2)
    assert contents(version) == ["Pass cents."]
    review, (proposal,) = offered(place, version)
    assert (proposal.kind, proposal.sides[0].text, proposal.sides[0].support) == ("held_back", "Stay calm.", 1)
    review.answer(version, proposal.id, "accept", "Ana")
    approved = review.approve(version, "Ana", "")
    assert contents(approved) == ["Pass cents.", "Stay calm."]
    assert approved.sources[approved.playbook.bullets[1].id][0]["node"] == "i1.final"


SIDES = ("Refund to the card.", "Refund as store credit.")


def disagree(keep: Sequence[str]) -> Callable[[Sequence[Item]], Merged]:
    """Merges that report the two sides, and cite items that hold one of `keep`."""

    def merge(items: Sequence[Item]) -> Merged:
        sides = [next((item.id for item in items if item.text == side), None) for side in SIDES]
        found = [Contradiction(sources=tuple(filter(None, sides)), about="where to")] if all(sides) else []
        kept = [item for item in items if any(text in item.text for text in keep)]
        return Merged(operations=add_each(kept), contradictions=tuple(found))

    return merge


@pytest.mark.parametrize(
    ("keep", "choice", "left"),
    [
        (("card", "credit"), "1", [SIDES[0]]),
        (("card", "credit"), "2", [SIDES[1]]),
        (("card", "credit"), "both", list(SIDES)),
        (("card",), "1", [SIDES[0]]),
        (("card",), "2", [SIDES[1]]),
        (("card",), "both", list(SIDES)),
    ],
)
def test_a_contradiction_shows_both_sides_and_the_answer_says_which_one_stays(
    bench: Making, keep: Sequence[str], choice: str, left: list[str]
) -> None:
    place = bench(4)
    texts = [SIDES[0], SIDES[1], SIDES[0], SIDES[1]]
    _, version = place.learn(teaches(texts, merge=disagree(keep)), batch=4, groups=1, recheck=False)
    review, (proposal,) = offered(place, version)
    assert proposal.kind == "contradiction"
    assert sorted(side.text for side in proposal.sides) == sorted(SIDES)
    assert all(review.behind([proposal])[proposal.id])
    first = str(1 + [side.text for side in proposal.sides].index(SIDES[0]))
    second = "2" if first == "1" else "1"
    review.answer(version, proposal.id, {"1": first, "2": second}.get(choice, choice), "Ana")
    assert sorted(contents(review.approve(version, "Ana", ""))) == sorted(left)


def test_one_contradiction_that_several_merges_report_is_offered_once(bench: Making) -> None:
    place = bench(9)
    texts = [SIDES[number % 2] for number in range(9)]
    _, version = place.learn(teaches(texts, merge=disagree(("card", "credit"))), batch=9)
    assert [proposal.kind for proposal in offered(place, version)[1]] == ["contradiction"]


def test_a_side_that_is_held_back_is_offered_in_its_contradiction_alone(bench: Making) -> None:
    place = bench(4)
    texts = [*SIDES, "Ask for the order.", "Ask for the order."]
    learner = teaches(texts, merge=disagree(("card", "credit", "order")))
    _, version = place.learn(learner, batch=4, groups=1, min_support=2)
    assert contents(version) == ["Ask for the order."]
    review, (proposal,) = offered(place, version)
    review.answer(version, proposal.id, "both", "Ana")
    assert sorted(contents(review.approve(version, "Ana", ""))) == ["Ask for the order.", *sorted(SIDES)]


def test_two_sides_in_one_bullet_can_be_parted(bench: Making) -> None:
    def merge(items: Sequence[Item]) -> Merged:
        sources = tuple(item.id for item in items)
        both = Operation(kind="ADD", section="RULES", content="To the card or as credit.", sources=sources)
        return Merged(operations=(both,), contradictions=(Contradiction(sources=sources[:2], about="where to"),))

    place = bench(2)
    _, version = place.learn(teaches(SIDES, merge=merge), batch=2, groups=1, copies=1)
    review, (proposal,) = offered(place, version)
    assert sorted(side.text for side in proposal.sides) == sorted(SIDES)
    review.answer(version, proposal.id, "1", "Ana")
    assert contents(review.approve(version, "Ana", "")) == [proposal.sides[0].text]


def shelved(place: Bench, *texts: str, traces: Sequence[int] = ()) -> Version:
    """A candidate with these bullets; `traces` gives how many traces stand behind each."""
    bullets = [Bullet(id=f"b-{number}", section="RULES", content=text) for number, text in enumerate(texts, 1)]
    entry = {"lesson": "r1-1", "reflection": "i1.r1", "node": "i1.final", "via": [], "run": "run-9"}
    sources = {
        bullet.id: [entry | {"trace": f"t-{bullet.id}-{number}"} for number in range(count)]
        for bullet, count in zip(bullets, traces, strict=False)
    }
    versions = Versions(place.database)
    with place.database.write() as cursor:
        number = versions.add(cursor, "p", None, Playbook(bullets=tuple(bullets)), sources, 9)
    return versions.get("p", number)


def test_near_twins_among_bullets_are_proposed_as_one_and_never_merged_by_themselves(bench: Making) -> None:
    place = bench(1)
    texts = ("Pass the amount in cents", "Stay calm.", "pass amount in cents.", "Pass 3 amounts in cents")
    version = shelved(place, *texts, traces=(1, 1, 2, 1))
    review, (proposal,) = offered(place, version)
    assert (proposal.kind, [side.bullet for side in proposal.sides]) == ("alike", ["b-3", "b-1"])
    assert contents(version) == list(texts)
    review.answer(version, proposal.id, "accept", "Ana")
    approved = review.approve(version, "Ana", "")
    assert contents(approved) == ["Stay calm.", "pass amount in cents.", "Pass 3 amounts in cents"]
    assert approved.support("b-3") == 3


def test_bullets_beyond_the_size_of_the_playbook_are_proposed_for_removal_least_supported_first(bench: Making) -> None:
    place = bench(4)
    texts = ["Pass the amounts in cents.", "Pass the amounts in cents.", "Ask for the order number.", "Stay very calm."]
    _, version = place.learn(teaches(texts), batch=4, playbook_tokens=11)
    review, found = offered(place, version)
    assert [(proposal.kind, proposal.sides[0].support) for proposal in found] == [("too_long", 1)]
    assert found[0].choices == ("accept", "reject")
    review.answer(version, found[0].id, "accept", "Ana")
    approved = review.approve(version, "Ana", "")
    assert set(contents(version)) - set(contents(approved)) == {found[0].sides[0].text}
    assert "Pass the amounts in cents." in contents(approved)


def test_the_size_of_a_playbook_goes_by_the_tokens_that_the_endpoint_has_counted(bench: Making) -> None:
    place = bench(4)
    texts = ["Pass the amounts in cents.", "Ask for the order number.", "Stay very calm.", "Send a receipt."]
    run, version = place.learn(teaches(texts), batch=4, playbook_tokens=22)
    assert offered(place, version)[1] == [], "22 tokens, at four characters each"
    with place.database.write() as cursor:
        cursor.execute("update runs set chars_a_token = 2.0 where id = ?", [run])
    found = offered(place, version)[1]
    assert {proposal.kind for proposal in found} == {"too_long"}
    left = set(texts) - {proposal.sides[0].text for proposal in found}
    assert 0 < sum(-(-len(text) // 2) for text in left) <= 22


def test_an_answer_about_a_bullet_that_was_rejected_changes_nothing(bench: Making) -> None:
    place = bench(1)
    version = shelved(place, "Pass the amount in cents", "pass amount in cents.", "Stay calm.")
    review, (proposal,) = offered(place, version)
    review.answer(version, proposal.id, "accept", "Ana")
    review.decide(version, "b-1", "reject", "Ana")
    assert contents(review.approve(version, "Ana", "")) == ["pass amount in cents.", "Stay calm."]


def test_what_cannot_be_answered_is_said_in_one_sentence(bench: Making) -> None:
    place = bench(1)
    version = shelved(place, "Pass the amount in cents", "pass amount in cents.")
    review, (proposal,) = offered(place, version)
    for arguments, message in (
        (("b-9", "accept"), "has no proposal b-9"),
        ((proposal.id, "both"), "choose one of accept, reject, edit"),
        ((proposal.id, "edit", "  "), "is empty"),
    ):
        with pytest.raises(CombeeError, match=message):
            review.answer(version, arguments[0], arguments[1], "Ana", *arguments[2:])
    approved = review.approve(version, "Ana", "")
    assert review.proposals(approved) == []
    with pytest.raises(CombeeError, match="approved already"):
        review.answer(version, proposal.id, "accept", "Ana")
