"""Folding items that say the same: facts keep lessons apart, nothing is lost."""

from hypothesis import given
from hypothesis import strategies as st

from combee_core.alike import alike, phrase
from combee_core.engine.twins import fold_twins
from combee_core.lesson import Item


def items(*texts: str) -> list[Item]:
    return [Item(id=f"m1-{number}-1", text=text) for number, text in enumerate(texts, 1)]


def folded(some: list[Item]) -> list[list[str]]:
    origins = {item.id: frozenset([f"r{number}-1"]) for number, item in enumerate(some, 1)}
    trace_of = {lesson: f"t-{lesson}" for lessons in origins.values() for lesson in lessons}
    result = fold_twins(some, origins, trace_of)
    assert all(item.support == 1 + len(result.twins.get(item.id, ())) for item in result.items)
    return [[item.id, *result.twins.get(item.id, ())] for item in result.items]


def test_the_same_words_in_another_order_or_case_fold():
    assert folded(items("Pass amount in cents.", "pass the amount in cents", "Verify identity first")) == [
        ["m1-1-1", "m1-2-1"],
        ["m1-3-1"],
    ]


def test_another_number_or_name_is_another_lesson():
    some = items(
        "Use page_index 3 for the totals", "Use page_index 4 for the totals", "Use sheet_index 3 for the totals"
    )
    assert len(folded(some)) == 3


def test_two_copies_of_one_lesson_fold_however_they_were_worded():
    some = items("Refunds want cents", "Amounts of a refund are given in cents, not in dollars")
    lessons = dict.fromkeys((item.id for item in some), frozenset(["r1-1"]))
    result = fold_twins(some, lessons, {"r1-1": "t-1"})
    assert len(result.items) == 1
    assert result.items[0].support == 1


def test_edits_of_bullets_never_fold():
    edit = Item(id="m1-1-1", text="Pass cents", kind="UPDATE", bullets=("a-1",))
    assert len(folded([edit, edit.model_copy(update={"id": "m1-2-1"})])) == 2


@given(st.lists(st.text("ab 12_", min_size=1, max_size=8), max_size=25))
def test_every_item_is_in_exactly_one_fold_and_the_order_stays(texts):
    some = items(*texts)
    groups = folded(some)
    assert sorted(name for group in groups for name in group) == sorted(item.id for item in some)
    first = [group[0] for group in groups]
    assert first == [item.id for item in some if item.id in first]


@given(
    st.lists(
        st.tuples(
            st.text("ab 12_", min_size=1, max_size=6), st.sampled_from(["ADD", "ADD", "UPDATE"]), st.integers(1, 4)
        ),
        max_size=20,
    )
)
def test_an_item_folds_into_the_first_that_says_the_same(rows):
    some = [Item(id=f"m1-{i}-1", text=text, kind=kind, bullets=("b",)) for i, (text, kind, _) in enumerate(rows, 1)]
    origins = {item.id: frozenset([f"r{row[2]}-1"]) for item, row in zip(some, rows, strict=True)}
    expected: dict[str, list[Item]] = {}
    firsts: list[Item] = []
    for item in some:
        said = phrase(item.text)
        for first in firsts:
            same_lesson = origins[first.id] == origins[item.id] and phrase(first.text).facts == said.facts
            if item.kind == first.kind == "ADD" and (same_lesson or alike(said, phrase(first.text))):
                expected[first.id].append(item)
                break
        else:
            firsts.append(item)
            expected[item.id] = []
    folded_in = fold_twins(some, origins, {lesson: lesson for lessons in origins.values() for lesson in lessons})
    assert [item.id for item in folded_in.items] == [first.id for first in firsts]
    assert folded_in.twins == {name: tuple(item.id for item in rest) for name, rest in expected.items() if rest}
