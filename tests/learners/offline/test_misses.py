"""How a wrong answer relates to the right one, told as advice; nothing where there is no plain relation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from combee_core.learners.offline.misses import what_was_missed


@pytest.mark.parametrize(
    ("answer", "reference", "advice"),
    [
        ("5120", "5,120,000", "1,000 times as large (5120000, not 5120)"),
        ("16305000", "16305", "1,000 times smaller"),
        ("0.15", "15.00", "100 times as large"),
        ("$1402.9", "1402900000", "1,000,000 times as large"),
        ("1100000", "-1100000", "the opposite sign"),
        ("5", "4", "one less (4, not 5)"),
        ("The answer is 2", "3", "one more"),
        ("12.51", "12.5", "not rounded as asked"),
        ("DE89 3704 0044", "DE8937040044", "exactly as “DE8937040044”"),
        ("2026-11-03", "2026-03-11", "order of the parts"),
        ("total_amount", "amount_due", "the answer is “amount_due”, not “total_amount”"),
        ("Assets, Cash", "Assets, Debt", "the answer is “Debt”, not “Cash”"),
        (
            "I would use MD5.",
            "Use a slow hash such as Argon2id, never a fast one like MD5 or SHA-1 (see OWASP).",
            "the expected answer is “Use a slow hash",
        ),
    ],
)
def test_the_relation_is_told(answer, reference, advice):
    assert advice in what_was_missed(answer, reference)


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        ("17", "42"),
        ("42", "42.0"),
        ("", "42"),
        ("42", ""),
        ("done", '[{"name": "cancel", "kwargs": {}}]'),
        ("x" * 400, "y" * 400),
    ],
)
def test_nothing_is_told_where_there_is_no_plain_relation(answer, reference):
    assert what_was_missed(answer, reference) == ""


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_two_texts_give_one_line(answer, reference):
    assert "\n" not in what_was_missed(answer, reference)
