"""The Compare page with no, one and many runs: what is chosen, started and watched, and what the address holds."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from combee_core.workspace import Endpoint, RunSettings, Workspace
from tests.pages.opened import bring, chat_record, learn, open_page, primary_buttons
from tests.served import wait_until
from tests.stand_in import StandIn

PAGE = "compare.py"


def text_of(at: AppTest) -> str:
    said = [*at.markdown, *at.caption, *at.text, *at.info, *at.warning, *at.error]
    return "\n".join([*(each.value for each in said), *(bar.text for bar in at.progress)])


def address_of(at: AppTest) -> str:
    """What the address names; AppTest keeps what it was given as a list and what the page set as a text."""
    runs = at.query_params["runs"]
    return runs if isinstance(runs, str) else runs[0]


def figures(at: AppTest) -> list[dict[str, Any]]:
    return [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]


@pytest.fixture
def shop(workspace: Workspace, tmp_path: Path) -> Workspace:
    """Sixteen traces, each with a fact of its own."""
    facts = (f"Pass field_{number} in cents, {number * 7 + 100} at most." for number in range(16))
    bring(workspace, tmp_path, *(chat_record(n, feedback=text, success=False) for n, text in enumerate(facts)))
    return workspace


@pytest.fixture
def held(shop: Workspace, stand_in: StandIn) -> Iterator[StandIn]:
    """An endpoint in use that answers nothing until it is let go."""
    stand_in.hold.clear()
    shop.set_endpoint(Endpoint(base_url=stand_in.url, model="stand-in"))
    yield stand_in
    stand_in.hold.set()


def compared(workspace: Workspace, *strategies: str) -> str:
    runs = [one.run for one in workspace.start_comparison(RunSettings(prompt="shop", batch=16), strategies)]
    for run in runs:
        workspace.wait(run)
    return ",".join(runs)


def test_without_traces_the_page_leads_to_where_they_come_from(workspace: Workspace) -> None:
    at = open_page(PAGE)
    assert not at.exception
    assert primary_buttons(at) == ["Bring traces"]


def test_without_runs_a_comparison_can_be_planned_and_started_and_the_address_says_which(shop: Workspace) -> None:
    at = open_page(PAGE)
    assert not at.exception
    assert [each.key for each in at.multiselect] == ["compare_variants"], "there are no runs to choose from"
    assert primary_buttons(at) == ["Start comparison"]
    at.button(key="compare_start").click().run()
    assert not at.exception
    rows = shop.runs()
    assert sorted(row["prompt"] for row in rows) == ["my-agent-combee", "my-agent-naive"]
    assert address_of(at) == "run-1,run-2"
    for run in ("run-1", "run-2"):
        assert shop.wait(run, 30)
    at.run()
    assert len(figures(at)) == 2
    assert list(at.dataframe[0].value["Strategy"]) == ["combee", "naive"]
    at.button(key="compare_new").click().run()
    assert at.selectbox(key="learn_prompt").value == "my-agent", "the prompt, not one that was there to compare"


def test_no_strategy_no_start_and_offline_none_that_needs_a_model(shop: Workspace) -> None:
    at = open_page(PAGE)
    assert at.button_group(key="compare_strategies").options == ["combee", "sequential", "naive", "top-k"]
    assert "set one in Settings" in text_of(at)
    at.button_group(key="compare_strategies").set_value([]).run()
    assert at.button(key="compare_start").disabled
    assert "Choose at least one strategy." in text_of(at)


def test_with_a_model_each_strategy_says_what_it_would_take(shop: Workspace, held: StandIn) -> None:
    at = open_page(PAGE)
    at.button_group(key="compare_strategies").set_value(["combee", "sequential", "top-k", "summary"]).run()
    plan = at.dataframe[0].value
    assert list(plan["Calls"]) == [16 + 4 + 1, 32, 17, 18]
    assert list(plan["Iterations"]) == [1, 16, 1, 1]


def test_variants_are_chosen_or_written_and_a_mistake_in_one_is_said_before_anything_starts(
    shop: Workspace, held: StandIn
) -> None:
    at = open_page(PAGE)
    at.multiselect(key="compare_variants").set_value(["combee:copies=1", "combee:groups=2", "top-k:groups"]).run()
    assert not at.exception
    assert "top-k:groups: write groups=VALUE" in text_of(at)
    assert at.button(key="compare_start").disabled
    at.multiselect(key="compare_variants").set_value(["combee:copies=1", "combee:groups=2"]).run()
    plan = at.dataframe[0].value
    assert list(plan["Strategy"]) == ["combee", "naive", "combee, copies 1", "combee, groups 2"]
    assert list(plan["Calls"]) == [21, 17, 21, 19]
    held.hold.set()
    at.button(key="compare_start").click().run()
    assert not at.exception
    for run in address_of(at).split(","):
        assert shop.wait(run, 30)
    at.run()
    assert list(at.dataframe[0].value["Strategy"]) == ["combee", "naive", "combee, copies 1", "combee, groups 2"]


def test_one_run_is_shown_by_itself(shop: Workspace) -> None:
    run = learn(shop)
    at = open_page(PAGE, runs=run)
    assert not at.exception
    assert "combee kept 100 % of the 32 numbers, identifiers and names in its lessons." in text_of(at)
    assert list(at.dataframe[0].value["Version"]) == ["shop@1"]


def test_many_runs_are_drawn_in_the_order_of_the_address_with_a_bar_for_each_measure(shop: Workspace) -> None:
    runs = compared(shop, "naive", "top-k", "combee", "sequential")
    at = open_page(PAGE, runs=runs)
    assert not at.exception
    panels, trade = figures(at)
    bullets = panels["data"][0]
    assert bullets["y"] == ["naive", "top-k", "combee", "sequential"]
    assert bullets["text"] == ["16", "4", "16", "16"]
    titles = [each["text"] for each in panels["layout"]["annotations"]]
    assert len(titles) == 9
    assert sorted(trade["data"][0]["text"]) == ["combee", "naive", "sequential", "top-k"]
    table = at.dataframe[0].value
    assert list(table["Dropped"]) == [0, 12, 0, 0]
    assert list(table["Batch sizes"]) == ["16", "16", "16", "16 × 1"]
    assert "in its lessons, top-k" in text_of(at)


def test_runs_can_be_chosen_and_left_and_the_address_follows(shop: Workspace) -> None:
    first, second = compared(shop, "combee", "naive").split(",")
    at = open_page(PAGE)
    at.multiselect(key="compare_runs").select(second).run()
    assert address_of(at) == second
    at.multiselect(key="compare_runs").select(first).run()
    assert address_of(at) == f"{second},{first}"
    assert list(at.dataframe[0].value["Strategy"]) == ["naive", "combee"]
    at.button(key="compare_new").click().run()
    assert "runs" not in at.query_params
    assert primary_buttons(at) == ["Start comparison"]


def test_an_address_of_runs_that_are_gone_says_so_and_shows_the_others(shop: Workspace) -> None:
    run = learn(shop)
    at = open_page(PAGE, runs=f"run-77,{run},<b>x</b>")
    assert not at.exception
    assert "run-77, <b>x</b>: the others are shown." in text_of(at)
    assert "There is no run run-77: choose some below" in text_of(open_page(PAGE, runs="run-77"))
    assert len(at.dataframe[0].value) == 1


def test_a_comparison_under_way_shows_how_far_it_is_and_can_be_cancelled(shop: Workspace, held: StandIn) -> None:
    at = open_page(PAGE)
    at.button(key="compare_start").click().run()
    wait_until(lambda: held.in_flight > 0, 30, "the first call")
    at.run()
    assert not at.exception
    said = text_of(at)
    assert "combee: iteration 1 of 1, reflecting" in said
    assert "naive: waiting for its turn" in said
    at.button(key="compare_cancel").click().run()
    for run in ("run-1", "run-2"):
        assert shop.wait(run, 30)
    at.run()
    assert "combee (run-1) cancelled" in text_of(at)
    assert [shop.run(run)["state"] for run in ("run-1", "run-2")] == ["cancelled", "cancelled"]


def test_runs_over_other_traces_are_marked_as_such(shop: Workspace, tmp_path: Path) -> None:
    first = learn(shop)
    folder = tmp_path / "more"
    folder.mkdir()
    bring_more = folder / "more.jsonl"
    bring_more.write_text(json.dumps(chat_record(99)) + "\n")
    shop.import_paths([bring_more])
    at = open_page(PAGE, runs=f"{first},{learn(shop)}")
    assert "did not learn from the same traces" in text_of(at)


def test_a_summary_is_explained_and_runs_without_lessons_do_not_break_the_page(
    shop: Workspace, stand_in: StandIn
) -> None:
    endpoint = Endpoint(base_url=stand_in.url, model="**stand-in** <b>x</b>")
    settings = RunSettings(prompt="shop", batch=16, endpoint=endpoint)
    run = shop.start_comparison(settings, ["summary"])[0].run
    shop.wait(run)
    stand_in.set(drop=1.0)
    empty = shop.start_comparison(settings.model_copy(update={"recheck": False, "retain": "off"}), ["naive"])[0].run
    shop.wait(empty)
    at = open_page(PAGE, runs=f"{run},{empty}")
    assert not at.exception
    assert "A summary stands for every lesson" in text_of(at)
    assert list(at.dataframe[0].value["Bullets"]) == [1, 0]
