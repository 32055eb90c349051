"""Twins: nearly the same words, the very same facts, and no "not" on one side only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from combee_core.alike import Twins, alike, grouped, phrase

TEXTS = st.lists(st.text("ab n12_", min_size=1, max_size=8), max_size=25)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Pass the amount in cents.", "pass amount in cents", True),
        ("In cents pass the amount", "Pass the amount in cents.", True),
        ("Always pass the amount of the refund in cents", "Never pass the amount of the refund in cents", False),
        ("Never pass the amount in cents", "never pass the amount in cents!", True),
        ("Retry the call at most 3 times after an error", "Retry the call at most 4 times after an error", False),
        ("Use page_index for the totals", "Use sheet_index for the totals", False),
    ],
)
def test_wording_may_differ_but_neither_a_fact_nor_a_not(one, other, same):
    assert alike(phrase(one), phrase(other)) is same
    assert alike(phrase(other), phrase(one)) is same


@given(TEXTS)
def test_every_text_is_in_one_group_whose_first_text_is_its_twin(texts):
    groups = grouped(texts)
    assert sorted(index for group in groups for index in group) == list(range(len(texts)))
    assert all(alike(phrase(texts[group[0]]), phrase(texts[index])) for group in groups for index in group)
    firsts = [group[0] for group in groups]
    assert firsts == sorted(firsts)


@given(TEXTS, st.text("ab n12_", max_size=8))
def test_a_twin_is_found_exactly_when_there_is_one(texts, text):
    seen = Twins()
    for each in texts:
        seen.add(each)
    found = seen.find(text)
    assert (found is not None) == any(alike(phrase(text), phrase(each)) for each in texts)
