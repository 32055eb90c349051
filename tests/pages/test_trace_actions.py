"""Filters by tag and score, and what is done with many traces at once: tagging, deletion with undo, learning."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from combee_core.store.traces import TraceFilter
from combee_core.workspace import Workspace
from tests.pages.opened import bring, chat_record, open_page

PAGE = "traces.py"


@pytest.fixture
def small(workspace: Workspace, tmp_path: Path) -> list[str]:
    """Twelve traces, four of them successes with a score of 1, the others of 0.25; their ids in order."""
    return bring(workspace, tmp_path, *map(chat_record, range(12)))


def tasks(at: AppTest) -> list[str]:
    return list(at.dataframe[0].value["Task"])


def press(at: AppTest, label: str) -> AppTest:
    next(each for each in at.button if each.label == label).click()
    return at.run()


def choose(at: AppTest, *ids: str) -> AppTest:
    """As a click on the ticks of these rows does."""
    at.session_state["traces_chosen"] = list(ids)
    return at.run()


def test_scores_narrow_the_list_from_both_ends_and_go_into_the_address(small: list[str]):
    at = open_page(PAGE)
    at.number_input(key="traces_min_score").set_value(0.5).run()
    assert tasks(at) == [f"Refund order {number}" for number in (0, 3, 6, 9)]
    assert at.query_params["min_score"] == "0.5"
    assert len(tasks(open_page(PAGE, max_score="0.25"))) == 8


def test_a_score_of_zero_is_a_filter_too(small: list[str]):
    at = open_page(PAGE)
    at.number_input(key="traces_max_score").set_value(0.0).run()
    assert at.query_params["max_score"] == "0"
    assert len(at.dataframe) == 0


@pytest.mark.parametrize("score", ["nan", "inf", "much"])
def test_a_score_in_the_address_that_is_none_is_passed_over(small: list[str], score: str):
    at = open_page(PAGE, min_score=score)
    assert not at.exception
    assert len(tasks(at)) == 12


def test_a_tag_goes_on_what_matches_filters_the_list_and_comes_off(workspace: Workspace, small: list[str]):
    at = open_page(PAGE, outcome="success")
    at.text_input(key="traces_tag_typed").set_value("golden")
    press(at, "Put it on")
    assert workspace.tags() == [{"tag": "golden", "traces": 4}]
    at = open_page(PAGE, tag="golden")
    assert len(tasks(at)) == 4
    at.text_input(key="traces_tag_typed").set_value("golden")
    press(at, "Take it off")
    assert workspace.tags() == []


def test_only_the_rows_chosen_by_hand_are_tagged(workspace: Workspace, small: list[str]):
    at = choose(open_page(PAGE), small[1], small[5])
    at.text_input(key="traces_tag_typed").set_value("odd")
    press(at, "Put it on")
    assert set(workspace.trace_ids(TraceFilter(tag="odd"))) == {small[1], small[5]}


def test_chosen_rows_are_deleted_and_one_click_brings_them_back(workspace: Workspace, small: list[str]):
    at = press(choose(open_page(PAGE), small[0], small[2]), "Delete 2")
    assert len(tasks(at)) == 10
    assert any(each.label == "Delete all 10" for each in at.button)
    press(at, "Undo")
    assert len(tasks(at)) == 12
    assert not any(each.label == "Undo" for each in at.button)


def test_deleting_all_that_matches_leaves_the_rest(workspace: Workspace, small: list[str]):
    press(open_page(PAGE, outcome="success"), "Delete 4")
    assert workspace.trace_counts()["total"] == 8


def test_when_every_trace_is_deleted_undo_is_still_there(workspace: Workspace, small: list[str]):
    at = press(open_page(PAGE), "Delete all 12")
    assert workspace.trace_counts()["total"] == 0
    press(at, "Undo")
    assert len(tasks(at)) == 12


def test_another_filter_forgets_what_was_chosen(small: list[str]):
    at = choose(open_page(PAGE), small[0])
    assert any(each.label == "Delete 1" for each in at.button)
    at.get_by_key("traces_outcome").set_value("failure")
    at.run()
    assert any(each.label == "Delete 8" for each in at.button)


def test_tag_and_scores_are_filled_in_on_learn(workspace: Workspace, small: list[str]):
    workspace.tag(TraceFilter(outcome="failure"), "shop")
    at = press(open_page(PAGE, tag="shop", min_score="0.1", max_score="0.3"), "Learn from 8 traces")
    assert at.selectbox(key="learn_tag").value == "shop"
    assert (at.number_input(key="learn_min_score").value, at.number_input(key="learn_max_score").value) == (0.1, 0.3)
    assert "8 of 12 traces" in [each.value for each in at.caption]


def test_a_run_can_be_planned_from_rows_chosen_by_hand(small: list[str]):
    at = press(choose(open_page(PAGE), *small[:3]), "Learn from 3 traces")
    assert at.segmented_control(key="learn_traces").value == "Chosen"
    assert "3 of 12 traces" in [each.value for each in at.caption]
