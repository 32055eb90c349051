"""The Prompts page in a real browser: from the diff over a rejection to the file that an agent will read."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from combee_core.workspace import Workspace
from tests.pages.opened import bring, chat_record
from tests.pages.shelved import SCRIPT, candidate
from tests.served import ROOT, App, environment

FILES = {"Markdown": ("markdown", "shop-v3.md"), "JSON": ("json", "shop-v3.json"), "ACE text": ("ace", "shop-v3.txt")}


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    """The app on the prompt `shop`: version 1 approved, version 2 waiting with four changes."""
    home = tmp_path / "combee-home"
    home.mkdir()
    with Workspace(home / "combee.duckdb") as workspace:
        candidate(workspace, bring(workspace, tmp_path, *map(chat_record, range(3))))
    served = App(home)
    yield served
    served.stop()


def choose(page: Page, bullet: str, choice: str) -> None:
    card(page, bullet).get_by_role("radio", name=choice).click()


def card(page: Page, bullet: str) -> Locator:
    return page.get_by_test_id("stLayoutWrapper").filter(has=page.get_by_text(bullet, exact=True)).last


def bar(page: Page) -> Locator:
    return page.locator(".st-key-prompts_bar")


def exported(home: Path, version: str, format: str) -> bytes:
    command = [sys.executable, "-m", "combee_core.cli", "export", version, "--format", format]
    done = subprocess.run(command, cwd=ROOT, env=environment(home), capture_output=True, check=True, timeout=60)
    return done.stdout


def test_a_rejected_bullet_is_not_in_the_approved_prompt_and_the_files_are_what_export_prints(
    page: Page, app: App, tmp_path: Path
):
    page.goto(f"{app.url}/prompts?version=shop@2")
    expect(bar(page)).to_contain_text("0 of 4 decided")
    expect(page.locator(".cb-text ins", has_text="cents")).to_be_visible()
    expect(bar(page).get_by_role("button", name="Approve")).to_be_disabled()
    choose(page, "b-5", "Reject")
    expect(bar(page)).to_contain_text("1 of 4 decided")
    bar(page).get_by_role("button", name="Accept all remaining").click()
    expect(bar(page)).to_contain_text("4 of 4 decided")
    expect(bar(page)).to_contain_text("1 rejected")
    bar(page).get_by_label("Your name").fill("Ana")
    bar(page).get_by_role("button", name="Approve").click()
    expect(page.get_by_text("shop@3 is approved by Ana. It is a new version")).to_be_visible()
    assert "version=shop%403" in page.url or "version=shop@3" in page.url

    files = {}
    for label, (format, name) in FILES.items():
        with page.expect_download() as download:
            page.locator(f".st-key-prompts_download_{format}").get_by_role("button", name=label).click()
        assert download.value.suggested_filename == name
        download.value.save_as(tmp_path / name)
        files[format] = (tmp_path / name).read_bytes()
    assert b"Amounts are in cents." in files["markdown"]
    assert b"Never send" not in files["markdown"]

    page.close()
    app.stop()
    assert files == {format: exported(app.home, "shop", format) for format in files}


def test_a_script_in_a_bullet_shows_as_text(page: Page, app: App):
    page.goto(f"{app.url}/prompts?version=shop@2")
    expect(page.locator(".cb-text", has_text=f"Never send {SCRIPT} or **bold** $x$.")).to_be_visible()
    page.get_by_role("tab", name="Prompt text").click()
    expect(page.get_by_test_id("stCode").first).to_contain_text(f"Never send {SCRIPT} or **bold** $x$.")


def test_evidence_unfolds_and_stays_open_while_other_changes_are_decided(page: Page, app: App):
    page.goto(f"{app.url}/prompts?version=shop@2")
    page.get_by_text("Seen in 3 traces, 2 failures").click()
    lesson = page.get_by_text("Lesson 2: cents!")
    expect(lesson).to_be_visible()
    choose(page, "b-4", "Edit")
    page.get_by_label("New text of b-4").fill("Dates are ISO 8601, in UTC.")
    page.get_by_role("button", name="Save edit").click()
    expect(bar(page)).to_contain_text("1 of 4 decided")
    expect(page.locator(".cb-text ins", has_text=", in UTC")).to_be_visible()
    expect(lesson).to_be_visible()
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Refund order 1").click()
    expect(opened.value).to_have_url(f"{app.url}/traces?trace={opened.value.url.rpartition('=')[2]}")
    opened.value.close()
