"""The main job from end to end, as a newcomer does it: a real file in, a model asked, an approved prompt out."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import click_point, wait_for_figure
from tests.served import App, wait_until
from tests.stand_in import StandIn

SQUARE = """() => {
  const plot = document.querySelector('.js-plotly-plot');
  const squares = plot.data.find(trace => trace.marker && trace.marker.symbol === 'square');
  const box = plot.getBoundingClientRect(), {xaxis, yaxis} = plot._fullLayout;
  return {
    node: squares.customdata[0][0],
    x: box.x + xaxis._offset + xaxis.d2p(squares.x[0]),
    y: box.y + yaxis._offset + yaxis.d2p(squares.y[0]),
  };
}"""


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    served = App(tmp_path)
    yield served
    served.stop()


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    path = tmp_path / "chats.jsonl"
    rows = [
        {
            "messages": [
                {"role": "user", "content": f"Refund order {number}"},
                {"role": "assistant", "content": f"Refunded {number}.50"},
            ],
            "reward": number % 2,
            "feedback": f"issue_refund takes order {number} in cents: pass {number * 50}.",
        }
        for number in range(9)
    ]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return path


def link(page: Page, name: str) -> None:
    page.get_by_test_id("stTopNavLink").filter(has_text=name).click()
    expect(page.get_by_role("heading", name=name, exact=True).first).to_be_visible()


def set_endpoint(page: Page, url: str) -> None:
    link(page, "Settings")
    page.get_by_role("textbox", name="Base URL").fill(url)
    page.get_by_role("textbox", name="Base URL").press("Enter")
    model = page.get_by_role("combobox", name="Model")
    model.fill("stand-in")
    model.press("Enter")
    page.get_by_role("button", name="Test connection").click()
    expect(page.get_by_text("stand-in answers in")).to_be_visible()
    page.get_by_role("button", name="Use this model").click()
    expect(page.get_by_role("button", name="Use the offline rules engine")).to_be_visible()


def test_from_an_uploaded_file_to_the_approved_prompt_in_a_file(
    page: Page, app: App, stand_in: StandIn, chats: Path, tmp_path: Path
):
    page.goto(f"{app.url}/traces")
    page.locator("input[type=file]").set_input_files(chats)
    expect(page.get_by_text("openai-chat").first).to_be_visible()
    set_endpoint(page, stand_in.url)

    # Answers are held back, so that the page can be left and reloaded in the middle of the run.
    stand_in.hold.clear()
    link(page, "Learn")
    page.get_by_role("button", name="Start learning").click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    wait_until(lambda: stand_in.in_flight == 9, 60, "nine reflections in flight")
    page.reload()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    expect(page.get_by_text("9 / 16")).to_be_visible()
    assert "run=run-1" in page.url
    stand_in.hold.set()
    expect(page.get_by_role("button", name="Review the changes")).to_be_visible()
    assert stand_in.requests == 1 + 9 + 3 + 1, "the test of the connection, nine reflections, three groups, one final"

    look = page.get_by_role("link", name="Look into merges")
    expect(look).to_have_count(1)
    look.click()
    expect(page.locator(".js-plotly-plot")).to_be_visible()
    wait_until(
        lambda: bool(page.evaluate("!!document.querySelector('.js-plotly-plot .points path')")), 60, "the figure"
    )
    wait_for_figure(page)
    square = page.evaluate(SQUARE)
    click_point(page, square["x"], square["y"])
    expect(page).to_have_url(re.compile(rf"node={re.escape(square['node'])}(&|$)"))
    expect(page.get_by_text("issue_refund takes order").first).to_be_visible()

    page.goto(f"{app.url}/learn?run=run-1")
    page.get_by_role("button", name="Review the changes").click()
    bar = page.locator(".st-key-prompts_bar")
    bar.get_by_role("button", name="Accept all remaining").click()
    bar.get_by_role("textbox", name="Your name").fill("Ada")
    bar.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("is approved by Ada")).to_be_visible()
    with page.expect_download() as download:
        page.locator(".st-key-prompts_download_markdown").get_by_role("button", name="Markdown").click()
    download.value.save_as(tmp_path / "prompt.md")
    text = (tmp_path / "prompt.md").read_text()
    assert "issue_refund takes order" in text
    shown = {line.removeprefix("- ") for line in text.splitlines() if line.startswith("- ")}
    learnt = {f"For Refund order {n}: issue_refund takes order {n} in cents: pass {n * 50}." for n in range(9)}
    assert shown
    assert shown <= learnt
