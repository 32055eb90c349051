"""The shell around the pages: deep links, navigation, the end of the process."""

import re
import subprocess
import sys

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ROOT, App

PAGES = {
    "": "Overview",
    "traces": "Traces",
    "learn": "Learn",
    "merges": "Merges",
    "prompts": "Prompts",
    "settings": "Settings",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_a_link_to_any_page_opens_it_inside_the_navigation(page: Page, app_url: str, path: str, scheme: str):
    page.goto(f"{app_url}/{path}")
    navigation = page.get_by_test_id("stTopNavLink")
    expect(navigation).to_have_count(len(PAGES))
    expect(page).to_have_title(re.compile(PAGES[path]))
    expect(page.get_by_test_id("stException")).to_have_count(0)
    background = page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor")
    assert background == {"light": "rgb(255, 253, 247)", "dark": "rgb(21, 19, 15)"}[scheme]


def test_the_command_line_is_told_who_holds_the_data_while_the_app_runs(app: App):
    told = subprocess.run(
        [sys.executable, "-m", "combee_core.cli", "runs", "--db", str(app.home / "combee.duckdb")],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert told.returncode == 1
    assert told.stdout == ""
    assert f"process {app.process.pid}" in told.stderr
    assert "Traceback" not in told.stderr


def test_a_second_app_on_the_same_data_ends_with_one_sentence(app: App):
    told = subprocess.run(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", "0"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"COMBEE_HOME": str(app.home), "PATH": "/usr/bin:/bin"},
        timeout=60,
        check=False,
    )
    assert told.returncode == 1
    assert f"process {app.process.pid}" in told.stderr
    assert "Traceback" not in told.stderr + told.stdout


def test_sigterm_ends_the_app(tmp_path):
    served = App(tmp_path)
    assert served.stop() in (0, -15, 143)
