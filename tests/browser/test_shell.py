"""The shell around the pages: deep links, navigation, themes."""

import re

import pytest
from playwright.sync_api import Page, expect

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
    expect(page.get_by_role("heading", name=PAGES[path], level=1)).to_be_visible()
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_test_id("stException")).to_have_count(0)
    background = page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor")
    assert background == {"light": "rgb(255, 253, 247)", "dark": "rgb(21, 19, 15)"}[scheme]
