"""Likeness of wording: names weigh most, endings and synonyms do not matter, facts and contradictions set apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from combee_core.learners.offline.grouping import clearest, grouped, nearest
from combee_core.learners.offline.likeness import SAME, alike, contradict, likeness, wording


def score(one: str, other: str) -> float:
    return alike(wording(one), wording(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Verify the identity before a refund.", "First verify_identity, only then the refund."),
        ("page_index starts at zero.", "Counting starts at 0 for page_index."),
        ("Strip the carriage returns first.", "Lines end in CRLF: strip them."),
        ("In the table, thousands are meant: multiply by 1,000.", "The table is in thousands."),
    ],
)
def test_the_same_in_other_words_is_alike(one, other):
    assert score(one, other) >= SAME


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The answer must be a number.", "The answer must be a date."),
        ("issue_refund takes amount_cents.", "find_orders takes cust_ref."),
        ("Use sort -u.", "Use uniq -c."),
    ],
)
def test_everyday_words_in_common_make_no_likeness(one, other):
    assert score(one, other) == 0.0


def test_a_shared_name_counts_more_than_a_shared_word():
    name = likeness(wording("Give cust_ref to it."), wording("The number goes into cust_ref."))
    word = likeness(wording("Give numbers to it."), wording("The number goes into fields."))
    assert name > word


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Do not round the result.", "Round the result to cents."),
        ("Totals include VAT.", "Totals exclude VAT."),
        ('Use mode="fast".', 'Use mode="safe".'),
    ],
)
def test_contradictions_are_seen_whichever_comes_first(one, other):
    assert contradict(wording(one), wording(other))
    assert contradict(wording(other), wording(one))


def test_values_that_are_only_examples_do_not_contradict():
    assert not contradict(wording("Convert with TZ=Europe/Berlin."), wording("Convert with TZ=Asia/Tokyo."))
    assert score("25 dollars are 2500 cents.", "Dollars become cents: 11.95 dollars is 1195 cents.") >= SAME


def test_one_near_twin_does_not_pull_a_lesson_into_a_group_it_contradicts():
    found = [
        "Pin httpx to an exact version with == in requirements.txt.",
        "Pin packages to exact versions with == in requirements.txt.",
        "Do not pin packages to exact versions with == in requirements.txt.",
    ]
    assert grouped(found) == [[0, 1], [2]]


def test_equal_texts_are_one_group_and_groups_come_in_order_of_appearance():
    assert grouped(["use cust_ref", "write page_index", "use cust_ref"]) == [[0, 2], [1]]


def test_nearest_finds_the_likest_and_nothing_where_nothing_is_alike():
    others = ["page_index starts at 0.", "find_orders takes cust_ref."]
    assert nearest("Pass cust_ref to find_orders.", others) == 1
    assert nearest("Round to two decimals.", others) is None
    assert nearest("anything", []) is None


def test_support_decides_between_texts_that_are_equally_clear():
    found = ["Pass alpha_ref to find_orders.", "Pass beta_ref to find_orders."]
    assert clearest(found, [1, 9]) == 1
    assert clearest(found, [9, 1]) == 0


phrases = st.lists(
    st.sampled_from("use not cust_ref net gross page 3 4 sort -u VAT TZ=a never round the total".split()), max_size=8
).map(" ".join)


@given(phrases, phrases)
def test_likeness_is_symmetric_and_between_0_and_1(one, other):
    left, right = wording(one), wording(other)
    assert alike(left, right) == alike(right, left)
    assert 0.0 <= likeness(left, right) <= 1.0


@given(st.lists(phrases, max_size=15))
def test_groups_hold_every_text_once_and_none_that_contradict(found):
    groups = grouped(found)
    assert sorted(index for group in groups for index in group) == list(range(len(found)))
    for group in groups:
        distinct = [wording(text) for text in dict.fromkeys(found[index] for index in group)]
        pairs = [(one, other) for place, one in enumerate(distinct) for other in distinct[place + 1 :]]
        assert not any(contradict(one, other) for one, other in pairs)
