"""The offline rules engine through its two doors, reflect and merge, and over whole runs on the sample traces."""

import asyncio
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from combee_core.engine.settings import RunSettings
from combee_core.learners.rules import RulesLearner
from combee_core.lesson import Item
from combee_core.llm.base import Meter
from combee_core.playbook import Playbook, apply
from combee_core.workspace import Workspace
from tests.learners.making import SAMPLES, calls, items, lessons, merge, playbook, reflect, sample_traces, says, trace

CENTS = "issue_refund expects amount_cents in cents, so 15.50 dollars are 1550."
ISO = "Write the date for schedule_pickup as YYYY-MM-DD."


def test_feedback_becomes_a_lesson_that_keeps_names_and_numbers_and_leaves_the_story_out():
    run = trace(
        feedback="The customer waited all evening. eta from track_parcel is UTC; convert it to the ship_to time zone."
    )
    (lesson,) = reflect(run).lessons
    assert lesson.text == "eta from track_parcel is UTC; convert it to the ship_to time zone."
    assert lesson.evidence == run.feedback
    assert lesson.section == "FORMATS AND UNITS"


@pytest.mark.parametrize(
    "praise", ["Good job!", "Task solved.", "ok", "Correct.", "3 passed in 0.21s", "Thanks, right."]
)
def test_praise_teaches_nothing_and_the_reflection_says_so(praise):
    reflection = reflect(trace(success=True, feedback=praise))
    assert reflection.lessons == ()
    assert "nothing to learn" in reflection.reasoning


def test_a_mere_verdict_on_a_failure_teaches_nothing():
    assert lessons(trace(feedback="Final database state differs from the expected one.")) == []


def test_a_question_without_an_answer_has_no_mistake_to_learn_from():
    assert lessons(trace(success=None, reference="15.0")) == []


def test_a_success_teaches_what_its_feedback_says_has_worked():
    run = trace(success=True, feedback="Good: the total was read from the caption, in millions, and multiplied.")
    assert lessons(run) == ["What worked: The total was read from the caption, in millions, and multiplied."]


def test_a_complaint_without_a_rule_is_kept_with_the_task_it_was_about():
    assert lessons(trace(task="Refund order 1002.", feedback="claimed a second refund")) == [
        "When asked “Refund order 1002.”: claimed a second refund"
    ]


def test_a_correction_by_the_user_names_the_tool_it_was_about():
    run = trace(
        says("user", "Collect it on 04/12"),
        *calls("schedule_pickup", {"date": "04/12"}, "ok"),
        says("assistant", "Booked for 4 December."),
        says("user", "No, April. The month should always come first."),
        success=None,
    )
    assert lessons(run) == ["When calling `schedule_pickup`: The month should always come first."]


def test_an_error_that_a_changed_call_mended_becomes_a_rule():
    run = trace(
        *calls("find_orders", {"customer_id": 7}, '{"error": "unknown parameter \'customer_id\'"}'),
        *calls("find_orders", {"cust_ref": 7}, '{"orders": []}'),
        success=True,
    )
    assert lessons(run) == [
        "When `find_orders` answers “unknown parameter 'customer_id'”: pass `cust_ref`, not `customer_id`."
    ]


def test_feedback_that_speaks_of_a_tool_stands_for_its_mended_error():
    run = trace(
        *calls("find_orders", {"customer_id": 7}, "Error: unknown parameter"),
        *calls("find_orders", {"cust_ref": 7}, "[]"),
        feedback="find_orders takes cust_ref, there is no customer_id.",
    )
    assert lessons(run) == ["find_orders takes cust_ref, there is no customer_id."]


def test_a_missed_answer_is_told_by_how_it_relates_to_the_right_one():
    (text,) = lessons(trace(says("user", "Cash?"), says("assistant", "5120"), task="Cash?", reference="5120000"))
    assert text.startswith("When asked “Cash?”: the right answer was 1,000 times as large (5120000, not 5120)")


def test_rules_with_feedback_of_their_own_need_no_comparison_with_the_answer():
    run = trace(says("assistant", "5120"), reference="5120000", feedback="The table is in thousands of dollars.")
    assert lessons(run) == ["The table is in thousands of dollars."]


