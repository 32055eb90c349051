"""Which sentences of a feedback are kept: rules before stories, people's words before reports."""

import pytest

from combee_core.learners.offline.passages import directness, is_verdict, passages


def texts(feedback: str) -> list[str]:
    return [passage.text for passage in passages(feedback)]


@pytest.mark.parametrize(
    ("feedback", "kept"),
    [
        (
            "FAILED test_total - FileNotFoundError: total.txt. Write to the absolute path, /app/output/total.txt.",
            "Write to the absolute path, /app/output/total.txt.",
        ),
        ("Passed. Note for next time: use sed -i '' on a Mac.", "Use sed -i '' on a Mac."),
        (
            "Needless escalation. The number belongs in cust_ref, e.g. C-1, not in customer_id.",
            "The number belongs in cust_ref, e.g. C-1, not in customer_id.",
        ),
        (
            "The customer number goes into cust_ref; the tool said so and nobody listened.",
            "The customer number goes into cust_ref.",
        ),
        ("correctness (0.0): the total must be in EUR", "the total must be in EUR"),
        ("- **Dates**: write them as YYYY-MM-DD", "Dates: write them as YYYY-MM-DD"),
        ("Use this:\n```python\nmust_not_be_read()\n```\nAlways call close().", "Always call close()."),
    ],
)
def test_only_what_tells_an_agent_what_to_do_is_kept(feedback, kept):
    assert texts(feedback) == [kept]
    assert passages(feedback)[0].is_rule


def test_a_rule_that_points_back_keeps_the_sentence_it_points_to():
    assert texts("expected 42.0, got 41.9: the header line was counted as a row. Skip it with NR>1.") == [
        "The header line was counted as a row. Skip it with NR>1."
    ]


def test_points_of_a_list_on_different_things_are_lessons_of_their_own():
    feedback = "- verify_identity must come before issue_refund.\n- Also, amount_cents must be in cents."
    assert len(texts(feedback)) == 2


def test_a_wrapped_line_is_read_as_one_sentence():
    feedback = "Amounts in the issue_refund tool must always be given in\nwhole cents, never in dollars."
    assert texts(feedback) == [
        "Amounts in the issue_refund tool must always be given in whole cents, never in dollars."
    ]


def test_a_story_without_a_rule_is_kept_as_a_story():
    (passage,) = passages("test_content: failed\nAssertionError: expected 'Hello, world!'")
    assert passage.text == "AssertionError: expected 'Hello, world!'"
    assert not passage.is_rule


@pytest.mark.parametrize(
    "sentence",
    ["test_a: passed", "failure_reason: none", "The database is as expected.", "Yes.", "5 passed in 0.1s", "Findings:"],
)
def test_verdicts_reports_and_headings_teach_nothing(sentence):
    assert is_verdict(sentence)
    assert texts(sentence) == []


def test_a_passage_stays_short_enough_for_a_bullet():
    feedback = " ".join(f"Field number_{number} must be given as value_{number} in every call." for number in range(30))
    assert all(len(text) <= 280 for text in texts(feedback))
    assert len(texts(feedback)) > 1


def test_an_order_is_more_direct_than_a_statement_and_that_more_than_a_story():
    order, statement, story = "Use cust_ref.", "The field is cust_ref.", "The agent used customer_id and failed."
    assert directness(order) > directness(statement) > directness(story)
