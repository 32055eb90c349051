import pytest
from hypothesis import given
from hypothesis import strategies as st

from combee_core.specificity import Carried, specificity, terms

texts = st.lists(
    st.text(st.characters(codec="utf-8"), max_size=60)
    | st.sampled_from(["Pass amount_cents=1,200 to refund_order().", "Use --dry-run with $HOME/x.csv in UTC."]),
    max_size=6,
)


@pytest.mark.parametrize(
    ("text", "numbers", "identifiers", "entities"),
    [
        ("Pass amount_cents 1,200, not 12.50.", {"1200", "12.50"}, {"amount_cents"}, set()),
        ("Call `total` and refund_order() with --dry-run.", set(), {"total", "refund_order", "--dry-run"}, set()),
        ("Read config/app.yaml and /etc/hosts in $HOME.", set(), {"config/app.yaml", "/etc/hosts", "$home"}, set()),
        ("Dates are ISO-8601 in UTC, as Berlin wants.", set(), {"iso-8601"}, {"utc", "berlin"}),
        ("Always be careful. Check twice.", set(), set(), set()),
        ("field_3 has 30s at 10:45", {"30", "10:45"}, {"field_3"}, set()),
    ],
)
def test_terms_are_told_apart(text: str, numbers: set[str], identifiers: set[str], entities: set[str]) -> None:
    found = terms(text)
    assert (found.numbers, found.identifiers, found.entities) == (numbers, identifiers, entities)


def test_what_bullets_leave_out_is_counted_as_lost() -> None:
    lessons = ["Pass amount_cents in cents: 1,200.", "Dates are ISO-8601 in UTC; retry 3 times."]
    found = specificity(lessons, ["amount_cents takes cents, for example 1200.", "Retry when it fails, in utc."])
    assert found.numbers == Carried(2, 1)
    assert found.identifiers == Carried(2, 1)
    assert found.entities == Carried(1, 1)
    assert found.all.share == pytest.approx(3 / 5)
    assert found.per_bullet == pytest.approx(1.0)


def test_nothing_specific_has_no_share() -> None:
    found = specificity(["Be careful."], [])
    assert (found.all.share, found.per_bullet) == (None, None)


@given(texts)
def test_a_playbook_that_holds_every_lesson_word_for_word_keeps_every_term(lessons: list[str]) -> None:
    found = specificity(lessons, lessons)
    for kind in (found.numbers, found.identifiers, found.entities):
        assert kind.kept == kind.in_lessons


@given(texts, texts)
def test_no_more_is_kept_than_there_was_and_more_bullets_keep_no_less(lessons: list[str], bullets: list[str]) -> None:
    some, more = specificity(lessons, bullets[:1]).all, specificity(lessons, bullets).all
    assert some.in_lessons == more.in_lessons
    assert 0 <= some.kept <= more.kept <= more.in_lessons
