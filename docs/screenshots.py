"""Takes the screenshots of the README: every page, light and dark, on the sample traces.

    python docs/screenshots.py

Needs Chromium. The runs come from the offline rules engine and from the stand-in server of the tests, which makes its
answers by rules: no language model is in the pictures.
"""

import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
# Traces show the path that was given: a relative one is the same on every machine.
os.chdir(ROOT)

from playwright.sync_api import Page, sync_playwright  # noqa: E402  (found only once the root is on the path)

from combee_core.llm.endpoint import Endpoint  # noqa: E402
from combee_core.workspace import RunSettings, TraceFilter, Workspace  # noqa: E402
from tests.browser.conftest import CHROMIUM, FLAGS  # noqa: E402
from tests.served import App  # noqa: E402
from tests.stand_in import StandIn  # noqa: E402

PAGES = {
    "overview": "",
    "traces": "traces",
    "trace": "traces?trace={trace}",
    "learn": "learn",
    "merges": "merges?run=run-2&iteration=1&node=i1.m1.3",
    "batch-size": "batch_size?run=run-3",
    "compare": "compare?runs=run-4,run-5,run-6",
    "prompts": "prompts?version=support@1",
    "settings": "settings",
}


def prepare(home: Path) -> str:
    """A workspace with the sample traces and two runs; the id of a trace worth showing."""
    with Workspace(home / "combee.duckdb") as workspace, StandIn() as server:
        workspace.import_paths(sorted(Path("sample_data").glob("*.jsonl")))
        chats = TraceFilter(format="openai-chat")
        workspace.learn(RunSettings(prompt="support", batch=40), chats)
        server.set(drop=0.15)
        endpoint = Endpoint(base_url=server.url, model="stand-in")
        workspace.learn(RunSettings(prompt="all-agents", batch=120, recheck=False, endpoint=endpoint))
        server.set(drop=0.0, latency=0.1, per_token=0.0002)
        workspace.learn(RunSettings(prompt="automatic", batch="auto", parallel=64, endpoint=endpoint))
        server.set(latency=0.05)
        settings = RunSettings(prompt="support", batch=40, recheck=False, endpoint=endpoint)
        for one in workspace.start_comparison(settings, ["combee", "sequential", "top-k"], chats):
            workspace.wait(one.run or "")
        return str(workspace.traces(TraceFilter(format="openai-chat", outcome="failure"))[1][0]["id"])


def take(page: Page, url: str, target: Path) -> None:
    """One picture, once the page has come to rest."""
    page.goto(url)
    page.wait_for_selector('[data-testid="stMainBlockContainer"]')
    page.wait_for_function("!document.querySelector('[data-testid=stStatusWidget]')")
    page.wait_for_function("!document.querySelector('[data-testid=stSkeleton]')")
    page.wait_for_timeout(2_500)
    page.screenshot(path=target)


def main() -> None:
    """Write `docs/PAGE-light.png` and `docs/PAGE-dark.png` for every page."""
    with tempfile.TemporaryDirectory() as folder:
        trace = prepare(Path(folder))
        app = App(Path(folder))
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS)
                for scheme in ("light", "dark"):
                    context = browser.new_context(
                        color_scheme="dark" if scheme == "dark" else "light", viewport={"width": 1360, "height": 850}
                    )
                    page = context.new_page()
                    for name, path in PAGES.items():
                        take(page, f"{app.url}/{path.format(trace=trace)}", ROOT / "docs" / f"{name}-{scheme}.png")
                browser.close()
        finally:
            app.stop()


if __name__ == "__main__":
    main()
