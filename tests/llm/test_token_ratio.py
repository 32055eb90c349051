"""Tokens are estimated from characters, with a ratio learnt from reported usage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from combee_core.llm.token_ratio import FEWEST_CHARS_A_TOKEN, MOST_CHARS_A_TOKEN, TokenRatio

REPORT = st.tuples(st.integers(-5, 50_000), st.integers(-5, 50_000))


def learnt(reports: list[tuple[int, int]]) -> TokenRatio:
    ratio = TokenRatio()
    for chars, tokens in reports:
        ratio.learn(chars, tokens)
    return ratio


def test_before_anything_is_reported_four_characters_are_a_token():
    assert TokenRatio().tokens("abcd" * 100) == 100
    assert TokenRatio().tokens("abcde") == 2, "rounded up: a budget is never passed by rounding"
    assert TokenRatio().tokens("") == 0


@pytest.mark.parametrize("chars_a_token", [1.0, 2.5, 4.7])
def test_reported_usage_is_learnt_within_a_few_calls(chars_a_token):
    ratio = learnt([(20_000, round(20_000 / chars_a_token))] * 5)
    assert ratio.tokens_of(100_000) == pytest.approx(100_000 / chars_a_token, rel=0.08)


@given(reports=st.lists(REPORT, max_size=20), data=st.data())
def test_the_order_of_reports_makes_no_difference(reports, data):
    shuffled = data.draw(st.permutations(reports))
    assert learnt(reports).tokens_of(123_457) == learnt(shuffled).tokens_of(123_457)


@given(reports=st.lists(REPORT, max_size=20), text=st.text(max_size=200), more=st.text(max_size=50))
def test_estimates_grow_with_the_text_and_stay_within_reason(reports, text, more):
    ratio = learnt(reports)
    assert ratio.tokens(text) <= ratio.tokens(text + more)
    assert len(text) / MOST_CHARS_A_TOKEN <= ratio.tokens(text) <= len(text) / FEWEST_CHARS_A_TOKEN + 1


@pytest.mark.parametrize("report", [(0, 10), (10, 0), (-1, -1), (10, 1_000_000), (1_000_000, 3)])
def test_an_absurd_report_teaches_nothing(report):
    assert learnt([report]).chars_a_token == TokenRatio().chars_a_token
