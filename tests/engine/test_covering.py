"""What a merge has said of its items: a citation alone is not enough where an item names numbers or identifiers."""

from combee_core.engine import covering
from combee_core.engine.covering import mended, unsaid
from combee_core.lesson import Item
from combee_core.playbook import Merged, Operation
from combee_core.specificity import exact_terms

CENTS = Item(id="r1-1", text="refund_order wants cents")
ROWS = Item(id="r2-1", text="A page has at most 250 rows")
ASK = Item(id="r3-1", text="Ask before deleting anything")


def left(*operations: Operation) -> list[str]:
    return [item.id for item in unsaid([CENTS, ROWS, ASK], Merged(operations=operations, by_item=True))]


def add(content: str, *sources: str) -> Operation:
    return Operation(kind="ADD", content=content, sources=sources)


def test_what_nothing_cites_is_unsaid():
    assert left() == ["r1-1", "r2-1", "r3-1"]
    assert left(add("Pass cents to refund_order", "r1-1")) == ["r2-1", "r3-1"]


def test_a_general_bullet_that_cites_everything_says_nothing_of_items_that_name_something():
    assert left(add("Always check the documentation.", "r1-1", "r2-1", "r3-1")) == ["r1-1", "r2-1"]


def test_sources_that_are_given_outright_are_taken_at_their_word():
    general = add("Always check the documentation.", "r1-1", "r2-1")
    assert [item.id for item in unsaid([CENTS, ROWS, ASK], Merged(operations=(general,)))] == ["r3-1"]


def test_one_number_or_identifier_of_the_item_is_enough_in_any_writing():
    assert left(add("REFUND_ORDER takes cents", "r1-1"), add("Pages end at 250", "r2-1"), add("Ask", "r3-1")) == []
    thousands = Item(id="r4-1", text="Stop after 4730 rows")
    assert unsaid([thousands], Merged(operations=(add("Stop at 4,730", "r4-1"),), by_item=True)) == []


def test_an_item_that_proves_a_bullet_wrong_is_said_by_the_deletion():
    assert left(Operation(kind="DELETE", bullets=("b-1",), sources=("r1-1", "r2-1", "r3-1"))) == []


def test_each_bullet_and_each_item_is_searched_once(monkeypatch):
    searched = []

    def counted(text):
        searched.append(text)
        return exact_terms(text)

    monkeypatch.setattr(covering, "exact_terms", counted)
    items = [Item(id=f"r{number}-1", text=f"Row {number}") for number in range(50)]
    general = [add(f"All rows {number}", *(item.id for item in items)) for number in (900, 901)]
    assert len(unsaid(items, Merged(operations=tuple(general), by_item=True))) == 50
    assert len(searched) == 52


def test_words_without_a_lesson_go_when_the_second_answer_has_the_lesson():
    empty, both = add("It was a long day.", "r1-1"), add("Check the units.", "r1-1", "r2-1")
    said, uncited = add("Ask first", "r3-1"), add("Be kind")
    first = Merged(operations=(empty, both, said, uncited))
    cents, rows = add("refund_order wants cents", "r1-1"), add("At most 250 rows", "r2-1")
    assert mended(first, Merged(operations=(cents, rows)), [CENTS, ROWS]).operations == (said, uncited, cents, rows)
    assert mended(first, Merged(operations=(cents,)), [CENTS, ROWS]).operations == (both, said, uncited, cents)
    assert mended(first, Merged(), [CENTS, ROWS]).operations == first.operations
