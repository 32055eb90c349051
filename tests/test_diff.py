import itertools
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from combee_core.diff import Change, Span, compare, word_diff
from combee_core.playbook import Bullet, Playbook

texts = st.one_of(
    st.text(max_size=30),
    st.lists(st.sampled_from(["read", "the", "file", " ", "  ", "\n", ".", ",", "é", "_"]), max_size=25).map("".join),
)


def bullet(bullet_id: str, content: str, section: str = "RULES", helpful: int = 0) -> Bullet:
    return Bullet(id=bullet_id, section=section, content=content, helpful=helpful)


def playbook(*items: Bullet) -> Playbook:
    return Playbook(bullets=items)


def short(before: str, after: str) -> list[tuple[str, str]]:
    return [(span.kind, span.text) for span in word_diff(before, after)]


def old_text(spans: tuple[Span, ...]) -> str:
    return "".join(span.text for span in spans if span.kind != "insert")


def new_text(spans: tuple[Span, ...]) -> str:
    return "".join(span.text for span in spans if span.kind != "delete")


def sentences(count: int, start: int = 0) -> list[str]:
    return [f"Call tool {n % 97} with argument {n} and check that reply {n * 7 % 1013} is no error. "
            for n in range(start, start + count)]  # fmt: skip


class TestCompare:
    def test_bullets_are_matched_by_id(self) -> None:
        kept, gone, old = bullet("a", "kept"), bullet("b", "this one goes"), bullet("c", "old words")
        new, fresh = bullet("c", "completely different"), bullet("d", "12345")
        result = compare(playbook(kept, gone, old), playbook(fresh, kept, new))
        assert result.unchanged == (kept,)
        assert result.removed == (gone,)
        assert result.added == (fresh,)
        assert result.changed == (Change(before=old, after=new),)
        assert result.changed[0].id == "c"

    def test_a_new_section_is_a_change_and_new_counts_alone_are_none(self) -> None:
        before = playbook(bullet("a", "x"), bullet("b", "y"))
        after = playbook(bullet("a", "x", helpful=4), bullet("b", "y", section="TOOLS"))
        result = compare(before, after)
        assert result.unchanged == (bullet("a", "x", helpful=4),)
        assert [change.after.section for change in result.changed] == ["TOOLS"]

    def test_a_rewritten_bullet_with_a_new_id_is_paired_with_the_one_it_resembles_most(self) -> None:
        near = bullet("a", "Read the file before you edit it.")
        nearer = bullet("b", "Read the whole file before you edit it.")
        new = bullet("z", "Read the whole file before you edit it!")
        result = compare(playbook(near, nearer), playbook(new))
        assert result.changed == (Change(before=nearer, after=new),)
        assert result.removed == (near,)
        assert result.changed[0].id == "z"

    def test_an_unlike_bullet_is_not_paired(self) -> None:
        result = compare(playbook(bullet("a", "Read the file first.")), playbook(bullet("z", "Never divide by zero.")))
        assert [len(part) for part in (result.removed, result.added, result.changed)] == [1, 1, 0]

    def test_a_bullet_that_kept_its_id_is_never_paired_with_another(self) -> None:
        result = compare(
            playbook(bullet("a", "Read the file.")),
            playbook(bullet("a", "Something else"), bullet("b", "Read the file.")),
        )
        assert [(change.before.id, change.after.id) for change in result.changed] == [("a", "a")]
        assert [item.id for item in result.added] == ["b"]

    def test_a_bullet_that_was_only_renumbered_is_unchanged(self) -> None:
        result = compare(playbook(bullet("a", "x")), playbook(bullet("z", "x")))
        assert result.unchanged == (bullet("z", "x"),)
        assert (result.removed, result.added, result.changed) == ((), (), ())

    @given(st.data())
    def test_every_bullet_of_both_sides_is_told_exactly_once(self, data: st.DataObject) -> None:
        words = st.sampled_from(["Read the file.", "Read the file!", "Read a file.", "Check the unit.", "x", "y"])
        items = st.builds(
            bullet, st.sampled_from("abcdefgh"), words, st.sampled_from(["RULES", "TOOLS"]), st.integers(0, 2)
        )
        sides = st.lists(items, max_size=6, unique_by=lambda item: item.id).map(lambda found: playbook(*found))
        before, after = data.draw(sides), data.draw(sides)
        result = compare(before, after)
        new = [*result.added, *(change.after for change in result.changed), *result.unchanged]
        assert sorted(new, key=lambda item: item.id) == sorted(after.bullets, key=lambda item: item.id)
        old = [item.id for item in result.removed] + [change.before.id for change in result.changed]
        assert len(old) == len(set(old))
        assert set(old) <= {item.id for item in before.bullets}
        assert len(old) + len(result.unchanged) == len(before)
        assert all(
            (change.before.content, change.before.section) != (change.after.content, change.after.section)
            for change in result.changed
        )


