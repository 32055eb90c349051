"""A real app in a process of its own, and a real Chromium that looks at it."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[2]
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without a browser these tests cannot run: said aloud, and a failure where CI must have one."""
    for item in items:
        if "tests/browser" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)
            if CHROMIUM is None and os.environ.get("CI") != "true":
                item.add_marker(pytest.mark.skip(reason="no Chromium on this machine: install chromium to run it"))


class App:
    """The served app: its address, its data folder, and `stop`."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = home / "app.log"
        self._output = self.log.open("w")
        environment = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(self.port)],
            cwd=ROOT,
            env=environment | {"COMBEE_HOME": str(home)},
            stdout=self._output,
            stderr=subprocess.STDOUT,
        )
        wait_until(self.healthy, 60, "the app to answer")

    def healthy(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"the app has ended: {self.log.read_text()[-2000:]}")
        try:
            with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=2) as answer:
                return answer.read() == b"ok"
        except (urllib.error.URLError, OSError):
            return False

    def stop(self) -> int:
        """End the app as a person would, with SIGTERM; returns its exit code."""
        self.process.terminate()
        try:
            return self.process.wait(20)
        finally:
            self._output.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    served = App(tmp_path_factory.mktemp("combee-home"))
    yield served
    served.stop()


@pytest.fixture(scope="module")
def app_url(app: App) -> str:
    return app.url


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
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
    tab.set_default_timeout(20_000)
    outside: list[str] = []
    errors: list[str] = []
    tab.on("request", lambda request: None if _inside(request.url, app) else outside.append(request.url))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    yield tab
    context.close()
    assert outside == [], "the page asked other hosts"
    assert errors == [], "a script of the page broke"


def _inside(url: str, app: App) -> bool:
    return url.startswith((app.url, app.url.replace("http", "ws", 1), "data:", "blob:"))
