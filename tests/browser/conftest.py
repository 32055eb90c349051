"""A real app in a process of its own, and a real Chromium that looks at it."""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from tests.served import App

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# A busy machine draws slowly; a test that has to wait still ends as soon as what it expects is there.
expect.set_options(timeout=30_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without a browser these tests cannot run: said aloud, and a failure where CI must have one."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
            if CHROMIUM is None and os.environ.get("CI") != "true":
                item.add_marker(pytest.mark.skip(reason="no Chromium on this machine: install chromium to run it"))


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    served = App(tmp_path_factory.mktemp("combee-home"))
    yield served
    served.stop()


@pytest.fixture(scope="module")
def app_url(app: App) -> str:
    return app.url


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium for the tests of this folder alone: while it runs, so does an event loop in pytest's own thread."""
    assert CHROMIUM is not None, "CI needs a Chromium"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def scheme() -> str:
    """light or dark; a test overrides it by parametrizing `scheme`."""
    return "light"


@pytest.fixture
def page(browser: Browser, app: App, scheme: str) -> Iterator[Page]:
    """A fresh tab. The test fails when the page asked another host for anything or a script of it broke."""
    context = browser.new_context(
        color_scheme="dark" if scheme == "dark" else "light", viewport={"width": 1440, "height": 900}
    )
    tab = context.new_page()
    tab.set_default_timeout(30_000)
    outside: list[str] = []
    errors: list[str] = []
    tab.on("request", lambda request: None if _inside(request.url, app) else outside.append(request.url))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("console", lambda message: errors.append(f"{message.text} {message.location}") if _wrong(message) else None)
    yield tab
    context.close()
    assert outside == [], "the page asked other hosts"
    assert errors == [], "a script of the page broke"


def _wrong(message: ConsoleMessage) -> bool:
    """Errors, but for those of Streamlit's search for its server: it asks along the path of a deep link first."""
    return message.type == "error" and "/_stcore/" not in message.location["url"]


def _inside(url: str, app: App) -> bool:
    return url.startswith((f"{app.url}/", f"{app.url.replace('http', 'ws', 1)}/", "data:", "blob:"))


FIGURE_STANDS_STILL = """() => new Promise(done => {
    let plot = null, before = "", same = 0;
    const redrawn = () => { same = 0; };
    const at = () => {
        const box = plot.getBoundingClientRect();
        return [box.x, box.y, box.width, box.height, plot.querySelectorAll("path.point").length].join();
    };
    const look = () => {
        const now = document.querySelector(".js-plotly-plot");
        if (now !== plot) {
            plot?.removeListener?.("plotly_afterplot", redrawn);
            plot = now;
            plot?.on?.("plotly_afterplot", redrawn);
            same = 0;
        }
        const there = plot ? at() : "";
        same = there && there === before ? same + 1 : 0;
        before = there;
        if (same < 20) return requestAnimationFrame(look);
        plot.removeListener?.("plotly_afterplot", redrawn);
        done(true);
    };
    look();
})"""


def wait_for_figure(page: Page) -> None:
    """Until the page is written and its figure stays where it is, undrawn, for 20 frames: a click before is lost."""
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    page.wait_for_function(FIGURE_STANDS_STILL)


def click_point(page: Page, x: float, y: float) -> None:
    """Click a point of a Plotly figure as a hand does: it takes a click only for what the mouse rests on."""
    page.mouse.move(x - 4, y - 4)
    page.mouse.move(x, y)
    expect(page.locator(".js-plotly-plot .hoverlayer .hovertext").first).to_be_visible()
    page.mouse.click(x, y)
