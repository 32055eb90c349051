"""Batch size and Compare in a real browser: figures are drawn, sliders choose, and the address holds the rest."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from combee_core.workspace import RunSettings, Workspace
from tests.browser.conftest import wait_for_figure
from tests.pages.opened import bring, chat_record
from tests.pages.recorded import record
from tests.served import App

POINTS = ".js-plotly-plot path.point"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The app on two runs of the offline rules engine, and one of 2,000 traces with an automatic batch size."""
    home = tmp_path_factory.mktemp("batch-size-home")
    with Workspace(home / "combee.duckdb") as workspace:
        bring(workspace, home, *(chat_record(n, feedback=f"Check field_{n % 7} of order_{n}.") for n in range(12)))
        for strategy in ("combee", "naive"):
            assert workspace.learn(RunSettings(prompt=strategy, strategy=strategy))["state"] == "done"
        record(workspace, RunSettings(prompt="agent", batch="auto"), 2_000)
    served = App(home)
    yield served
    served.stop()


@pytest.mark.parametrize("scheme", ["dark"])
def test_a_larger_tau_chooses_a_smaller_size_and_learn_takes_it(page: Page, app: App) -> None:
    page.goto(f"{app.url}/batch_size")
    wait_for_figure(page)
    assert "run=run-3" in page.url
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    button = page.get_by_role("button", name="Plan a run with")
    before = size_of(button.inner_text())
    slider = page.get_by_role("slider", name="τ")
    slider.focus()
    for _ in range(4):
        slider.press("ArrowRight")
    expect(page.get_by_role("slider", name="τ")).to_have_attribute("aria-valuetext", "6.4%")
    expect(button).not_to_have_text(f"Plan a run with {before:,}")
    wait_for_figure(page)
    after = size_of(button.inner_text())
    assert after < before
    button.click()
    expect(page.get_by_label("Batch size", exact=True)).to_have_value(str(after))


def size_of(label: str) -> int:
    return int(label.rpartition(" ")[2].replace(",", ""))


def test_runs_are_chosen_side_by_side_and_a_reload_shows_them_again(page: Page, app: App) -> None:
    page.goto(f"{app.url}/compare?runs=run-1")
    wait_for_figure(page)
    one = page.locator(POINTS).count()
    page.get_by_role("combobox", name="Runs side by side").click()
    page.get_by_role("option", name="run-2 · naive").click()
    expect(page).to_have_url(f"{app.url}/compare?runs=run-1%2Crun-2")
    page.keyboard.press("Escape")
    page.wait_for_function(f"() => document.querySelectorAll('{POINTS}').length > {one}")
    page.reload()
    wait_for_figure(page)
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    assert page.locator(POINTS).count() > one
