"""Counts, words and ends of the lessons of a merge tree."""

from collections.abc import Sequence

from combee_core.lesson import Item
from combee_core.playbook import Operation
from pages.merge_html import came_in_html, contradictions_html, legend_html, lessons_html, operations_html
from pages.merge_view import MergeView, fates_of, in_words, lesson_end, notes
from tests.pages.trees import grown, keep

HOSTILE = "<img src=x onerror=alert(1)> [a](http://example.invalid) ![b](http://example.invalid/b.png) <b>"


def mixed(until: str = "final") -> MergeView:
    """Sixteen lessons: eleven gold in the prompt, three silver lost at the final merge, two clay dropped by groups."""
    texts = {0: "clay", 1: "clay", 2: "silver", 3: "silver", 4: "silver"}
    return grown(
        16, keep("gold", groups=("gold", "silver")), lambda index: (f"{texts.get(index, 'gold')} {index}",), until=until
    )


def test_the_legend_counts_every_lesson_once() -> None:
    assert in_words(mixed(), live=False) == [
        ("in_prompt", "11 in the prompt through 11 bullets"),
        ("lost_above", "3 lost at the final merge"),
        ("dropped", "2 dropped by a group"),
    ]


def test_the_legend_of_a_tree_without_groups_names_the_final_merge() -> None:
    view = grown(3, keep("gold"), lambda index: ("gold" if index else "clay",))
    assert ("dropped", "1 dropped by the final merge") in in_words(view, live=False)


def test_before_the_final_merge_what_its_group_kept_waits_and_what_it_dropped_is_dropped() -> None:
    view = mixed(until="m1.4")
    assert in_words(view, live=True) == [("dropped", "2 dropped by a group"), ("waiting", "14 waiting to be merged")]
    assert in_words(view, live=False)[1] == ("waiting", "14 not merged")


def test_a_call_that_was_given_up_says_nothing_of_the_lessons() -> None:
    view = mixed(until="m1.4")
    rows = dict(view.nodes)
    rows["i1.final"] = rows["i1.final"] | {"state": "cancelled"}
    assert ("waiting", "14 not merged") in in_words(MergeView(rows), live=False)


def test_failed_reflections_are_counted_apart() -> None:
    assert in_words(grown(8, failed=(1, 2)), live=False)[-1] == ("failed", "2 reflections failed")


def late() -> MergeView:
    """Sixteen lessons of which that of reflection 5 came too late for all of its groups."""
    nodes = grown(16).nodes
    return MergeView(
        {name: row | {"inputs": [one for one in row["inputs"] if one != "i1.r5"]} for name, row in nodes.items()}
    )


def test_a_reflection_that_was_late_for_its_groups_has_joined_the_next_batch() -> None:
    view = late()
    (lesson,) = view.of_reflection["i1.r5"]
    assert lesson_end(view, lesson) == ["Too late for its groups: it joined the next batch"]
    assert ("late", "1 came late and joined the next batch") in in_words(view, live=False)
    assert not any(fate == "waiting" for fate, _ in in_words(view, live=True))
    assert view.search("", only_dropped=True) == []


def test_until_the_final_merge_is_there_a_late_reflection_waits() -> None:
    rows = dict(late().nodes)
    rows["i1.final"] = rows["i1.final"] | {"state": "waiting", "output": {}}
    assert MergeView(rows).of_reflection["i1.r5"][0].fate == "waiting"


def test_a_reflection_that_was_taken_over_says_from_where_and_why() -> None:
    row = grown(4).nodes["i1.r1"]
    for again, why in ((False, "late"), (True, "second chance")):
        output = row["output"] | {"adopted": "i3.r12", "second_chance": again}
        assert notes(row | {"output": output}) == [f"{why}: from reflection 12 of iteration 3"]


def test_each_copy_of_a_lesson_has_a_sentence_that_says_where_it_went() -> None:
    view = mixed()
    gold, silver, clay = (view.of_reflection[f"i1.r{number}"][0] for number in (9, 3, 1))
    assert all(sentence.endswith("passed it up, and it reached the prompt") for sentence in lesson_end(view, gold))
    assert all(
        sentence.endswith("passed it up, and it was lost at the final merge") for sentence in lesson_end(view, silver)
    )
    assert all(sentence.endswith("dropped it: no operation cites it") for sentence in lesson_end(view, clay))
    assert len(lesson_end(view, gold)) == len(view.readers("i1.r9")) == 2


def test_one_copy_may_be_dropped_while_the_other_reaches_the_prompt() -> None:
    def first_group_drops(items: Sequence[Item], final: bool) -> list[Operation]:
        kept = [item for item in items if final or items[0].id != item.id]
        return [Operation(kind="ADD", section="A", content=item.text, sources=(item.id,)) for item in kept]

    view = grown(16, first_group_drops)
    split = [lesson for lesson in view.lessons if set(lesson.by_group.values()) == {"dropped", "in_prompt"}]
    assert split
    assert all(lesson.fate == "in_prompt" for lesson in split)


def test_an_operation_of_a_group_ends_at_the_bullet_of_the_final_merge() -> None:
    view = mixed()
    ends = {
        operation["content"]: view.end(merge["id"], operation)
        for merge in view.merges[:-1]
        for operation in merge["output"]["operations"]
    }
    assert ends["gold 9"].fate == "in_prompt"
    assert ends["gold 9"].bullets == view.of_reflection["i1.r10"][0].bullets
    assert ends["silver 3"].fate == "lost_above"


