from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from combee_core.errors import CombeeError
from combee_core.playbook import (
    Applied,
    Bullet,
    Operation,
    Playbook,
    PlaybookError,
    apply,
    first_free_number,
    parse,
    render,
    tag,
)

ids = st.from_regex(r"[^\s\[\]]{1,12}", fullmatch=True)
sections = st.one_of(
    st.sampled_from(["STRATEGIES & INSIGHTS", "OTHERS", "# odd", "##", "[x]", "Überblick"]),
    st.text(min_size=1, max_size=12).filter(str.strip),
)
contents = st.one_of(
    st.text(min_size=1, max_size=40).filter(str.strip),
    st.text(alphabet=list("\\nrd \n\r:#[]a"), min_size=1, max_size=14).filter(str.strip),
)
counts = st.integers(min_value=0, max_value=10**6)
bullets = st.builds(Bullet, id=ids, section=sections, content=contents, helpful=counts, harmful=counts)
playbooks = st.lists(bullets, max_size=8, unique_by=lambda bullet: bullet.id).map(
    lambda items: Playbook(bullets=tuple(items))
)


def bullet(bullet_id: str, content: str, section: str = "RULES", helpful: int = 0, harmful: int = 0) -> Bullet:
    return Bullet(id=bullet_id, section=section, content=content, helpful=helpful, harmful=harmful)


def playbook(*items: Bullet) -> Playbook:
    return Playbook(bullets=items)


THREE = playbook(
    bullet("rules-00001", "first", helpful=3, harmful=1),
    bullet("rules-00002", "second", helpful=2),
    bullet("tools-00003", "third", section="TOOLS", harmful=4),
)


class TestBulletsAndPlaybooks:
    @pytest.mark.parametrize("bullet_id", ["", "a b", "a]", "[a", "a\n", "a\x1cb"])
    def test_an_id_with_white_space_or_brackets_is_refused(self, bullet_id: str) -> None:
        with pytest.raises(ValidationError, match="bullet id"):
            bullet(bullet_id, "x")

    def test_the_white_space_of_a_section_is_collapsed(self) -> None:
        assert bullet("a", "x", section="  Code \n snippets\u2028& TEMPLATES ").section == "Code snippets & TEMPLATES"

    @pytest.mark.parametrize(("section", "content"), [(" \n", "x"), ("RULES", " \n\t")])
    def test_a_blank_section_or_content_is_refused(self, section: str, content: str) -> None:
        with pytest.raises(ValidationError):
            bullet("a", content, section=section)

    def test_bullets_are_grouped_by_section_in_order_of_first_appearance(self) -> None:
        mixed = playbook(bullet("1", "a", "B"), bullet("2", "b", "A"), bullet("3", "c", "B"), bullet("4", "d", "A"))
        assert [item.id for item in mixed.bullets] == ["1", "3", "2", "4"]
        assert mixed.sections == ("B", "A")
        assert len(mixed) == 4

    def test_two_bullets_with_one_id_are_refused_by_name(self) -> None:
        with pytest.raises(ValidationError, match="share the id dup"):
            playbook(bullet("dup", "a"), bullet("dup", "b"))

    def test_get_finds_a_bullet_by_id_and_says_none_otherwise(self) -> None:
        assert THREE.get("rules-00002") == THREE.bullets[1]
        assert THREE.get("rules-00009") is None


