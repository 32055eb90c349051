"""The shell around the pages: deep links, navigation, themes."""

import re

import pytest
from playwright.sync_api import Page, expect

PAGES = {
    "": "Overview",
    "traces": "Traces",
    "learn": "Learn",
    "merges": "Merges",
    "batch_size": "Batch size",
    "compare": "Compare",
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_label_of_the_main_button_can_be_read(page: Page, app_url: str, scheme: str):
    page.goto(f"{app_url}/settings")
    button = page.get_by_test_id("stBaseButton-primary").first
    style = button.evaluate("element => { const s = getComputedStyle(element); return [s.color, s.backgroundColor] }")
    darker, lighter = sorted(luminance(color) for color in style)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def luminance(color: str) -> float:
    """Relative luminance of `rgb(r, g, b)`, as WCAG 2 defines it."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
