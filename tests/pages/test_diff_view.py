"""Rows of a diff in reading order, and their HTML: marked by more than colour, and never the text's own markup."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from combee_core.evidence import Evidence, Removal
from combee_core.playbook import Playbook
from pages.diff_view import diff_html, diff_rows, row_html, visible
from pages.evidence_view import MOST_SHOWN, evidence_html, page_link, removal_html
from tests.pages.shelved import NEW, OLD, bullet, playbook

EMPTY = Playbook()


def kinds(before: Playbook, after: Playbook) -> list[tuple[str, str]]:
    return [(row.kind, row.id) for row in diff_rows(before, after)]


def text_of(html: str) -> str:
    """What a reader sees of HTML."""
    return unescape(re.sub(r"<[^>]*>", "", html))


def test_rows_stand_by_section_in_the_new_order_with_removed_ones_last():
    assert kinds(OLD, NEW) == [
        ("changed", "b-1"),
        ("unchanged", "b-3"),
        ("added", "b-4"),
        ("removed", "b-2"),
        ("added", "b-5"),
    ]


def test_the_bullets_of_a_section_that_is_gone_come_at_the_end():
    before = playbook(bullet(1, "first", "GONE"), bullet(2, "second", "KEPT"))
    assert kinds(before, playbook(bullet(2, "second", "KEPT"))) == [("unchanged", "b-2"), ("removed", "b-1")]


def test_a_bullet_that_only_moved_says_where_from():
    (row,) = diff_rows(playbook(bullet(1, "same", "A <i>")), playbook(bullet(1, "same", "B")))
    assert row.kind == "moved"
    assert "↷ Moved" in row_html(row)
    assert "from A &lt;i&gt;" in row_html(row)


@pytest.mark.parametrize(
    ("before", "after", "badge"),
    [(EMPTY, NEW, "+ Added"), (NEW, EMPTY, "− Removed"), (OLD, NEW, "± Reworded"), (OLD, OLD, "Unchanged")],
)
def test_every_kind_of_change_has_a_word_and_a_sign(before: Playbook, after: Playbook, badge: str):
    assert badge in row_html(diff_rows(before, after)[0])


def test_counts_are_shown_where_there_are_some():
    (row,) = diff_rows(EMPTY, playbook(bullet(1, "x", helpful=3)))
    assert "helpful 3" in row_html(row)
    assert "harmful" not in row_html(row)


def test_line_ends_that_came_or_went_can_be_seen():
    html = diff_html("one", "one\ntwo")
    assert text_of(html) == "one↵\ntwo"
    assert "↵" not in diff_html("one\ntwo", "one\ntwo")


@pytest.mark.parametrize(
    ("hidden", "code"),
    [("\u202e", "U+202E"), ("\u200b", "U+200B"), ("\U000e0041", "U+E0041"), ("\r", "U+000D"), ("\x1b", "U+001B")],
)
def test_characters_that_hide_or_turn_text_are_shown_by_their_code(hidden: str, code: str):
    assert text_of(visible(f"a{hidden}b")) == f"a{code}b"


@pytest.mark.parametrize("text", ["می\u200cروم", "👩\u200d💻", "tab\there"])
def test_joiners_and_tabs_are_left_as_they_are(text: str):
    assert visible(text) == text


@given(st.text(alphabet="<>&\"'ab \n", max_size=30), st.text(alphabet="<>&\"'ab \n", max_size=30))
def test_a_diff_shows_both_texts_and_holds_no_markup_but_its_own(before: str, after: str):
    html = diff_html(before, after)
    assert set(re.findall(r"</?(\w+)", html)) <= {"ins", "del", "span"}
    shown = text_of(html).replace("↵", "")
    assert len(shown) >= max(len(before), len(after))
    assert text_of(re.sub(r"<del>.*?</del>", "", html, flags=re.DOTALL)).replace("↵", "") == after
    assert text_of(re.sub(r"<ins>.*?</ins>", "", html, flags=re.DOTALL)).replace("↵", "") == before


def behind(number: int, trace: str, success: bool | None = None, task: str = "Refund", text: str = "Ask.") -> Evidence:
    place = {"run": "run-1", "iteration": 2, "reflection": f"i2.r{number}", "node": "i2.final"}
    return Evidence(
        lesson=f"r{number}-1",
        text=text,
        passage="",
        trace=trace,
        task=task,
        success=success,
        groups=("i2.m1.3",),
        **place,
    )


def test_evidence_counts_traces_once_with_their_failures():
    html = evidence_html([behind(1, "t-1", False), behind(1, "t-1", False), behind(2, "t-2", True)])
    assert "Seen in 2 traces, 1 failure, 1 success</summary>" in html


def test_traces_that_are_new_behind_a_known_bullet_are_counted():
    assert "Seen in 2 traces, 1 new</summary>" in evidence_html([behind(1, "t-1"), behind(2, "t-2")], {"t-1"})
    assert "Seen in 1 trace</summary>" in evidence_html([behind(1, "t-1")], {"t-1"})


def test_evidence_links_the_trace_and_the_way_through_the_merge_tree():
    html = evidence_html([behind(12, "t-1")])
    assert text_of(html).endswith("– unknownRefundreflection 12 → group 3 → final merge")
    assert 'href="merges?run=run-1&amp;iteration=2&amp;node=i2.m1.3"' in html


def test_evidence_whose_texts_are_lost_still_names_the_trace():
    html = text_of(evidence_html([behind(1, "t-1", task="", text="")]))
    assert "The lesson's text is not on record." in html
    assert "t-1" in html


def test_what_is_too_much_to_list_is_counted_and_linked():
    html = evidence_html([behind(number, f"t-{number}") for number in range(MOST_SHOWN + 4)])
    assert html.count("reflection") == MOST_SHOWN
    assert "4 further lessons in the merge tree" in text_of(html)


def test_a_removed_bullet_tells_what_became_of_it():
    merged = Removal("b-<1>", "run-1", 2, "i2.final", (behind(1, "t-1"),))
    assert "Merged into b-&lt;1&gt; for 1 lesson" in removal_html(merged)
    assert "Deleted" in removal_html(Removal(None, "run-1", 2, "i2.final", ()))
    assert removal_html(None) == ""


def test_names_in_links_are_escaped():
    link = page_link("traces", "<b>", trace='"><script>')
    assert link == '<a href="traces?trace=%22%3E%3Cscript%3E" target="_blank">&lt;b&gt;</a>'