def test_merging_groups_what_says_the_same_and_puts_the_most_supported_first():
    found = items(ISO, CENTS, "Multiply dollars by 100: amount_cents of issue_refund is in cents.")
    operations = merge(found)
    assert [operation.sources for operation in operations] == [("r2-1", "r3-1"), ("r1-1",)]
    assert all(operation.kind == "ADD" and operation.section == "RULES" for operation in operations)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The total is on page 3 of the form.", "The total is on page 4 of the form."),
        ("Goods can be returned within 14 days of delivery.", "Goods can be returned within 30 days of delivery."),
        (
            "Pin every package in requirements.txt to an exact version with ==.",
            "Do not pin packages to exact versions with == in requirements.txt.",
        ),
        ('Refund opened goods with to="store_credit".', 'Refund opened goods with to="card".'),
        ("Spend per supplier is the net amount.", "Spend per supplier is the gross amount."),
        ("The field `due_date` is required.", "The field `cust_ref` is required."),
    ],
)
def test_lessons_that_differ_in_a_fact_or_contradict_stay_apart(one, other):
    assert [operation.content for operation in merge(items(one, other))] == [one, other]


def test_the_clearest_member_speaks_for_its_group():
    found = items(
        "When asked “Refund 15.50”: issue_refund was called with dollars although amount_cents is in cents.",
        "issue_refund expects amount_cents in cents.",
        "On 3 May issue_refund got amount_cents of 15.5, which is 15 cents.",
    )
    (operation,) = merge(found)
    assert operation.content == "issue_refund expects amount_cents in cents."


def test_what_a_bullet_says_already_is_counted_for_it_and_leaves_it_as_it_is():
    known = playbook(CENTS)
    (operation,) = merge(items("amount_cents of issue_refund is in cents."), known)
    assert (operation.kind, operation.bullets, operation.content) == ("UPDATE", ("b-1",), CENTS)
    (refused,) = apply(known, [operation], 2).rejected
    assert refused.duplicate_of == "b-1"


def test_a_wording_that_names_more_improves_the_bullet():
    known = playbook("issue_refund expects cents.")
    (operation,) = merge(items(CENTS), known)
    assert (operation.kind, operation.bullets, operation.content) == ("UPDATE", ("b-1",), CENTS)


def test_updates_of_one_bullet_by_several_groups_become_one():
    known = playbook(CENTS)
    found = [
        Item(id="m1-1-1", text=CENTS, kind="UPDATE", bullets=("b-1",)),
        Item(id="m1-2-1", text=CENTS, kind="UPDATE", bullets=("b-1",)),
        Item(id="m1-2-2", text="amount_cents of issue_refund is in cents."),
    ]
    (operation,) = merge(found, known)
    assert sorted(operation.sources) == ["m1-1-1", "m1-2-1", "m1-2-2"]


def test_merges_and_deletions_of_bullets_are_passed_on():
    found = [Item(id=f"m1-{group}-1", text="", kind="DELETE", bullets=("b-1",)) for group in (1, 2)]
    (operation,) = merge(found, playbook(CENTS))
    assert (operation.kind, operation.bullets, operation.sources) == ("DELETE", ("b-1",), ("m1-1-1", "m1-2-1"))


def test_a_success_that_did_what_a_bullet_says_is_counted_as_helpful():
    run = trace(*calls("verify_identity", {}, "ok"), *calls("issue_refund", {"amount_cents": 5}, "ok"), success=True)
    known = playbook("First verify_identity, only then issue_refund.", "find_orders takes cust_ref, not customer_id.")
    assert reflect(run, known).tags == {"b-1": "helpful"}


def test_a_success_that_used_what_a_bullet_warns_of_is_no_proof_for_it():
    run = trace(*calls("find_orders", {"cust_ref": 1, "customer_id": 1}, "ok"), success=True)
    assert reflect(run, playbook("find_orders takes cust_ref, not customer_id.")).tags == {}


def test_a_failure_whose_feedback_repeats_a_bullet_is_neutral_and_one_that_says_the_opposite_harmful():
    known = playbook('Refund opened goods with to="store_credit".', CENTS)
    opposite = trace(feedback='Opened goods must be refunded with to="card".')
    assert reflect(opposite, known).tags == {"b-1": "harmful"}
    repeated = trace(feedback="amount_cents of issue_refund must be in cents.")
    assert reflect(repeated, known).tags == {"b-2": "neutral"}


words = st.sampled_from(
    """issue_refund amount_cents cents verify_identity before date YYYY-MM-DD schedule_pickup page 3 4 thousands net
    gross never always must use not cust_ref customer_id UTC local time rounds 14 days 30""".split()
)
texts = st.one_of(st.lists(words, min_size=1, max_size=9).map(" ".join), st.text(max_size=30))
merge_items = st.lists(texts, max_size=25).map(
    lambda found: [Item(id=f"r{place}-1", text=text, support=place % 3 + 1) for place, text in enumerate(found, 1)]
)
playbooks = st.lists(texts.filter(str.strip), max_size=4, unique=True).map(lambda found: playbook(*found))


