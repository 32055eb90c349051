"""The Merges page on an empty, a small and a large store: what it says of any node, search, live and failed runs."""

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from combee_core.store.runs import NodeRow, Runs
from combee_core.workspace import Endpoint, RunSettings, Workspace
from pages.merge_view import MergeView, in_words
from tests.pages.opened import HOSTILE, bring, chat_record, html_of, learn, open_page, primary_buttons
from tests.served import wait_until
from tests.stand_in import StandIn

PAGE = "merges.py"


def text_of(at: AppTest) -> str:
    """Everything that the page says outside of tables and fields."""
    said = [*at.subheader, *at.markdown, *at.caption, *at.text, *at.warning, *at.error, *at.html]
    return "\n".join(each.value for each in said)


def figure(at: AppTest) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(at.get("plotly_chart")[0].proto.spec)
    return found


def view_of(workspace: Workspace, run: str, iteration: int = 1) -> MergeView:
    return MergeView({node["id"]: node for node in workspace.planned_nodes(run, iteration)})


@pytest.fixture
def shop(workspace: Workspace, tmp_path: Path) -> Workspace:
    """Thirty traces with distinct feedback on the failed ones."""
    words = ("cents", "dates", "names", "codes", "units")
    records = [
        chat_record(
            number, feedback=f"Always check the {words[number % 5]} of field_{number % 5} before refund_{number}."
        )
        for number in range(30)
    ]
    bring(workspace, tmp_path, *records)
    return workspace


@pytest.fixture
def merged(shop: Workspace, stand_in: StandIn) -> str:
    """A finished run with a model that leaves out some of what it is given."""
    stand_in.set(drop=0.3)
    endpoint = Endpoint(base_url=stand_in.url, model="stand-in")
    run = shop.learn(RunSettings(prompt="shop", batch=20, endpoint=endpoint, recheck=False))
    assert run["state"] == "done", run["error"]
    return str(run["run"])


# What there is


def test_without_a_run_the_page_leads_to_learn(workspace: Workspace) -> None:
    at = open_page(PAGE)
    assert not at.exception
    assert "No merges yet" in text_of(at)
    assert primary_buttons(at) == ["Start learning"]


def test_the_latest_run_is_shown_and_named_in_the_address(shop: Workspace) -> None:
    learn(shop)
    run = learn(shop)
    at = open_page(PAGE)
    assert not at.exception
    assert at.query_params["run"] == run
    assert at.subheader[0].value == "Final merge"


def test_the_legend_says_in_words_what_became_of_all_lessons(shop: Workspace, merged: str) -> None:
    at = open_page(PAGE, run=merged)
    view = view_of(shop, merged, 2)
    assert f"<strong>{len(view.lessons)} lessons:</strong>" in html_of(at)
    words = in_words(view, live=False)
    assert len(words) >= 2
    assert all(part in html_of(at) for _, part in words)


def test_run_and_iteration_are_chosen_by_the_address_and_by_the_fields(shop: Workspace, merged: str) -> None:
    other = learn(shop)
    at = open_page(PAGE, run=merged, iteration="1")
    assert sum(mark.startswith("i1.r") for mark in clickable(at)) == 40
    at.selectbox(key="merges_iteration").set_value(2).run()
    assert at.query_params["iteration"] == "2"
    assert sum(mark.startswith("i2.r") for mark in clickable(at)) == 20
    at.selectbox(key="merges_run").set_value(other).run()
    assert not at.exception
    assert at.query_params["run"] == other
    assert "iteration" not in at.query_params


def test_an_address_that_names_nothing_that_exists_falls_back_with_a_word(shop: Workspace, merged: str) -> None:
    at = open_page(PAGE, run="run-99", iteration="77", node="i9.r9")
    assert not at.exception
    assert f"There is no run run-99: this is {merged}." in text_of(at)
    assert at.subheader[0].value == "Final merge"


def clickable(at: AppTest) -> list[str]:
    return [point[0] for trace in figure(at)["data"] for point in trace.get("customdata", ())]


# The inspector


