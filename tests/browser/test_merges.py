"""Learn and Merges in a real browser: a run is watched, left and found again, and clicks look into its merge tree."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from combee_core.workspace import Endpoint, RunSettings, Workspace
from pages.merge_view import MergeView
from tests.browser.conftest import click_point, wait_for_figure
from tests.pages.opened import bring, chat_record
from tests.served import App, wait_until
from tests.stand_in import Behaviour, StandIn

expect.set_options(timeout=20_000)

CLICKABLE = """node => {
    const plot = document.querySelector('.js-plotly-plot'), {xaxis, yaxis} = plot._fullLayout
    const box = plot.querySelector('.main-svg').getBoundingClientRect()
    return plot.data.flatMap(trace => (trace.customdata || []).flatMap((point, i) => point[0] !== node ? [] : [[
        box.left + xaxis._offset + xaxis.d2p(trace.x[i]), box.top + yaxis._offset + yaxis.d2p(trace.y[i])]]))
}"""
OUTLINED = "() => document.querySelector('.js-plotly-plot').data.at(-2).x.length"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[StandIn]:
    with StandIn(Behaviour(drop=0.3)) as server:
        yield server


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("merges-home")


@pytest.fixture(scope="module")
def view(home: Path, endpoint: StandIn) -> MergeView:
    """The merge tree of a finished run over thirty traces, with an endpoint in use."""
    with Workspace(home / "combee.duckdb") as workspace:
        records = [chat_record(n, feedback=f"Check field_{n % 7} of order_{n} before the refund.") for n in range(30)]
        bring(workspace, home, *records)
        workspace.set_endpoint(Endpoint(base_url=endpoint.url, model="stand-in"))
        run = workspace.learn(RunSettings(prompt="shop", endpoint=workspace.endpoint(), recheck=False))
        assert run["state"] == "done", run["error"]
        return MergeView({node["id"]: node for node in workspace.planned_nodes("run-1", 1)})


@pytest.fixture(scope="module")
def app(home: Path, view: MergeView) -> Iterator[App]:
    served = App(home)
    yield served
    served.stop()


def open_tree(page: Page, app: App, address: str = "run=run-1") -> None:
    page.goto(f"{app.url}/merges?{address}")
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    expect(page.locator(".js-plotly-plot path.point").first).to_be_attached()


def click(page: Page, node: str, copy: int = 0) -> None:
    wait_for_figure(page)
    x, y = page.evaluate(CLICKABLE, node)[copy]
    click_point(page, x, y)


def heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", name=text, exact=True)).to_be_visible()


def test_a_click_on_a_square_shows_its_lessons_and_outlines_all_its_copies(
    page: Page, app: App, view: MergeView
) -> None:
    open_tree(page, app)
    heading(page, "Final merge")
    lesson = next(lesson for lesson in view.lessons if lesson.fate == "dropped")
    click(page, lesson.reflection)
    heading(page, view.name(lesson.reflection))
    expect(page.locator(".cb-item-text", has_text=lesson.text)).to_be_visible()
    expect(page.get_by_text("dropped it: no operation cites it").first).to_be_visible()
    page.wait_for_function(f"({OUTLINED})() === 2")
    assert f"node={lesson.reflection}" in page.url
    # The other copy is the same reflection; the figure has been redrawn and takes clicks as before.
    click(page, "i1.m1.2")
    heading(page, "Group 2")
    click(page, lesson.reflection, copy=1)
    heading(page, view.name(lesson.reflection))
    click(page, "i1.final")
    heading(page, "Final merge")


def test_a_link_to_a_node_opens_it_and_the_browser_goes_back_to_it(page: Page, app: App) -> None:
    open_tree(page, app, "run=run-1&iteration=1&node=i1.m1.3")
    heading(page, "Group 3")
    click(page, "i1.r5")
    heading(page, "Reflection 5")
    page.reload()
    heading(page, "Reflection 5")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_table_opens_what_is_chosen_in_it(page: Page, app: App, view: MergeView) -> None:
    open_tree(page, app)
    grid = page.get_by_test_id("stDataFrame")
    grid.scroll_into_view_if_needed()
    box = grid.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 60, box["y"] + 52)
    heading(page, view.name(view.lessons[0].reflection))


def test_a_run_is_watched_left_found_again_cancelled_resumed_and_reviewed(
    page: Page, app: App, endpoint: StandIn
) -> None:
    endpoint.hold.clear()
    try:
        page.goto(f"{app.url}/learn")
        expect(page.get_by_text("30 reflections → 5 groups of 12 copies → 1 final merge")).to_be_visible()
        page.get_by_role("button", name="Start learning").dblclick()
        expect(page.get_by_text("Reflections 0 of 30")).to_be_visible()
        assert "run=run-2" in page.url
        wait_until(lambda: endpoint.in_flight == 16, 20, "calls in flight")
        expect(page.get_by_text("16 / 16")).to_be_visible()
        page.reload()
        expect(page.get_by_text("16 / 16")).to_be_visible()
        tab = page.context.new_page()
        tab.goto(f"{app.url}/learn?run=run-2")
        expect(tab.get_by_text("16 / 16")).to_be_visible()
        page.get_by_role("link", name="Look into merges").click()
        heading(page, "Final merge")
        expect(page.get_by_text("Final merge has not been called yet.")).to_be_visible()
        page.get_by_role("link", name="Learn", exact=True).click()
        expect(page.get_by_text("Reflections 0 of 30")).to_be_visible()
        tab.get_by_role("button", name="Cancel").click()
        expect(page.get_by_text("run-2 was cancelled.")).to_be_visible()
    finally:
        endpoint.hold.set()
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("button", name="Review the changes").click()
    expect(page).to_have_url(f"{app.url}/prompts?version=shop%402")
    page.goto(f"{app.url}/learn?run=run-3")
    expect(page.get_by_text("There is no run run-3")).to_be_visible()
