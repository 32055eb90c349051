"""Receipts and the form for tables whose columns nobody knows, as an uploader meets them."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from combee_core.importers import guess_mapping
from combee_core.workspace import Workspace
from tests.pages.opened import chat_jsonl, chat_record, html_of, open_page, primary_buttons

TABLE = (
    b"what was wanted,what came out,stars out of 5,remark\nA rye loaf,A rye loaf,5,Crisp\nA cake,A bun,1,Not a cake\n"
)


def upload(*files: tuple[str, bytes]) -> AppTest:
    at = open_page("traces.py")
    for name, content in files:
        at.file_uploader[0].upload(name, content)
    return at.run()


def pick(at: AppTest, field: str, column: str) -> None:
    next(each for each in at.selectbox if each.label == field).set_value(column)
    at.run()


def press(at: AppTest, label: str) -> None:
    next(each for each in at.button if each.label == label).click()
    at.run()


def test_columns_are_guessed_from_their_names_and_none_is_used_twice():
    assert guess_mapping(["user_question", "modelAnswer", "Expected output", "id", "comments"]) == {
        "task": "user_question",
        "answer": "modelAnswer",
        "reference": "Expected output",
        "feedback": "comments",
    }
    assert guess_mapping(["a", "b"]) == {}


def test_an_unknown_table_is_mapped_previewed_and_imported_and_its_reject_is_gone(workspace: Workspace):
    at = upload(("table.csv", TABLE))
    assert workspace.trace_counts()["total"] == 0
    assert workspace.rejects()[0] == 1
    pick(at, "Answer", "what came out")
    preview = at.dataframe[0].value
    assert list(preview["Task"]) == ["A rye loaf", "A cake"]
    assert list(preview["Answer"]) == ["A rye loaf", "A bun"]
    assert list(preview["Feedback"]) == ["Crisp", "Not a cake"]
    press(at, "Import with these columns")
    assert not at.exception
    assert [row["task"] for row in workspace.traces()[1]] == ["A rye loaf", "A cake"]
    assert workspace.rejects()[0] == 0
    assert "2 new traces" in html_of(at)


def test_while_a_table_waits_for_its_columns_naming_them_is_the_one_thing_to_do(workspace: Workspace):
    at = upload(("table.csv", TABLE), ("runs.jsonl", chat_jsonl(chat_record(1))))
    assert primary_buttons(at) == ["Import with these columns"]
    assert "say below what they mean" in html_of(at)
    press(at, "Import with these columns")
    assert primary_buttons(at) == ["Learn from 3 traces"]


def test_columns_that_were_chosen_once_are_known_for_the_next_file(workspace: Workspace):
    press(upload(("table.csv", TABLE)), "Import with these columns")
    at = upload(("later.csv", TABLE.replace(b"rye", b"wheat")))
    assert workspace.trace_counts()["total"] == 4 - 1
    assert "✓ later.csv" in html_of(at)
    assert "Change the columns" in [each.label for each in at.expander]


def test_without_a_task_nothing_can_be_imported_and_one_sentence_says_so(workspace: Workspace):
    at = upload(("table.csv", TABLE))
    pick(at, "Task", "")
    assert "Say which column is the task" in html_of(at)
    assert next(each for each in at.button if each.label == "Import with these columns").disabled


def test_the_copy_of_an_unknown_table_is_gone_when_its_receipt_is_put_away(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    at = upload(("table.csv", TABLE), ("runs.jsonl", chat_jsonl(chat_record(1))))
    assert len(list(tmp_path.glob("combee-upload-*"))) == 1
    press(at, "Put away")
    assert list(tmp_path.glob("combee-upload-*")) == []


def test_files_that_hold_no_traces_are_folded_and_not_counted(workspace: Workspace):
    job = b'{"id": "j", "config": {}, "n_total_trials": 1, "stats": {}, "started_at": "2026-01-01"}'
    at = upload(("runs.jsonl", chat_jsonl(chat_record(1))), ("result.json", job))
    html = html_of(at)
    assert "<summary>1 file that holds no traces</summary>" in html
    assert "– result.json" in html
    assert "**1 new trace from 1 file**" in [line.value for line in at.markdown]