def test_a_reflection_tells_its_lessons_where_its_copies_went_and_its_trace(shop: Workspace, merged: str) -> None:
    at = open_page(PAGE, run=merged, iteration="1", node="i1.r4")
    assert not at.exception
    view = view_of(shop, merged)
    assert at.subheader[0].value == "Reflection 4"
    lesson = view.of_reflection["i1.r4"][0]
    assert lesson.text in html_of(at)
    for merge in view.readers("i1.r4"):
        assert f"{view.name(merge)} " in html_of(at)
    link = next(each for each in at.get("page_link") if each.label == "Open the trace")
    assert link.proto.query_string == f"trace={lesson.trace}"
    assert "1 request" in text_of(at)
    outlined = figure(at)["data"][-2]
    assert len(outlined["x"]) == 2


def test_a_lesson_in_the_prompt_leads_to_its_bullet_in_the_version_that_the_iteration_made(
    shop: Workspace, merged: str
) -> None:
    lesson = next(lesson for lesson in view_of(shop, merged).lessons if lesson.bullets)
    at = open_page(PAGE, run=merged, iteration="1", node=lesson.reflection)
    assert f'href="prompts?version=shop%401" target="_blank">{lesson.bullets[0]}</a>' in html_of(at)


def test_a_group_tells_what_came_in_what_went_out_and_what_was_dropped(shop: Workspace, merged: str) -> None:
    view = view_of(shop, merged)
    group = next(merge for merge in view.merges if merge["kind"] == "merge" and merge["output"]["dropped"])
    at = open_page(PAGE, run=merged, iteration="1", node=group["id"])
    given, out, dropped = (
        len(view.came_in(group["id"])),
        len(group["output"]["operations"]),
        len(group["output"]["dropped"]),
    )
    assert f"{given} lessons from {len(group['inputs'])} reflections came in" in text_of(at)
    assert f"{dropped} dropped." in text_of(at)
    assert html_of(at).count('class="cb-kind"') == out
    at.segmented_control(key=f"merges_list:{group['id']}").set_value(f"Dropped ({dropped})").run()
    assert html_of(at).count("no operation cites it") == dropped
    at.segmented_control(key=f"merges_list:{group['id']}").set_value(f"In ({given})").run()
    assert html_of(at).count('class="cb-item"') == given


def test_the_final_merge_tells_on_which_bullet_each_operation_landed(shop: Workspace, merged: str) -> None:
    at = open_page(PAGE, run=merged, iteration="1", node="i1.final")
    for bullet in shop.version("shop@1").playbook.bullets:
        assert f">{bullet.id}</a>" in html_of(at)


def test_from_any_node_one_can_go_to_its_neighbours(shop: Workspace, merged: str) -> None:
    at = open_page(PAGE, run=merged, iteration="1", node="i1.r4")
    group = view_of(shop, merged).readers("i1.r4")[0]
    at.selectbox(key="merges_go:i1.r4").set_value(group).run()
    assert not at.exception
    assert at.query_params["node"] == group
    at.selectbox(key=f"merges_go:{group}").set_value("i1.final").run()
    assert at.subheader[0].value == "Final merge"


def test_a_failed_reflection_says_why(shop: Workspace) -> None:
    runs = Runs(shop._database)
    settings = RunSettings(prompt="shop", batch=3).model_dump(mode="json")
    run = runs.create("shop", settings, shop.trace_ids()[:3], None)
    failed = NodeRow("i1.r2", 1, "reflection", 0, 1, (), "failed", {"lessons": []}, 3.0, trace="t-gone", attempts=6)
    runs.add_nodes(run, [NodeRow(**failed.__dict__ | {"error": "The endpoint was busy.", "failed_attempts": 6})])
    runs.set_state(run, "failed", "No reflection has worked.")
    at = open_page(PAGE, run=run, node="i1.r2")
    assert not at.exception
    said = text_of(at)
    assert "Reflection 2 failed after all retries." in said
    assert "The endpoint was busy." in said
    assert "6 requests (6 without a usable answer)" in said
    assert "The trace is no longer there." in said
    assert "1 reflection failed" in html_of(at)


# Search and tables


def test_search_and_only_dropped_narrow_the_lessons_in_table_and_figure(shop: Workspace, merged: str) -> None:
    at = open_page(PAGE, run=merged, iteration="1")
    view = view_of(shop, merged)
    assert len(at.dataframe[0].value) == len(view.lessons)
    at.text_input(key="merges_search").set_value("CENTS field_0").run()
    found = view.search("cents field_0", only_dropped=False)
    assert 0 < len(found) < len(view.lessons)
    assert sorted(at.dataframe[0].value["Lesson"]) == sorted(lesson.text for lesson in found)
    at.text_input(key="merges_search").set_value("").run()
    at.toggle(key="merges_dropped").set_value(True).run()
    fates = set(at.dataframe[0].value["What became of it"])
    assert fates
    assert "in the prompt" not in fates
    blue = next(trace for trace in figure(at)["data"] if trace.get("marker", {}).get("color") == "#2F6FDB")
    assert blue["x"] == []