class TestWordDiff:
    @given(texts, texts)
    def test_both_texts_can_be_read_back_from_the_spans(self, before: str, after: str) -> None:
        spans = word_diff(before, after)
        assert old_text(spans) == before
        assert new_text(spans) == after
        assert all(span.text for span in spans)
        assert all(first.kind != second.kind for first, second in itertools.pairwise(spans))
        assert all((first.kind, second.kind) != ("insert", "delete") for first, second in itertools.pairwise(spans))

    @given(texts, texts)
    def test_no_white_space_stands_alone_between_two_changes(self, before: str, after: str) -> None:
        inner = word_diff(before, after)[1:-1]
        assert not [span for span in inner if span.kind == "equal" and span.text.isspace()]

    @given(texts)
    def test_equal_texts_are_one_equal_span(self, text: str) -> None:
        assert short(text, text) == ([("equal", text)] if text else [])

    def test_a_changed_word_stands_in_its_unchanged_sentence(self) -> None:
        assert short("Read the file, then edit.", "Read the page, then edit.") == [
            ("equal", "Read the "),
            ("delete", "file"),
            ("insert", "page"),
            ("equal", ", then edit."),
        ]

    def test_a_rewritten_phrase_is_one_change(self) -> None:
        assert short("Always open old files now", "Always read new pages now") == [
            ("equal", "Always "),
            ("delete", "open old files"),
            ("insert", "read new pages"),
            ("equal", " now"),
        ]

    def test_a_punctuation_mark_changes_on_its_own(self) -> None:
        assert short("Stop.", "Stop!") == [("equal", "Stop"), ("delete", "."), ("insert", "!")]

    def test_one_empty_text_is_all_insertion_or_all_deletion(self) -> None:
        assert short("", "new words") == [("insert", "new words")]
        assert short("old words", "") == [("delete", "old words")]


def seconds(before: str, after: str) -> float:
    start = perf_counter()
    spans = word_diff(before, after)
    took = perf_counter() - start
    assert old_text(spans) == before
    assert new_text(spans) == after
    return took


class TestLongTexts:
    def test_ninety_changes_in_five_hundred_bullets_are_told_in_a_tenth_of_a_second(self) -> None:
        contents = ["".join(sentences(3, start=3 * n)) for n in range(500)]
        edited = [text.replace("check", "make sure", 1) if n % 5 == 0 and n < 450 else text
                  for n, text in enumerate(contents)]  # fmt: skip
        before = playbook(*(bullet(f"b-{n:05d}", text) for n, text in enumerate(contents)))
        after = playbook(*(bullet(f"b-{n:05d}", text) for n, text in enumerate(edited)))

        def once() -> float:
            start = perf_counter()
            changed = compare(before, after).changed
            assert len(changed) == 90
            assert all(len(word_diff(change.before.content, change.after.content)) == 4 for change in changed)
            return perf_counter() - start

        assert min(once() for _ in range(5)) < 0.1

    def test_one_changed_word_in_twenty_thousand_is_found(self) -> None:
        parts = sentences(1300)
        edited = [*parts[:700], parts[700].replace("error", "failure"), *parts[701:]]
        assert [span for span in word_diff("".join(parts), "".join(edited)) if span.kind != "equal"] == [
            Span(kind="delete", text="error"),
            Span(kind="insert", text="failure"),
        ]

    def test_a_word_replaced_in_every_sentence_of_a_long_text_is_found_everywhere(self) -> None:
        before = "".join(sentences(300))
        spans = word_diff(before, before.replace("reply", "answer"))
        assert {span.text for span in spans if span.kind == "delete"} == {"reply"}
        assert sum(span.kind == "insert" for span in spans) == 300

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("".join(sentences(1300)), "".join(sentences(1300, start=5000))),
            ("".join(sentences(1300)), "".join(sentences(1300)).replace("reply", "answer")),
            ("a " * 20_000, "a b " * 10_000),
            ("\n" * 20_000, "\n" * 19_000 + "x"),
            ("word. " * 20_000, "word. other. " * 10_000),
        ],
        ids=["unrelated", "every sentence", "one word", "empty lines", "one sentence"],
    )
    def test_no_text_of_twenty_thousand_words_takes_longer_than_seconds(self, before: str, after: str) -> None:
        assert seconds(before, after) < 5

    def test_bullets_by_the_thousand_without_common_ids_are_compared_in_seconds(self) -> None:
        before = playbook(*(bullet(f"a-{n}", text * 3) for n, text in enumerate(sentences(2000))))
        after = playbook(*(bullet(f"b-{n}", text * 3) for n, text in enumerate(sentences(2000, start=1000))))
        start = perf_counter()
        result = compare(before, after)
        assert perf_counter() - start < 5
        assert len(result.unchanged) == 1000
