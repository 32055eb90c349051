"""The Settings page: the model in use, its test, the key that is never stored, the small preferences."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from combee_core.workspace import Endpoint, Workspace
from tests.pages.opened import HOSTILE, bring_many, chat_record, html_of, open_page, primary_buttons
from tests.pages.opened import bring as bring_records
from tests.stand_in import Behaviour, StandIn

PAGE = "settings.py"
KEY = "sk-never-on-disk-5f3a"


def press(at: AppTest, label: str) -> AppTest:
    next(each for each in at.button if each.label == label).click()
    return at.run()


def fill(at: AppTest, base_url: str, model: str = "", key: str = "") -> AppTest:
    at.get_by_key("settings_base_url").set_value(base_url)
    at.run()
    if key:
        at.get_by_key("settings_key").set_value(key)
    if model:
        box = at.get_by_key("settings_model")
        box.options.append(model)  # as a reader does who types a name that is not in the list
        box.set_value(model)
    return at.run()


def test_at_first_the_offline_rules_engine_is_in_use(workspace: Workspace):
    at = open_page(PAGE)
    assert not at.exception
    assert "<strong>Offline rules engine</strong><span>no language model in use</span>" in html_of(at)
    assert primary_buttons(at) == ["Use this model"]
    assert "Use the offline rules engine" not in [each.label for each in at.button]


def test_a_preset_fills_in_address_and_model(workspace: Workspace):
    at = open_page(PAGE)
    at.get_by_key("settings_preset").set_value("OpenAI")
    at.run()
    assert at.get_by_key("settings_base_url").value == "https://api.openai.com/v1"
    assert at.get_by_key("settings_model").value == "gpt-4o-mini"


def test_a_browser_that_knows_nothing_yet_of_the_preset_leaves_what_was_typed(workspace: Workspace):
    at = fill(open_page(PAGE), "http://localhost:9/v1")
    # Who types fast sends the model before the answer to the address has come: the preset is then not in the message.
    at.get_by_key("settings_preset").set_value(None)
    at = fill(at, "http://localhost:9/v1", "small")
    assert at.get_by_key("settings_base_url").value == "http://localhost:9/v1"
    assert at.get_by_key("settings_model").value == "small"
    assert at.get_by_key("settings_preset").value == "Another address"


def test_a_model_can_be_set_and_given_up_again(workspace: Workspace):
    at = press(fill(open_page(PAGE), "http://localhost:9/v1", "small"), "Use this model")
    assert workspace.endpoint() == Endpoint(base_url="http://localhost:9/v1", model="small")
    assert "<strong>small</strong><span>at http://localhost:9/v1</span><span>no key</span>" in html_of(at)
    at = press(at, "Use the offline rules engine")
    assert workspace.endpoint() is None
    assert "<strong>Offline rules engine</strong>" in html_of(at)


def test_time_out_and_attempts_are_stored_and_the_rest_of_the_endpoint_is_kept(workspace: Workspace):
    workspace.set_endpoint(Endpoint(base_url="http://localhost:9/v1", model="small", temperature=None))
    at = open_page(PAGE)
    at.get_by_key("settings_timeout").set_value(30.0)
    at.get_by_key("settings_attempts").set_value(2)
    press(at.run(), "Use this model")
    assert workspace.endpoint() == Endpoint(
        base_url="http://localhost:9/v1", model="small", temperature=None, timeout_s=30.0, max_attempts=2
    )


def test_a_model_for_embeddings_is_stored_with_the_endpoint_and_can_be_left_out_again(workspace: Workspace):
    for name in ("embed-small", ""):
        workspace.set_endpoint(Endpoint(base_url="http://localhost:9/v1", model="small", embedding_model="old"))
        at = open_page(PAGE)
        at.get_by_key("settings_embedding_model").set_value(f" {name} ")
        press(at.run(), "Use this model")
        assert workspace.endpoint().embedding_model == (name or None)


@pytest.mark.parametrize(
    ("base_url", "model", "sentence"),
    [
        ("localhost:9/v1", "small", "localhost:9/v1 is no address: a base URL starts with http:// or https://."),
        ("", "small", "Nothing is no address"),
        ("http://localhost:9/v1", "", "No model is named"),
    ],
)
def test_what_cannot_be_used_gets_one_sentence_and_is_not_stored(
    workspace: Workspace, base_url: str, model: str, sentence: str
):
    at = press(fill(open_page(PAGE), base_url, model), "Use this model")
    assert not at.exception
    assert sentence in html_of(at)
    assert workspace.endpoint() is None


def test_a_typed_key_serves_the_session_on_every_page_and_is_stored_nowhere(workspace: Workspace):
    at = fill(open_page(PAGE), "http://localhost:9/v1", "small", KEY)
    at = press(at, "Use this model")
    assert "key typed for this session" in html_of(at)
    at.switch_page("overview.py").run()
    assert at.session_state["api_key"] == KEY
    at.switch_page(PAGE).run()
    assert at.get_by_key("settings_key").value == KEY
    files = list(workspace.path.parent.iterdir())
    assert files
    assert not any(KEY.encode() in file.read_bytes() for file in files)


def test_the_key_of_the_environment_is_said_to_be_in_use(workspace: Workspace, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    workspace.set_endpoint(Endpoint(base_url="http://localhost:9/v1", model="small"))
    html = html_of(open_page(PAGE))
    assert "key from OPENAI_API_KEY" in html
    assert KEY not in html


def test_a_test_of_the_connection_lists_the_models_and_then_tells_the_latency(workspace: Workspace, stand_in: StandIn):
    stand_in.behaviour = Behaviour(models=("large", "small"), key=KEY)
    at = press(fill(open_page(PAGE), stand_in.url, key=KEY), "Test connection")
    assert f"✓ {stand_in.url} lists 2 models" in html_of(at)
    assert at.get_by_key("settings_model").options == ["large", "small"]
    assert "large\nsmall" in [code.value for code in at.code]
    at = press(fill(at, stand_in.url, "small"), "Test connection")
    assert "✓ small answers in" in html_of(at)


def test_a_wrong_key_is_said_in_one_sentence(workspace: Workspace, stand_in: StandIn):
    stand_in.behaviour = Behaviour(key=KEY)
    at = press(fill(open_page(PAGE), stand_in.url, key="wrong-one"), "Test connection")
    assert not at.exception
    html = html_of(at)
    assert "✕ " in html
    assert "key" in html
    assert "wrong-one" not in html


def test_nobody_at_the_address_is_said_in_one_sentence(workspace: Workspace):
    at = press(fill(open_page(PAGE), "http://127.0.0.1:9/v1", "small"), "Test connection")
    assert not at.exception
    assert "✕ " in html_of(at)
    assert "http://127.0.0.1:9/v1" in html_of(at)


def test_the_result_of_a_test_goes_when_the_address_changes(workspace: Workspace, stand_in: StandIn):
    at = press(fill(open_page(PAGE), stand_in.url), "Test connection")
    assert "lists" in html_of(at)
    at = fill(at, "http://localhost:9/v1")
    assert "lists" not in html_of(at)


def test_hostile_model_names_stay_text(workspace: Workspace, stand_in: StandIn):
    stand_in.behaviour = Behaviour(models=(HOSTILE,))
    at = press(fill(open_page(PAGE), stand_in.url, HOSTILE), "Use this model")
    html = html_of(at)
    assert "&lt;img src=" in html
    assert "<img" not in html


def test_the_reviewers_name_is_kept(workspace: Workspace):
    at = open_page(PAGE)
    at.get_by_key("settings_reviewer").set_value("  Ada Lovelace ")
    at.run()
    assert workspace.preference("reviewer") == "Ada Lovelace"
    assert open_page(PAGE).get_by_key("settings_reviewer").value == "Ada Lovelace"


def test_defaults_for_runs_are_kept_and_the_others_stay_as_they_are(workspace: Workspace):
    at = open_page(PAGE)
    assert at.get_by_key("settings_batch").value == 32
    at.get_by_key("settings_batch").set_value(64)
    at.run()
    assert workspace.preference("run_defaults") == {"batch": 64, "parallel": 16, "copies": 2, "epochs": 1, "seed": 0}
    assert open_page(PAGE).get_by_key("settings_batch").value == 64


@pytest.mark.parametrize("number", [3, 100_000])
def test_the_data_folder_and_its_size_are_shown(workspace: Workspace, tmp_path: Path, number: int):
    if number > 1000:
        bring_many(workspace, number)
    else:
        bring_records(workspace, tmp_path, *map(chat_record, range(number)))
    at = open_page(PAGE)
    assert str(workspace.path.parent) in [code.value for code in at.code]
    assert f" MB with {number:,} traces and 0 runs." in at.caption[-1].value
