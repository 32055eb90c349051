"""Comparisons through the workspace: what is put side by side, and that runs of one do not get in each other's way."""

from pathlib import Path

import pytest

from combee_core.errors import CombeeError
from combee_core.workspace import Endpoint, RunSettings, Workspace
from tests.pages.opened import bring, chat_record
from tests.served import wait_until
from tests.stand_in import StandIn


@pytest.fixture
def shop(tmp_path: Path):
    """Sixteen traces, each with a fact of its own."""
    with Workspace(tmp_path / "combee.duckdb") as workspace:
        feedback = [f"Pass field_{number} in cents, {number * 7 + 100} at most." for number in range(16)]
        bring(workspace, tmp_path, *(chat_record(n, feedback=text, success=False) for n, text in enumerate(feedback)))
        yield workspace


def compared(workspace: Workspace, settings: RunSettings, *strategies: str) -> dict[str, dict]:
    started = workspace.start_comparison(settings, strategies)
    runs = [one.run for one in started if one.run]
    for run in runs:
        workspace.wait(run)
    return {row["name"]: row for row in workspace.compare_runs(runs)["strategies"]}


def asked(server: StandIn, **chosen: object) -> RunSettings:
    return RunSettings(prompt="shop", batch=16, endpoint=Endpoint(base_url=server.url, model="stand-in"), **chosen)


def test_every_strategy_has_a_row_of_what_it_made_and_what_it_took(shop, stand_in):
    stand_in.set(drop=0.0)
    names = ("combee", "sequential", "naive", "top-k", "summary", "hierarchical-summary")
    rows = compared(shop, asked(stand_in), *names)
    assert tuple(rows) == names
    assert {row["state"] for row in rows.values()} == {"done"}
    calls = {name: row["calls"] for name, row in rows.items()}
    assert calls == {
        "combee": 16 + 4 + 1,
        "sequential": 32,
        "naive": 17,
        "top-k": 17,
        "summary": 18,
        "hierarchical-summary": 34,
    }
    assert {name: row["bullets"] for name, row in rows.items()} == {
        "combee": 16,
        "sequential": 16,
        "naive": 16,
        "top-k": 4,
        "summary": 1,
        "hierarchical-summary": 1,
    }
    assert [rows[name]["batch_sizes"] for name in ("sequential", "naive")] == [[1] * 16, [16]]
    for name, row in rows.items():
        covered = 4 if name == "top-k" else 16
        assert (row["lessons"], row["kept"], row["dropped"]) == (16, covered, 16 - covered)
        assert row["traces_covered"] == covered
        assert row["prompt_tokens"] > 0
        assert row["wall_s"] > 0
        carried = row["specificity"]["identifiers"]
        assert (carried["in_lessons"], carried["kept"]) == (16, covered)
        assert row["specificity"]["all"]["share"] == pytest.approx(covered / 16, abs=0.1)


def test_the_prompt_itself_stays_as_it_is_and_every_strategy_starts_from_its_approved_version(shop, stand_in):
    shop.learn(asked(stand_in, seed=5))
    shop.approve("shop@1", by="Ada")
    before = shop.versions("shop")
    rows = compared(shop, asked(stand_in), "combee", "naive")
    assert shop.versions("shop") == before
    assert [row["version"] for row in rows.values()] == ["shop-combee@1", "shop-naive@1"]
    first = shop.version("shop@1")
    for row in rows.values():
        version = shop.version(row["version"])
        assert (version.parent, row["settings"]["base"]) == (None, "shop@1")
        assert {bullet.id for bullet in first.playbook.bullets} <= {bullet.id for bullet in version.playbook.bullets}
        assert version.sources[first.playbook.bullets[0].id][0]["run"] == "run-1"