class TestText:
    @given(playbooks)
    @example(playbook(bullet("a", " \\n\n\r\\d:: [b] helpful=1 harmful=2 :: x \t")))
    @example(playbook(bullet("a", "\\", section="## x"), bullet("b", "\\\\n"), bullet("c", "\\d\\n", section="#")))
    @example(playbook(bullet("a", "\x85\x0b\u2028x\x1e", helpful=10**18 - 1)))
    @example(Playbook())
    def test_every_playbook_survives_its_text_form(self, before: Playbook) -> None:
        assert parse(render(before)) == before

    @given(contents)
    def test_any_content_of_a_foreign_file_is_read_and_survives_from_then_on(self, content: str) -> None:
        line = content.replace("\n", " ").replace("\r", " ")
        once = parse(f"[a-00001] helpful=0 harmful=0 :: {line}" if line.strip() else "")
        assert parse(render(once)) == once

    def test_the_text_form_is_the_one_of_ace(self) -> None:
        assert render(THREE) == (
            "## RULES\n"
            "[rules-00001] helpful=3 harmful=1 :: first\n"
            "[rules-00002] helpful=2 harmful=0 :: second\n"
            "\n"
            "## TOOLS\n"
            "[tools-00003] helpful=0 harmful=4 :: third\n"
        )

    def test_a_line_break_in_content_stays_on_one_line(self) -> None:
        assert "1 :: a\\nb\n" in render(playbook(bullet("x", "a\nb", harmful=1)))

    @pytest.mark.parametrize("content", [r"match \d+ first", r"\frac{\nu}{\rho}", "C:\\", r"\\server\share", r"\n"])
    def test_backslashes_that_are_no_escapes_are_literal_and_rendered_as_they_are(self, content: str) -> None:
        text = f"## OTHERS\n[a-00001] helpful=0 harmful=0 :: {content}\n"
        read = parse(text)
        assert read.bullets[0].content == content
        assert render(read) == text

    @pytest.mark.parametrize(
        "line",
        [
            "[a-1] helpful=1 harmful=2 :: text",
            "[a-1] helpful=1 harmful=2::text",
            "[a-1] helpful=1 harmful=2 ::text",
            "[a-1] helpful=1 harmful=2   :: text",
            "[a-1]helpful=1 harmful=2 :: text",
            "[a-1]  helpful=1\tharmful=2 :: text",
            "  - [a-1] helpful=1 harmful=2 :: text",
        ],
    )
    def test_spacing_variants_of_a_bullet_line_are_read_alike(self, line: str) -> None:
        assert parse(line) == playbook(bullet("a-1", "text", section="OTHERS", helpful=1, harmful=2))

    def test_a_real_file_with_windows_line_ends_empty_and_repeated_headings_is_read(self) -> None:
        text = (
            "\ufeff[m-00001] helpful=0 harmful=0 :: no heading yet\n\n# PLAYBOOK\n\n## EMPTY  \n   \n##TOOLS\n"
            "[t-00002] helpful=5 harmful=0 :: a :: b\n## RULES\n[r-00003] helpful=0 harmful=1 :: r\n"
            "## TOOLS\n[t-00004] helpful=0 harmful=0 :: c\n## OTHERS\n"
        ).replace("\n", "\r\n")
        assert parse(text) == playbook(
            bullet("m-00001", "no heading yet", "OTHERS"),
            bullet("t-00002", "a :: b", "TOOLS", helpful=5),
            bullet("t-00004", "c", "TOOLS"),
            bullet("r-00003", "r", "RULES", harmful=1),
        )

    def test_a_foreign_line_is_refused_with_its_number_and_what_is_expected(self) -> None:
        with pytest.raises(PlaybookError) as caught:
            parse("## RULES\n\nAlways be kind.\n")
        assert isinstance(caught.value, CombeeError)
        assert str(caught.value) == (
            "Line 3: expected a heading (## SECTION) or a bullet ([calc-00012] helpful=0 harmful=0 :: text), "
            "but found: Always be kind."
        )

    def test_a_repeated_id_is_refused_with_both_line_numbers(self) -> None:
        line = "[a-00001] helpful=0 harmful=0 :: x\n"
        with pytest.raises(PlaybookError, match="Line 3: the id a-00001 is already used in line 1"):
            parse(line + "\n" + line)

    @pytest.mark.parametrize("content", ["", " ", " \t "])
    def test_a_bullet_without_text_is_refused_with_its_line(self, content: str) -> None:
        with pytest.raises(PlaybookError, match="Line 2: bullet a-1 has no text"):
            parse(f"## RULES\n[a-1] helpful=0 harmful=0 :: {content}")

    def test_a_count_of_thousands_of_digits_is_refused_like_any_foreign_line(self) -> None:
        with pytest.raises(PlaybookError, match="Line 1: expected"):
            parse(f"[a-1] helpful={'9' * 5000} harmful=0 :: x")


def run(*operations: Operation, before: Playbook = THREE, next_number: int = 4) -> Applied:
    return apply(before, operations, next_number)