def test_a_search_that_finds_nothing_says_so(shop: Workspace, merged: str) -> None:
    at = open_page(PAGE, run=merged)
    at.text_input(key="merges_search").set_value("no such words").run()
    assert not at.exception
    assert "No lesson matches" in text_of(at)


def test_the_calls_are_listed_with_what_they_took(shop: Workspace, merged: str) -> None:
    at = open_page(PAGE, run=merged, iteration="1")
    at.segmented_control(key="merges_table").set_value("Calls").run()
    table = at.dataframe[0].value
    assert len(table) == len(view_of(shop, merged).nodes)
    assert table["Call"].iloc[0] == "Final merge"
    assert table["Requests"].sum() == len(table)


# Live, stopped, hostile, large


def test_while_a_run_works_its_tree_is_there_with_what_is_still_to_come(shop: Workspace, stand_in: StandIn) -> None:
    stand_in.hold.clear()
    endpoint = Endpoint(base_url=stand_in.url, model="stand-in")
    try:
        run = shop.start(RunSettings(prompt="shop", endpoint=endpoint))
        wait_until(lambda: stand_in.in_flight == 16, 20, "calls in flight")
        at = open_page(PAGE, run=run)
        assert not at.exception
        assert "Final merge has not been called yet." in text_of(at)
        assert "No lesson yet." in text_of(at)
        assert sum(mark.startswith("i1.r") for mark in clickable(at)) == 60
    finally:
        stand_in.hold.set()
    assert shop.wait(run, 30)
    at.run()
    assert "operations went out" in text_of(at) or "operation went out" in text_of(at)


def test_a_run_that_never_made_a_call_shows_its_plan(shop: Workspace) -> None:
    runs = Runs(shop._database)
    run = runs.create("shop", RunSettings(prompt="shop").model_dump(mode="json"), shop.trace_ids(), None)
    runs.set_state(run, "failed", "The endpoint refused the key.")
    at = open_page(PAGE, run=run)
    assert not at.exception
    assert sum(mark.startswith("i1.r") for mark in clickable(at)) == 60


def test_more_than_two_levels_are_drawn_and_named(shop: Workspace) -> None:
    run = shop.learn(RunSettings(prompt="shop", groups=8, fan_in=3))["run"]
    at = open_page(PAGE, run=run, node="i1.m2.1")
    assert not at.exception
    assert at.subheader[0].value == "Merge 1 of level 2"


def test_text_of_traces_and_models_is_text_only(workspace: Workspace, tmp_path: Path, stand_in: StandIn) -> None:
    task = [{"role": "user", "content": HOSTILE}, {"role": "assistant", "content": HOSTILE}]
    bring(workspace, tmp_path, *(chat_record(n, messages=task, feedback=f"{n} {HOSTILE}") for n in range(1, 9)))
    endpoint = Endpoint(base_url=stand_in.url, model="stand-in")
    run = workspace.learn(RunSettings(prompt="shop", endpoint=endpoint))["run"]
    for node in ("i1.r1", "i1.m1.1", "i1.final"):
        at = open_page(PAGE, run=run, node=node)
        assert not at.exception
        assert "evil.example" in html_of(at)
        assert "<img" not in html_of(at)
        assert "<script" not in html_of(at)
        as_markdown = [*at.markdown, *at.caption, *at.subheader]
        assert not any("evil.example" in each.value for each in as_markdown)
        assert not any("evil.example" in option for field in at.selectbox for option in field.options)
        assert "evil.example" not in json.dumps(figure(at))


def test_a_thousand_reflections_are_drawn_at_once(workspace: Workspace, tmp_path: Path) -> None:
    bring(workspace, tmp_path, *map(chat_record, range(1000)))
    run = workspace.learn(RunSettings(prompt="shop", batch=1000))
    assert run["state"] == "done", run["error"]
    at = open_page(PAGE, run=run["run"])
    assert not at.exception
    assert len(clickable(at)) == 2000 + 32
    at.query_params["node"] = "i1.r500"
    at.run()
    assert at.subheader[0].value == "Reflection 500"