def test_runs_of_a_comparison_follow_one_another_and_one_that_fails_does_not_stop_the_next(shop, stand_in):
    stand_in.hold.clear()
    first, second = (one.run for one in shop.start_comparison(asked(stand_in), ["naive", "combee"]))
    wait_until(lambda: shop.run(first)["state"] == "running", 30, "the first run to start")
    assert shop.run(second)["state"] == "queued"
    shop.cancel(first)
    stand_in.hold.set()
    shop.wait(second)
    assert [shop.run(run)["state"] for run in (first, second)] == ["cancelled", "done"]
    assert shop.resume(first)
    shop.wait(first)
    assert shop.run(first)["state"] == "done"


def test_a_run_that_waits_for_its_turn_can_be_cancelled_and_resumed(shop, stand_in):
    stand_in.hold.clear()
    first, second = (one.run for one in shop.start_comparison(asked(stand_in), ["naive", "combee"]))
    wait_until(lambda: shop.run(first)["state"] == "running", 30, "the first run to start")
    shop.cancel(second)
    assert shop.wait(second, 30)
    assert [shop.run(run)["state"] for run in (first, second)] == ["running", "cancelled"]
    stand_in.hold.set()
    shop.wait(first)
    assert shop.resume(second)
    shop.wait(second)
    assert shop.run(second)["state"] == "done"


def test_offline_what_needs_a_model_is_refused_with_a_sentence_and_the_others_go_on(shop):
    refused, started = shop.start_comparison(RunSettings(prompt="shop"), ["summary", "top-k"])
    assert refused.run is None
    assert "summary needs a language model" in refused.error
    shop.wait(started.run)
    assert shop.run(started.run)["state"] == "done"
    with pytest.raises(CombeeError, match="summary needs a language model"):
        shop.start(RunSettings(prompt="shop", strategy="summary"))


def test_runs_of_one_strategy_are_told_apart_by_what_they_do_not_share(shop):
    runs = [shop.learn(RunSettings(prompt="shop", **chosen))["run"] for chosen in ({}, {"copies": 1}, {"copies": 1})]
    other = shop.learn(RunSettings(prompt="shop", strategy="naive"))["run"]
    labels = [row["label"] for row in shop.compare_runs([*runs, other])["strategies"]]
    assert labels == ["combee, copies 2", "combee, copies 1 (1)", "combee, copies 1 (2)", "naive"]


def test_what_was_varied_names_a_run_and_what_else_differs_comes_after_it(shop):
    runs = [
        one.run
        for settings in (RunSettings(prompt="shop", seed=1), RunSettings(prompt="shop", seed=2, copies=4))
        for one in shop.start_comparison(settings, ["combee", "combee:copies=1"])
    ]
    for run in runs:
        shop.wait(run)

    def labels(*some: str) -> list[str]:
        return [row["label"] for row in shop.compare_runs(some)["strategies"]]

    assert labels(*runs[:2]) == ["combee", "combee, copies 1"]
    assert labels(*runs) == [
        "combee, copies 2, seed 1",
        "combee, copies 1, seed 1",
        "combee, copies 4, seed 2",
        "combee, copies 1, seed 2",
    ]


def test_a_comparison_says_when_the_traces_were_not_the_same_and_makes_no_call(shop, stand_in, tmp_path):
    first = shop.learn(asked(stand_in))["run"]
    bring_more = tmp_path / "more"
    bring_more.mkdir()
    shop.import_paths([_one_more(bring_more)])
    second = shop.learn(asked(stand_in))["run"]
    before = stand_in.requests
    assert shop.compare_runs([first, second])["same_traces"] is False
    assert shop.compare_runs([first, first])["same_traces"] is True
    assert stand_in.requests == before
    with pytest.raises(CombeeError, match="no run run-99"):
        shop.compare_runs(["run-99"])


def test_a_name_that_leaves_no_room_for_the_strategy_is_refused_before_anything_starts(shop):
    with pytest.raises(CombeeError, match="too long a name for a comparison"):
        shop.start_comparison(RunSettings(prompt="x" * 93), ["naive", "hierarchical-summary"])
    assert shop.runs() == []


def _one_more(folder: Path) -> Path:
    path = folder / "more.jsonl"
    path.write_text('{"messages": [{"role": "user", "content": "One more"}], "feedback": "Use field_99."}\n')
    return path