class TestAdd:
    def test_a_new_bullet_gets_the_slug_of_its_section_and_the_next_number(self) -> None:
        result = run(Operation(kind="ADD", section="STRATEGIES & INSIGHTS", content="x"), next_number=12)
        assert result.playbook.bullets[-1] == bullet("strategi-00012", "x", section="STRATEGIES & INSIGHTS")
        assert result.applied[0].bullet == "strategi-00012"
        assert result.applied[0].removed == ()
        assert result.next_number == 13

    @pytest.mark.parametrize(
        ("section", "expected"),
        [
            ("API_use, tips", "apiuse-00004"),
            ("Überblick", "berblick-00004"),
            ("日本 notes", "bullet-00004"),
            (" \n ", "others-00004"),
        ],
    )
    def test_the_slug_is_made_of_the_ascii_letters_of_the_first_word(self, section: str, expected: str) -> None:
        assert run(Operation(kind="ADD", section=section, content="x")).applied[0].bullet == expected

    def test_content_that_is_already_there_is_rejected_and_the_bullet_named(self) -> None:
        result = run(Operation(kind="ADD", section="TOOLS", content="second", sources=("r1-1",)))
        assert result.playbook == THREE
        assert result.next_number == 4
        assert result.rejected[0].duplicate_of == "rules-00002"
        assert result.rejected[0].reason == "Bullet rules-00002 already says exactly this."

    def test_the_second_of_two_equal_additions_is_rejected(self) -> None:
        result = run(Operation(kind="ADD", content="new"), Operation(kind="ADD", content="new"))
        assert [rejection.duplicate_of for rejection in result.rejected] == ["others-00004"]

    def test_the_number_of_a_deleted_bullet_is_not_used_again(self) -> None:
        first = run(Operation(kind="ADD", section="TOOLS", content="x"))
        second = run(Operation(kind="DELETE", bullets=("tools-00004",)), before=first.playbook, next_number=5)
        third = run(
            Operation(kind="ADD", section="TOOLS", content="y"), before=second.playbook, next_number=second.next_number
        )
        assert third.applied[0].bullet == "tools-00005"

    def test_a_counter_that_lags_behind_the_playbook_never_gives_an_id_twice(self) -> None:
        assert (
            run(Operation(kind="ADD", section="TOOLS", content="x"), next_number=1).applied[0].bullet == "tools-00004"
        )


class TestRewriteAndDelete:
    def test_update_rewrites_one_bullet_and_keeps_its_id_counts_and_section(self) -> None:
        result = run(Operation(kind="UPDATE", content="better", bullets=("rules-00001",)))
        assert result.playbook.bullets[0] == bullet("rules-00001", "better", helpful=3, harmful=1)
        assert result.applied[0].bullet == "rules-00001"

    def test_update_moves_a_bullet_when_it_names_a_section(self) -> None:
        result = run(Operation(kind="UPDATE", section=" TOOLS ", content="first", bullets=("rules-00001",)))
        assert result.playbook.get("rules-00001") == bullet("rules-00001", "first", "TOOLS", helpful=3, harmful=1)
        assert result.playbook.sections == ("TOOLS", "RULES")

    def test_merge_keeps_the_first_id_sums_the_counts_and_removes_the_others(self) -> None:
        result = run(Operation(kind="MERGE", content="all", bullets=("rules-00002", "tools-00003", "rules-00002")))
        assert result.playbook.get("rules-00002") == bullet("rules-00002", "all", helpful=2, harmful=4)
        assert result.applied[0].bullet == "rules-00002"
        assert result.applied[0].removed == ("tools-00003",)
        assert len(result.playbook) == 2

    def test_merge_may_keep_the_words_of_one_of_its_bullets(self) -> None:
        result = run(Operation(kind="MERGE", content="second", bullets=("rules-00001", "rules-00002")))
        assert result.playbook.get("rules-00001") == bullet("rules-00001", "second", helpful=5, harmful=1)

    def test_delete_removes_every_bullet_it_names(self) -> None:
        result = run(Operation(kind="DELETE", bullets=("rules-00001", "tools-00003")))
        assert [item.id for item in result.playbook.bullets] == ["rules-00002"]
        assert result.applied[0].bullet is None
        assert result.applied[0].removed == ("rules-00001", "tools-00003")

    @pytest.mark.parametrize(
        ("operation", "reason"),
        [
            (Operation(kind="ADD", content=" \n"), "ADD needs content but has none."),
            (Operation(kind="UPDATE", content="x"), "UPDATE needs exactly one bullet but names 0."),
            (
                Operation(kind="UPDATE", content="x", bullets=("rules-00001", "rules-00002")),
                "UPDATE needs exactly one bullet but names 2.",
            ),
            (Operation(kind="UPDATE", bullets=("rules-00001",)), "UPDATE needs content but has none."),
            (
                Operation(kind="UPDATE", content="first", bullets=("rules-00001",)),
                "Bullet rules-00001 already says exactly this.",
            ),
            (
                Operation(kind="UPDATE", content="third", bullets=("rules-00001",)),
                "Bullet tools-00003 already says exactly this.",
            ),
            (
                Operation(kind="MERGE", content="x", bullets=("rules-00001", "rules-00001")),
                "MERGE needs at least two different bullets but names 1.",
            ),
            (
                Operation(kind="MERGE", content="x", bullets=("rules-00001", "nope-1")),
                "There is no bullet nope-1 in the playbook.",
            ),
            (Operation(kind="DELETE"), "DELETE needs at least one bullet but names none."),
        ],
    )
    def test_an_operation_that_cannot_apply_is_reported_with_one_sentence(
        self, operation: Operation, reason: str
    ) -> None:
        result = run(operation)
        assert result.playbook == THREE
        assert result.applied == ()
        assert [(rejection.operation, rejection.reason) for rejection in result.rejected] == [(operation, reason)]

    def test_a_bullet_that_an_earlier_operation_removed_is_reported_as_such(self) -> None:
        result = run(
            Operation(kind="MERGE", content="both", bullets=("rules-00001", "rules-00002")),
            Operation(kind="UPDATE", content="late", bullets=("rules-00002",)),
            Operation(kind="UPDATE", content="later", bullets=("rules-00001",)),
        )
        assert [rejection.reason for rejection in result.rejected] == [
            "Bullet rules-00002 was removed by an earlier operation."
        ]
        assert result.playbook.bullets[0].content == "later"