@given(merge_items, playbooks)
def test_every_item_with_words_is_cited_once_and_no_text_is_invented(found, known):
    operations = merge(found, known)
    cited = [source for operation in operations for source in operation.sources]
    assert sorted(cited) == sorted(item.id for item in found if any(letter.isalnum() for letter in item.text))
    said = {item.text for item in found} | {bullet.content for bullet in known.bullets}
    assert all(operation.content in said for operation in operations)
    assert merge(found, known) == operations


@given(st.text(max_size=400), st.sampled_from([True, False, None]), st.text(max_size=20))
def test_any_feedback_gives_at_most_three_lessons_of_one_line_each(feedback, success, reference):
    run = trace(says("assistant", "12"), success=success, feedback=feedback, reference=reference)
    found = reflect(run).lessons
    assert len(found) <= 3
    assert all(lesson.text.strip() and "\n" not in lesson.text and lesson.section for lesson in found)


def test_the_meter_stays_at_zero():
    meter = Meter()
    asyncio.run(RulesLearner().reflect(trace(feedback=CENTS), Playbook(), meter))
    asyncio.run(RulesLearner().merge(items(CENTS), Playbook(), meter, True))
    assert meter == Meter()


EXPECTED = {
    "support_agent.jsonl": (
        r"verify_identity.*issue_refund",
        r"cust_ref",
        r"amount_cents",
        r"full variant SKU|check_stock for the variant",
        r"YYYY-MM-DD",
        r"UTC",
        r'to="store_credit"',
        r'to="card"',
        r"hide_price",
        r'service="ground"',
        r"GOODWILL",
    ),
    "invoice_questions.jsonl": (
        r"in thousands",
        r"in millions",
        r"DD/MM|DD\.MM",
        r"amount_due",
        r"credit note",
        r"parentheses are negative",
        r"page_index",
        r"percent",
        r"net\b",
        r"gross column",
        r"360",
        r"reverse charge",
        r"IBAN",
    ),
    "terminal_tasks.jsonl": (
        r"sed -i ''",
        r"set -o pipefail",
        r"absolute path|full path",
        r"retry-connrefused",
        r"tr -d",
        r"TZ=",
        r"header",
        r"Pin every|we pin",
        r"Do not pin",
        r"125",
        r"foreign_keys=ON",
        r"--strip-components=1",
    ),
}


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", EXPECTED)
def test_a_run_over_a_sample_file_gives_a_short_playbook_that_holds_every_planted_lesson(name, seed, tmp_path):
    with Workspace(tmp_path / "combee.duckdb") as place:
        place.import_paths([SAMPLES / name])
        summary = place.learn(RunSettings(prompt="samples", batch=40, seed=seed))
        learnt = place.version("samples@1").playbook
    assert summary["state"] == "done"
    assert (summary["calls"], summary["dropped_lessons"]) == (0, 0)
    contents = [bullet.content for bullet in learnt.bullets]
    assert 12 <= len(contents) <= 20
    assert all(len(content) <= 340 for content in contents)
    missing = [pattern for pattern in EXPECTED[name] if not any(re.search(pattern, content) for content in contents)]
    assert missing == []


@pytest.mark.parametrize("name", EXPECTED)
def test_learning_from_the_same_traces_again_adds_hardly_anything(name):
    found = [
        Item(id=f"r{place}-{number}", text=lesson.text, section=lesson.section)
        for place, run in enumerate(sample_traces(name), 1)
        for number, lesson in enumerate(reflect(run).lessons, 1)
    ]
    once = apply(Playbook(), merge(found), 1).playbook
    again = merge(found, once)
    cited = {source for operation in again if operation.kind == "UPDATE" for source in operation.sources}
    assert len(cited) >= 0.95 * len(found)


def test_two_policies_that_cannot_both_hold_are_reported_as_a_contradiction():
    some = items(
        "Send the refund of opened goods to the card.",
        "Ask for the order number first.",
        "Do not send the refund of opened goods to the card.",
    )
    answer = asyncio.run(RulesLearner().merge(some, Playbook(), Meter(), True))
    assert [found.sources for found in answer.contradictions] == [("r1-1", "r3-1")]