def test_an_operation_knows_the_lessons_under_it_through_all_levels() -> None:
    view = grown(64, groups=16, fan_in=4)
    for operation in view.final["output"]["operations"]:
        lessons = view.lessons_under(operation)
        assert {lesson.text for lesson in lessons} == {operation["content"]}


def test_search_finds_every_word_in_any_case_and_can_leave_out_what_reached_the_prompt() -> None:
    view = mixed()
    assert {lesson.text for lesson in view.search("GOLD 9", only_dropped=False)} == {"gold 9"}
    assert {lesson.text for lesson in view.search("", only_dropped=True)} == {
        "clay 0",
        "clay 1",
        "silver 2",
        "silver 3",
        "silver 4",
    }


def test_what_a_search_has_found_is_told_copy_by_copy_whatever_became_of_other_lessons() -> None:
    view = grown(8, keep("gold"), lessons=lambda index: ("gold", "clay"))
    assert {copy.fate for copies in view.copies.values() for copy in copies} == {"in_prompt"}
    fates = fates_of(view, view.search("clay", only_dropped=False))
    assert set(fates.values()) == {"lost_above"}
    assert len(fates) == 16


def test_names_are_those_that_people_use() -> None:
    view = grown(64, groups=16, fan_in=4)
    names = [view.name(node) for node in ("i1.r12", "i1.m1.3", "i1.m2.2", "i1.final")]
    assert names == ["Reflection 12", "Group 3", "Merge 2 of level 2", "Final merge"]


def test_text_of_models_never_becomes_markup() -> None:
    view = grown(8, lessons=lambda index: (HOSTILE,))
    lists = [
        lessons_html(view, "i1.r1", "agent@1"),
        operations_html(view, "i1.final", "agent@1"),
        operations_html(view, "i1.m1.1", None),
        came_in_html(view, "i1.m1.1"),
    ]
    for html in lists:
        assert "&lt;img src=x onerror=alert(1)&gt;" in html
        assert "<img" not in html
        assert "<b>" not in html
        assert 'href="http' not in html


def test_the_inspector_lists_what_came_in_and_what_was_dropped() -> None:
    view = mixed()
    merge = next(merge["id"] for merge in view.merges if merge["output"]["dropped"])
    assert "clay" in came_in_html(view, merge, only_dropped=True)
    assert "gold" not in came_in_html(view, merge, only_dropped=True)
    assert came_in_html(view, merge).count('class="cb-item"') == len(view.came_in(merge))


def test_operations_that_were_not_applied_say_why() -> None:
    def bad(items: Sequence[Item], final: bool) -> list[Operation]:
        return [Operation(kind="DELETE", bullets=("none-00001",), sources=tuple(item.id for item in items))]

    view = grown(3, bad)
    assert "Not applied: " in operations_html(view, "i1.final", None)
    assert in_words(view, live=False) == [("dropped", "3 dropped by the final merge")]


def test_a_long_list_says_how_many_more_there_are() -> None:
    view = grown(300, groups=1)
    assert "… and 100 more" in came_in_html(view, "i1.final")


def test_the_legend_has_a_mark_a_fate() -> None:
    html = legend_html(mixed(), live=False)
    assert "16 lessons" in html
    assert html.count("box-sizing") == 3


def test_notes_say_what_did_not_go_straight_at_a_call() -> None:
    final = mixed().final
    assert notes(final) == []
    first, *others = final["output"]["operations"]
    output = final["output"] | {
        "operations": [first | {"recovered": True}, *(row | {"held": 1} for row in others[:2]), *others[2:]],
        "contradictions": [{"about": "", "sources": ["m1-1-1", "m1-2-1"], "bullets": []}],
        "rechecked": True,
    }
    assert notes(final | {"output": output, "failed_attempts": 3, "state": "carried"}) == [
        "passed on unmerged",
        "asked twice",
        "3 tries in vain",
        "1 citation recovered",
        "2 operations held back",
        "1 contradiction",
    ]


def test_contradictions_show_the_texts_of_both_sides_escaped() -> None:
    view = grown(4, lessons=lambda index: (f"{HOSTILE} {index}",))
    rows = dict(view.nodes)
    given = view.came_in("i1.final")
    found = [{"about": HOSTILE, "sources": [given[0].id, given[-1].id], "bullets": ["rules-00001"]}]
    rows["i1.final"] = rows["i1.final"] | {"output": rows["i1.final"]["output"] | {"contradictions": found}}
    html = contradictions_html(MergeView(rows), "i1.final")
    assert html.count("against") == 2
    assert "rules-00001" in html
    assert "<img" not in html


def test_lessons_that_are_held_back_are_told_apart_from_lost_ones() -> None:
    view = mixed()
    rows = dict(view.nodes)
    output = rows["i1.final"]["output"]
    held = [row | {"held": 1} for row in output["operations"]]
    rows["i1.final"] = rows["i1.final"] | {"output": output | {"operations": held}}
    changed = MergeView(rows)
    assert ("held", "11 held back for the review") in in_words(changed, live=False)
    assert "it waits for the review" in lesson_end(changed, changed.of_reflection["i1.r9"][0])[0]
    assert "Held back for the review" in operations_html(changed, "i1.final", None)