@st.composite
def playbooks_and_operations(draw: st.DrawFn) -> tuple[Playbook, Sequence[Operation]]:
    before = draw(playbooks)
    known = [item.id for item in before.bullets] + ["others-00001", "missing"]
    texts = st.one_of(st.sampled_from([item.content for item in before.bullets] + ["", "same"]), contents)
    operation = st.builds(
        Operation,
        kind=st.sampled_from(["ADD", "UPDATE", "MERGE", "DELETE"]),
        section=st.one_of(st.just(""), sections),
        content=texts,
        bullets=st.lists(st.sampled_from(known), max_size=3).map(tuple),
    )
    return before, draw(st.lists(operation, max_size=8))


class TestApplyAsAWhole:
    @given(playbooks_and_operations())
    def test_every_operation_is_applied_or_rejected_and_ids_and_counts_add_up(
        self, case: tuple[Playbook, Sequence[Operation]]
    ) -> None:
        before, operations = case
        result = apply(before, operations, 1)
        reported = [(entry.index, entry.operation) for entry in (*result.applied, *result.rejected)]
        assert sorted(reported, key=lambda entry: entry[0]) == list(enumerate(operations))

        born = {entry.bullet for entry in result.applied if entry.operation.kind == "ADD"}
        gone = [bullet_id for entry in result.applied for bullet_id in entry.removed]
        old = {item.id for item in before.bullets}
        assert len(gone) == len(set(gone))
        assert not born & old
        assert {item.id for item in result.playbook.bullets} == (old | born) - set(gone)
        assert result.next_number == first_free_number(before) + len(born)
        assert parse(render(result.playbook)) == result.playbook

    @given(playbooks_and_operations())
    def test_no_operation_makes_a_second_bullet_with_the_same_content(
        self, case: tuple[Playbook, Sequence[Operation]]
    ) -> None:
        before, operations = case
        after = apply(before, operations, 1).playbook
        twice_before = len(before) - len({item.content for item in before.bullets})
        twice_after = len(after) - len({item.content for item in after.bullets})
        assert twice_after <= twice_before

    @given(playbooks_and_operations())
    def test_applying_one_by_one_gives_the_same_as_applying_together(
        self, case: tuple[Playbook, Sequence[Operation]]
    ) -> None:
        before, operations = case
        together = apply(before, operations, 1)
        step, number = before, 1
        for operation in operations:
            single = apply(step, [operation], number)
            step, number = single.playbook, single.next_number
        assert {item.id: item for item in step.bullets} == {item.id: item for item in together.playbook.bullets}


class TestNumbersAndTags:
    def test_the_first_free_number_is_one_more_than_the_largest_at_the_end_of_an_id(self) -> None:
        assert first_free_number(Playbook()) == 1
        assert first_free_number(playbook(bullet("a-00007", "x"), bullet("b-12", "y"), bullet("c99", "z"))) == 13
        assert first_free_number(playbook(bullet("a-" + "9" * 5000, "x"))) == 1

    def test_tags_of_all_reflections_are_counted_and_unknown_ids_ignored(self) -> None:
        tagged = tag(
            THREE,
            [
                {"rules-00001": "helpful", "rules-00002": "harmful", "gone-00009": "helpful"},
                {"rules-00001": "helpful", "tools-00003": "neutral"},
                {},
            ],
        )
        assert [(item.helpful, item.harmful) for item in tagged.bullets] == [(5, 1), (2, 1), (0, 4)]
        assert [item.content for item in tagged.bullets] == ["first", "second", "third"]
