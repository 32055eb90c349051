"""Long text is folded to its beginning and its end; short text is left alone."""

from hypothesis import given
from hypothesis import strategies as st

from pages.folding import LONG_CHARACTERS, LONG_LINES, fold


def test_a_text_of_few_lines_and_characters_is_not_folded():
    assert fold("\n".join(["line"] * LONG_LINES)) is None


def test_many_lines_are_folded_to_the_first_and_the_last_ones():
    folded = fold("\n".join(f"line {number}" for number in range(400)))
    assert folded is not None
    assert folded.head.splitlines() == [f"line {number}" for number in range(10)]
    assert folded.tail.splitlines() == [f"line {number}" for number in range(396, 400)]
    assert folded.size == "400 lines"


def test_one_endless_line_is_cut_on_both_sides_and_says_so():
    folded = fold("a" * 9_000 + "z" * 9_000)
    assert folded is not None
    assert folded.head == "a" * 1_000 + "…"
    assert folded.tail == "…" + "z" * 400
    assert folded.size == "18,000 characters"


@given(st.text(alphabet=st.sampled_from("ab\n "), max_size=4 * LONG_CHARACTERS))
def test_what_is_shown_of_a_folded_text_is_its_beginning_and_its_end(text: str):
    folded = fold(text)
    if folded is None:
        assert len(text) <= LONG_CHARACTERS
        return
    assert text.startswith(folded.head.removesuffix("…"))
    assert text.endswith(folded.tail.removeprefix("…"))
    assert len(folded.head) + len(folded.tail) < len(text)
