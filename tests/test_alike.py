"""Twins: nearly the same words, the very same facts, and no "not" on one side only."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from combee_core.alike import Twins, alike, grouped, grouped_by_meaning, phrase

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


def test_by_meaning_the_nearest_first_text_counts_but_facts_and_a_not_may_not_differ() -> None:
    texts = ["Pass 3 items.", "Hand over 3 items.", "Hand over 5 items.", "Never pass 3 items.", "Hand items over."]
    near = [np.array([1.0, 0.0], dtype=np.float32)] * len(texts)
    assert grouped_by_meaning(texts, near) == [[0, 1, 4], [2], [3]]
    apart = [*near[:4], np.array([0.8, 0.6], dtype=np.float32)]
    assert grouped_by_meaning(texts, apart) == [[0, 1], [2], [3], [4]]
    assert grouped_by_meaning([], []) == []


@given(st.lists(st.tuples(st.text(max_size=20), st.floats(0, 6.3)), max_size=12))
def test_by_meaning_every_text_is_in_one_group_whose_first_it_is_near_to(drawn: list[tuple[str, float]]) -> None:
    vectors = [np.array([np.cos(angle), np.sin(angle)], dtype=np.float32) for _, angle in drawn]
    groups = grouped_by_meaning([text for text, _ in drawn], vectors)
    assert sorted(index for group in groups for index in group) == list(range(len(drawn)))
    for first, *others in groups:
        assert all(vectors[first] @ vectors[other] >= 0.89 for other in others)
