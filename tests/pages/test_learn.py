"""The Learn page on an empty, a small and a large store: plan, start, watch, cancel, resume, and what came of it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from combee_core.engine.events import NodeSettled
from combee_core.engine.host import Host
from combee_core.engine.progress import Progress
from combee_core.store.runs import NodeRow, Runs
from combee_core.workspace import Endpoint, RunSettings, Workspace
from pages.run_view import held_line
from tests.pages.opened import HOSTILE, bring, bring_many, chat_record, html_of, learn, open_page, primary_buttons
from tests.served import wait_until
from tests.stand_in import StandIn

PAGE = "learn.py"


def text_of(at: AppTest) -> str:
    """Everything that the page says outside of tables and fields."""
    said = [*at.markdown, *at.caption, *at.text, *at.success, *at.info, *at.warning, *at.error, *at.html]
    return "\n".join([*(each.value for each in said), *(bar.text for bar in at.progress)])


def number(at: AppTest, label: str):
    return next(each for each in at.number_input if each.label == label)


def open_with_name(name: str) -> AppTest:
    """The page with a new name typed into its first field, which AppTest itself cannot."""
    at = open_page()
    at.session_state["learn_prompt"] = name
    return at.switch_page(PAGE).run()


@pytest.fixture
def shop(workspace: Workspace, tmp_path: Path) -> Workspace:
    """Thirty traces, ten of them successes."""
    bring(workspace, tmp_path, *map(chat_record, range(30)))
    return workspace


@pytest.fixture
def held(shop: Workspace, stand_in: StandIn) -> Iterator[StandIn]:
    """An endpoint in use that answers nothing until it is let go."""
    stand_in.hold.clear()
    shop.set_endpoint(Endpoint(base_url=stand_in.url, model="stand-in"))
    yield stand_in
    stand_in.hold.set()


def ended(workspace: Workspace, run: str) -> Callable[[], bool]:
    return lambda: workspace.run(run)["state"] not in ("queued", "running")


# Nothing there


def test_without_traces_the_page_leads_to_where_they_come_from(workspace: Workspace) -> None:
    at = open_page(PAGE)
    assert not at.exception
    assert "No traces yet" in text_of(at)
    assert primary_buttons(at) == ["Bring traces"]
    assert not at.number_input


def test_an_address_that_names_no_run_says_so(shop: Workspace) -> None:
    at = open_page(PAGE, run="run-99")
    assert not at.exception
    assert "There is no run run-99" in text_of(at)
    at.button[0].click().run()
    assert "Start learning" in primary_buttons(at)


# The plan


def test_the_plan_tells_its_tree_and_that_no_model_is_in_use(shop: Workspace) -> None:
    at = open_page(PAGE)
    assert not at.exception
    said = text_of(at)
    assert "30 reflections → 5 groups of 12 copies → 1 final merge" in said
    assert "30 traces in batches of 30: this tree once." in said
    assert "Offline rules engine, no language model" in said
    assert primary_buttons(at) == ["Start learning"]


def test_the_plan_follows_the_fields(shop: Workspace) -> None:
    at = open_page(PAGE)
    number(at, "Batch size").set_value(16).run()
    number(at, "Copies").set_value(3).run()
    number(at, "Groups").set_value(8).run()
    said = text_of(at)
    assert "16 reflections → 8 groups of 6 copies → 1 final merge" in said
    assert "30 traces in batches of 16, the last one of 14: 2 such trees, one after the other." in said


def test_a_filter_counts_its_traces_and_one_that_matches_none_cannot_start(shop: Workspace) -> None:
    at = open_page(PAGE)
    at.segmented_control(key="learn_traces").set_value("Some").run()
    at.selectbox(key="learn_outcome").set_value("Success").run()
    assert "10 of 30 traces" in text_of(at)
    at.text_input(key="learn_text").set_value("no such words").run()
    assert not at.exception
    assert "No trace matches this filter: widen it." in text_of(at)
    assert at.button(key="learn_start").disabled


def test_a_run_learns_from_the_traces_of_the_filter_with_the_settings_of_the_form(shop: Workspace) -> None:
    at = open_with_name("refunds")
    at.segmented_control(key="learn_traces").set_value("Some").run()
    at.selectbox(key="learn_outcome").set_value("Failure").run()
    for label, value in {"Batch size": 8, "Parallel": 4, "Copies": 3, "Epochs": 2, "Seed": 7, "Fan-in": 2}.items():
        number(at, label).set_value(value).run()
    at.segmented_control(key="learn_shuffle").set_value("Plain").run()
    for label, value in {"Fewest traces a bullet": 2, "Tokens of the prompt": 900}.items():
        number(at, label).set_value(value).run()
    at.segmented_control(key="learn_lessons_left_out").set_value("As in the paper").run()
    at.button(key="learn_start").click().run()
    assert not at.exception
    run = shop.run(at.query_params["run"])
    assert (run["prompt"], run["traces"]) == ("refunds", 20)
    expected = RunSettings(
        prompt="refunds",
        batch=8,
        parallel=4,
        copies=3,
        epochs=2,
        seed=7,
        fan_in=2,
        shuffle="plain",
        recheck=False,
        retain="off",
        min_support=2,
        playbook_tokens=900,
        fold_twins=False,
    )
    assert RunSettings.model_validate(run["settings"]) == expected


def test_the_flow_of_a_run_is_set_under_advanced(shop: Workspace) -> None:
    at = open_with_name("refunds")
    number(at, "Batch size").set_value(10).run()
    for label, value in {"Tokens of a merge": 4_000, "Hedge after percent": 95, "Quorum in percent": 90}.items():
        number(at, label).set_value(value).run()
    for key in ("learn_overlap_batches", "learn_second_chance"):
        at.checkbox(key=key).check().run()
    at.button(key="learn_start").click().run()
    assert not at.exception
    run = at.query_params["run"]
    assert shop.wait(run, 60)
    row = shop.run(run)
    flow = {"token_budget": 4_000, "hedge": 95, "quorum": 0.9, "staleness": 1, "second_chance": True}
    assert {name: row["settings"][name] for name in flow} == flow
    assert row["state"] == "done"


def test_a_run_is_given_a_model_for_embeddings_under_advanced(shop: Workspace, stand_in: StandIn) -> None:
    at = open_with_name("refunds")
    assert "Embedding model" not in [field.label for field in at.text_input], "no endpoint, no embeddings"
    shop.set_endpoint(Endpoint(base_url=stand_in.url, model="stand-in", embedding_model="usual"))
    stand_in.set(refuses=("embeddings",))
    at = open_with_name("refunds")
    (field,) = [field for field in at.text_input if field.label == "Embedding model"]
    assert field.value == "usual"
    field.set_value("another").run()
    at.button(key="learn_start").click().run()
    assert not at.exception
    run = at.query_params["run"]
    assert shop.wait(run, 60)
    assert shop.run(run)["settings"]["endpoint"]["embedding_model"] == "another"
    assert shop.endpoint().embedding_model == "usual", "of this run alone"
    at.run()
    assert "knows no model another" in text_of(at)


def test_overlapping_batches_of_an_automatic_size_are_refused_with_a_sentence(shop: Workspace) -> None:
    at = open_with_name("refunds")
    at.checkbox(key="learn_overlap_batches").check().run()
    at.checkbox(key="learn_automatic").check().run()
    assert not at.exception
    assert "one iteration after the other" in text_of(at)
    assert at.button(key="learn_start").disabled


def test_a_name_that_cannot_be_used_is_explained_and_does_not_start(shop: Workspace) -> None:
    at = open_with_name("my prompt!")
    assert not at.exception
    assert "cannot be a prompt's name" in text_of(at)
    assert at.button(key="learn_start").disabled


def test_the_form_begins_with_the_defaults_of_the_settings(shop: Workspace) -> None:
    shop.set_preference("run_defaults", {"batch": 10, "copies": 1})
    at = open_page(PAGE)
    assert (number(at, "Batch size").value, number(at, "Copies").value) == (10, 1)


def test_a_run_may_start_from_any_version_and_does_from_the_latest_approved_one(shop: Workspace) -> None:
    learn(shop)
    learn(shop)
    shop.approve("shop@1", "Ana")
    at = open_page(PAGE)
    base = at.selectbox(key="learn_base:shop:1")
    assert base.options == ["shop@1, the latest approved", "shop@2", "shop@1"]
    base.set_value("shop@2").run()
    at.button(key="learn_start").click().run()
    assert shop.run(at.query_params["run"])["settings"]["base"] == "shop@2"


def test_with_a_model_calls_and_tokens_are_estimated_and_what_is_unknown_is_said(held: StandIn) -> None:
    said = html_of(open_page(PAGE))
    for name, value in {"Calls": "36", "Cost": "unknown", "Time": "unknown"}.items():
        assert f'<div class="cb-fact-name">{name}</div><div class="cb-fact">{value}</div>' in said


def test_once_a_call_was_measured_the_time_is_known_and_what_one_by_one_would_take(
    shop: Workspace, stand_in: StandIn
) -> None:
    shop.set_endpoint(Endpoint(base_url=stand_in.url, model="stand-in"))
    shop.learn(RunSettings(prompt="shop", endpoint=shop.endpoint()))
    at = open_page(PAGE)
    assert "Learning one trace after the other would take" in text_of(at)


def test_a_key_typed_here_is_sent_and_never_stored(held: StandIn, shop: Workspace) -> None:
    held.hold.set()
    held.set(key="sk-for-this-session")
    at = open_page(PAGE)
    at.text_input(key="learn_key").set_value("sk-for-this-session").run()
    at.button(key="learn_start").click().run()
    run = at.query_params["run"]
    assert shop.wait(run, 30)
    assert shop.run(run)["state"] == "done"
    assert "sk-for-this-session" not in repr(shop._database.rows("select * from settings, runs"))
    assert b"sk-for-this-session" not in shop.path.read_bytes()


# While it runs and after


def test_a_run_is_started_once_and_ends_in_one_line_and_the_review(shop: Workspace) -> None:
    at = open_page(PAGE)
    at.button(key="learn_start").click().run()
    assert not at.exception
    run = at.query_params["run"]
    assert shop.wait(run, 30)
    at.run()
    assert len(shop.runs()) == 1
    result = at.success[0].value
    assert result.startswith("30 traces → ")
    assert "my-agent@1 with" in result
    assert primary_buttons(at) == ["Review the changes"]
    at.button(key="learn_review").click().run()
    assert at.query_params["version"] == "my-agent@1"


def test_while_it_runs_bars_calls_in_flight_and_cancel_are_there_and_a_cancelled_run_goes_on(
    held: StandIn, shop: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = open_page(PAGE)
    at.button(key="learn_start").click().run()
    run = at.query_params["run"]
    wait_until(lambda: held.in_flight == 16, 20, "calls in flight")
    at.run()
    assert not at.exception
    assert [bar.text for bar in at.progress] == ["Reflections 0 of 30", "Group merges 0 of 5", "Final merge 0 of 1"]
    assert '<div class="cb-fact">16 / 16</div>' in html_of(at)
    with monkeypatch.context() as patch:
        patch.setattr(Host, "_cancel", lambda *_: None)
        at.button(key="learn_cancel").click().run()
        button = at.button(key="learn_cancel")
        assert (button.label, button.disabled) == ("Stopping …", True)
    shop.cancel(run)
    wait_until(ended(shop, run), 20, "the run to stop")
    at.run()
    assert f"{run} was cancelled" in text_of(at)
    held.hold.set()
    at.button(key="learn_resume").click().run()
    assert shop.wait(run, 30)
    at.run()
    assert shop.run(run)["state"] == "done"
    assert primary_buttons(at) == ["Review the changes"]


def test_leaving_and_coming_back_goes_on_with_the_run_until_its_end_was_seen(held: StandIn, shop: Workspace) -> None:
    at = open_page(PAGE)
    at.button(key="learn_start").click().run()
    run = at.query_params["run"]
    for page in ("settings.py", PAGE):
        at.query_params.clear()
        at.switch_page(page).run()
    assert at.query_params["run"] == run
    assert "Reflections" in text_of(at)
    held.hold.set()
    assert shop.wait(run, 30)
    at.run()
    assert at.success
    for page in ("settings.py", PAGE):
        at.query_params.clear()
        at.switch_page(page).run()
    assert primary_buttons(at) == ["Start learning"]


def test_another_tab_sees_the_same_run_and_can_look_into_its_merges(held: StandIn, shop: Workspace) -> None:
    at = open_page(PAGE)
    at.button(key="learn_start").click().run()
    other = open_page(PAGE, run=at.query_params["run"])
    assert not other.exception
    assert "Reflections" in text_of(other)
    assert [link.label for link in other.get("page_link")] == ["Look into merges"]


@pytest.mark.parametrize("state", ["failed", "interrupted", "cancelled"])
def test_a_run_that_stopped_says_why_and_how_far_it_came_and_offers_to_resume(shop: Workspace, state: str) -> None:
    runs = Runs(shop._database)
    settings = RunSettings(prompt="shop").model_dump(mode="json")
    run = runs.create("shop", settings, shop.trace_ids(), None)
    runs.add_nodes(run, [NodeRow("i1.r1", 1, "reflection", 0, 0, (), "done", {"lessons": []}, 1.0)])
    runs.set_state(run, state, "The endpoint refused the key." if state == "failed" else None)
    at = open_page(PAGE, run=run)
    assert not at.exception
    assert f"{run} " in text_of(at)
    assert "Reflections 1 of 30" in text_of(at)
    assert ("The endpoint refused the key." in text_of(at)) == (state == "failed")
    assert primary_buttons(at) == ["Resume"]


def test_a_run_that_stopped_at_its_budget_says_which(shop: Workspace, stand_in: StandIn) -> None:
    shop.set_endpoint(Endpoint(base_url=stand_in.url, model="stand-in"))
    at = open_page(PAGE)
    number(at, "Most calls").set_value(5).run()
    at.button(key="learn_start").click().run()
    assert shop.wait(at.query_params["run"], 30)
    at.run()
    assert "stopped at its budget" in text_of(at)
    assert "The budget of 5 calls is used up." in text_of(at)


def test_a_budget_of_tokens_can_be_set_on_the_page(shop: Workspace, stand_in: StandIn) -> None:
    shop.set_endpoint(Endpoint(base_url=stand_in.url, model="stand-in"))
    at = open_page(PAGE)
    number(at, "Most tokens").set_value(1).run()
    at.button(key="learn_start").click().run()
    assert shop.wait(at.query_params["run"], 30)
    at.run()
    assert "stopped at its budget" in text_of(at)
    assert stand_in.requests == 0


def test_failed_calls_are_told_by_kind(shop: Workspace, stand_in: StandIn) -> None:
    stand_in.set(faults={"429": 0.5})
    shop.set_endpoint(Endpoint(base_url=stand_in.url, model="stand-in", backoff_s=0))
    run = shop.learn(RunSettings(prompt="shop", endpoint=shop.endpoint()))
    assert run["failed_calls"]
    assert f"{run['failed_calls']} calls without a usable answer: rate limited" in text_of(
        open_page(PAGE, run=run["run"])
    )


def test_lessons_as_they_come_in_are_text_and_never_markup(held: StandIn, shop: Workspace, tmp_path: Path) -> None:
    record = chat_record(99, feedback=HOSTILE, success=False)
    (tmp_path / "more").mkdir()
    bring(shop, tmp_path / "more", record)
    at = open_page(PAGE)
    at.button(key="learn_start").click().run()
    run = at.query_params["run"]
    shop._host.events.emit(run, NodeSettled("i1.r1", 1, "reflection", "done", lessons=(HOSTILE,)))
    at.run()
    lessons = next(each.value for each in at.html if "evil.example" in each.value)
    assert "<img" not in lessons
    assert "<script" not in lessons
    assert "&lt;script&gt;" in lessons
    assert not any("evil.example" in each.value for each in at.markdown)


def test_other_runs_are_listed_without_the_one_that_is_shown(shop: Workspace) -> None:
    runs = [learn(shop), learn(shop)]
    assert list(open_page(PAGE).dataframe[0].value["Run"]) == runs[::-1]
    assert list(open_page(PAGE, run=runs[0]).dataframe[0].value["Run"]) == [runs[1]]


# A large store


def test_a_large_store_is_planned_in_batches(workspace: Workspace) -> None:
    bring_many(workspace, 20_000)
    at = open_page(PAGE)
    assert not at.exception
    number(at, "Batch size").set_value(1000).run()
    assert "1,000 reflections → 31 groups of 64–65 copies → 1 final merge" in text_of(at)
    assert "20 such trees" in text_of(at)


def test_an_automatic_batch_size_is_planned_and_run(shop: Workspace) -> None:
    at = open_page(PAGE)
    at.checkbox(key="learn_automatic").check().run()
    assert number(at, "Batch size").disabled
    assert "batches that the delays decide on" in text_of(at)
    at.button(key="learn_start").click().run()
    (row,) = shop.runs()
    assert shop.wait(row["id"], 60)
    assert row["settings"]["batch"] == "auto"
    assert shop.run(row["id"])["state"] == "done"


def test_a_cap_that_holds_calls_back_is_named():
    said = held_line(Progress(held_back=3, held_by="tpm"), {"rpm": None, "tpm": 90_000})
    assert said == "3 calls held back by the cap of 90,000 tokens a minute"
