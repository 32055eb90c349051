"""The Overview page on an empty, a small and a large store."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from combee_core.workspace import Endpoint, RunSettings, Workspace
from pages import importing
from tests.pages.opened import bring, bring_many, chat_jsonl, chat_record, html_of, learn, open_page, primary_buttons
from tests.stand_in import StandIn


@pytest.fixture
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two small sample files in place of those that come with Combee."""
    folder = tmp_path / "samples"
    folder.mkdir()
    for name, numbers in (("one.jsonl", range(4)), ("two.jsonl", range(4, 9))):
        (folder / name).write_bytes(chat_jsonl(*map(chat_record, numbers)))
    monkeypatch.setattr(importing, "SAMPLES", folder)
    return folder


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def button(at: AppTest, label: str) -> object:
    return next(each for each in at.button if each.label == label)


def test_a_newcomer_sees_the_samples_as_the_one_primary_button(workspace: Workspace, samples: Path):
    at = open_page()
    assert not at.exception
    assert primary_buttons(at) == ["Try it with sample traces"]
    assert button(at, "Start learning").disabled
    assert button(at, "Review").disabled
    assert not button(at, "Add traces").disabled


def test_one_click_brings_the_samples_and_moves_on_to_learning(workspace: Workspace, samples: Path):
    at = open_page()
    button(at, "Try it with sample traces").click()
    at.run()
    assert not at.exception
    assert workspace.trace_counts()["total"] == 9
    assert "9 traces" in html_of(at)
    assert primary_buttons(at) == ["Start learning"]
    assert at.toast[0].value == "9 new traces from 2 files"


def test_it_says_that_no_language_model_is_in_use(workspace: Workspace):
    at = open_page()
    assert "Offline rules engine, no language model –" in [line.value for line in at.markdown]
    assert any("set one in Settings" in link.value for link in at.page_link)


def test_it_names_the_model_in_use_and_where(workspace: Workspace):
    workspace.set_endpoint(Endpoint(base_url="https://models.example/v1", model="<b>m</b>"))
    at = open_page()
    assert "Model: <strong>&lt;b&gt;m&lt;/b&gt;</strong> at models.example" in html_of(at)


def test_after_a_run_its_yield_is_shown_and_the_review_comes_next(workspace: Workspace, tmp_path: Path):
    bring(workspace, tmp_path, *map(chat_record, range(12)))
    summary = workspace.run(learn(workspace))
    at = open_page()
    assert not at.exception
    assert f"12 traces → {summary['lessons']} lessons" in html_of(at)
    assert primary_buttons(at) == ["Review shop@1"]
    runs, prompts = (table.value for table in at.dataframe)
    assert list(runs["Run"]) == ["run-1"]
    assert list(prompts["Approved"]) == ["none"]
    assert list(prompts["To review"]) == ["shop@1"]


def test_after_approval_the_approved_version_is_what_one_gets(workspace: Workspace, tmp_path: Path):
    bring(workspace, tmp_path, *map(chat_record, range(12)))
    learn(workspace)
    version = workspace.version("shop@1")
    workspace.review.accept_rest(version, "Ada")
    workspace.approve("shop@1", "Ada")
    at = open_page()
    assert primary_buttons(at) == ["Get shop@1"]
    assert list(at.dataframe[1].value["Approved"]) == ["shop@1"]


def test_a_live_run_is_what_one_watches(workspace: Workspace, tmp_path: Path, stand_in: StandIn):
    bring(workspace, tmp_path, *map(chat_record, range(12)))
    stand_in.hold.clear()
    endpoint = Endpoint(base_url=stand_in.url, model="stand-in")
    run = workspace.start(RunSettings(prompt="shop", endpoint=endpoint))
    wait_until(lambda: stand_in.in_flight == 12)
    at = open_page()
    assert not at.exception
    assert primary_buttons(at) == [f"Watch {run}"]
    assert at.progress[0].text.startswith("Iteration 1 of 1: 0 of ")
    stand_in.hold.set()
    assert workspace.wait(run, 60)
    assert primary_buttons(open_page()) == ["Review shop@1"]


def test_a_cancelled_run_is_what_one_goes_on_with(workspace: Workspace, tmp_path: Path, stand_in: StandIn):
    bring(workspace, tmp_path, *map(chat_record, range(12)))
    stand_in.hold.clear()
    endpoint = Endpoint(base_url=stand_in.url, model="stand-in")
    run = workspace.start(RunSettings(prompt="shop", endpoint=endpoint))
    wait_until(lambda: stand_in.in_flight == 12)
    workspace.cancel(run)
    assert workspace.wait(run, 60)
    stand_in.hold.set()
    at = open_page()
    assert primary_buttons(at) == [f"Go on with {run}"]
    assert f"{run} cancelled" in html_of(at)


def test_the_share_of_success_counts_known_outcomes_only(workspace: Workspace, tmp_path: Path):
    unknown = [{"messages": chat_record(90 + number)["messages"]} for number in range(3)]
    bring(workspace, tmp_path, *map(chat_record, range(6)), *unknown)
    assert "33% of 6 with a known outcome succeeded" in html_of(open_page())


def test_a_file_name_with_html_in_it_is_shown_as_text(workspace: Workspace, tmp_path: Path):
    file = tmp_path / "<img src=x>.jsonl"
    file.write_bytes(chat_jsonl(chat_record(1)))
    workspace.import_paths([file])
    html = html_of(open_page())
    assert "&lt;img src=x&gt;.jsonl" in html
    assert "<img" not in html


def test_a_hundred_thousand_traces_are_counted_like_a_hundred(workspace: Workspace):
    bring_many(workspace, 100_000)
    at = open_page()
    assert not at.exception
    assert "100,000 traces" in html_of(at)
    assert "25% of 100,000 with a known outcome succeeded" in html_of(at)
