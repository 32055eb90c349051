"""The Traces page on an empty, a small and a large store: bringing traces in, finding them, reading one."""

import gzip
import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from combee_core.store.traces import TraceFilter
from combee_core.workspace import Workspace
from tests.pages.opened import (
    HOSTILE,
    bring,
    bring_many,
    chat_jsonl,
    chat_record,
    html_of,
    learn,
    open_page,
    primary_buttons,
)

PAGE = "traces.py"


def upload(at: AppTest, *files: tuple[str, bytes]) -> AppTest:
    for name, content in files:
        at.file_uploader[0].upload(name, content)
    return at.run()


def button(at: AppTest, label: str):
    return next(each for each in at.button if each.label == label)


def tasks(at: AppTest) -> list[str]:
    return list(at.dataframe[0].value["Task"])


# Bringing traces in


def test_an_empty_store_offers_the_samples_and_shows_no_table(workspace: Workspace):
    at = open_page(PAGE)
    assert not at.exception
    assert primary_buttons(at) == ["Try it with sample traces"]
    assert len(at.dataframe) == 0


def test_an_upload_gets_a_receipt_with_format_and_reason_and_is_listed(workspace: Workspace):
    at = upload(open_page(PAGE), ("runs.jsonl", chat_jsonl(*map(chat_record, range(5)))))
    assert not at.exception
    html = html_of(at)
    assert "✓ runs.jsonl" in html
    assert "5 new traces" in html
    assert "Read as openai-chat: line 1 has &quot;messages&quot;" in html
    assert tasks(at) == [f"Refund order {number}" for number in range(5)]
    assert primary_buttons(at) == ["Learn from 5 traces"]


def test_after_an_upload_the_widget_lets_go_of_the_file_and_reads_it_once(workspace: Workspace):
    at = open_page(PAGE)
    before = at.file_uploader[0].key
    at = upload(at, ("runs.jsonl", chat_jsonl(chat_record(1))))
    assert at.file_uploader[0].key != before
    assert at.file_uploader[0].value == []
    at.run()
    assert len(workspace.imports()) == 1


def test_the_copy_of_an_upload_is_removed_when_it_has_been_read(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    upload(open_page(PAGE), ("runs.jsonl", chat_jsonl(chat_record(1))))
    assert workspace.trace_counts()["total"] == 1
    assert list(tmp_path.iterdir()) == []


def test_several_files_go_in_together_and_known_traces_count_as_duplicates(workspace: Workspace):
    first, second = chat_jsonl(*map(chat_record, range(4))), chat_jsonl(*map(chat_record, range(2, 7)))
    at = upload(open_page(PAGE), ("a.jsonl", first), ("b.jsonl", second))
    assert "**7 new traces, 2 duplicates from 2 files**" in [line.value for line in at.markdown]
    assert "<span>3 new traces</span><span>2 duplicates</span>" in html_of(at)


def test_a_bad_record_is_rejected_with_line_and_reason_and_the_good_ones_go_in(workspace: Workspace):
    content = chat_jsonl(chat_record(1)) + b'{"messages": [oops\n' + chat_jsonl(chat_record(2))
    at = upload(open_page(PAGE), ("mixed.jsonl", content))
    assert workspace.trace_counts()["total"] == 2
    assert '<a href="traces?view=rejects&amp;import=1" target="_blank">1 rejected</a>' in html_of(at)
    button(at, "Show rejects").click()
    at.run()
    html = html_of(at)
    assert "<strong>mixed.jsonl</strong><span>line 2</span>" in html
    assert "It is not valid JSON" in html
    assert "<pre>{&quot;messages&quot;: [oops" in html
    assert at.query_params["view"] == "rejects"
    assert at.query_params["import"] == "1"


def test_a_file_that_is_no_trace_file_gets_one_sentence(workspace: Workspace):
    at = upload(open_page(PAGE), ("notes.txt", b"just some words\n" * 5))
    assert not at.exception
    html = html_of(at)
    assert "✕ notes.txt" in html
    assert "notes.txt holds no traces that Combee can read" in html


def test_a_path_on_this_machine_is_read_in_place(workspace: Workspace, tmp_path: Path):
    file = tmp_path / "large.jsonl"
    file.write_bytes(chat_jsonl(*map(chat_record, range(3))))
    at = open_page(PAGE)
    at.text_input[0].set_value(f' "{file}" ')
    button(at, "Import").click()
    at.run()
    assert workspace.trace_counts()["total"] == 3
    assert str(file) in html_of(at)


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_path_without_anything_to_read_gets_one_sentence(workspace: Workspace, tmp_path: Path, name: str):
    at = open_page(PAGE)
    at.text_input[0].set_value(str(tmp_path / name))
    button(at, "Import").click()
    at.run()
    assert not at.exception
    assert html_of(at).count(f"✕ {tmp_path / name}") == 1


def test_receipts_stay_until_they_are_put_away(workspace: Workspace):
    at = upload(open_page(PAGE), ("runs.jsonl", chat_jsonl(chat_record(1))))
    at.run()
    assert "✓ runs.jsonl" in html_of(at)
    button(at, "Put away").click()
    at.run()
    assert "✓ runs.jsonl" not in html_of(at)


# Finding them


@pytest.fixture
def small(workspace: Workspace, tmp_path: Path) -> list[str]:
    """Twelve traces, four of them successes; their ids in order."""
    return bring(workspace, tmp_path, *map(chat_record, range(12)))


def test_the_table_shows_outcome_score_steps_format_and_place(small: list[str]):
    row = open_page(PAGE).dataframe[0].value.iloc[1]
    assert list(row["Outcome"]) == ["✕ failure"]
    assert (row["Score"], row["Steps"], row["Format"]) == ("0.25", 1, "openai-chat")
    assert row["File"].endswith("runs.jsonl, line 2")


def test_the_outcome_filter_keeps_those_of_that_outcome_and_goes_into_the_address(small: list[str]):
    at = open_page(PAGE)
    at.get_by_key("traces_outcome").set_value("success")
    at.run()
    assert tasks(at) == [f"Refund order {number}" for number in (0, 3, 6, 9)]
    assert at.query_params["outcome"] == "success"


def test_the_text_filter_searches_tasks_messages_and_feedback(small: list[str]):
    at = open_page(PAGE, text="ORDER 7 IS REFUNDED")
    assert tasks(at) == ["Refund order 7"]
    assert at.get_by_key("traces_text").value == "ORDER 7 IS REFUNDED"


def test_when_nothing_matches_one_button_brings_all_traces_back(small: list[str]):
    at = open_page(PAGE, text="no such thing", outcome="failure")
    assert len(at.dataframe) == 0
    button(at, "Clear the filters").click()
    at.run()
    assert len(tasks(at)) == 12
    assert "text" not in at.query_params


@pytest.mark.parametrize("address", [{"outcome": "no"}, {"format": "pdf"}, {"page": "-3"}, {"page": "9" * 30}])
def test_an_address_that_makes_no_sense_shows_all_traces(small: list[str], address: dict[str, str]):
    at = open_page(PAGE, **address)
    assert not at.exception
    assert len(tasks(at)) == 12


def test_filters_are_still_there_after_a_visit_to_another_page(small: list[str]):
    at = open_page(PAGE)
    at.get_by_key("traces_outcome").set_value("failure")
    at.run()
    at.switch_page("overview.py").run()
    at.query_params.clear()
    at.switch_page("traces.py").run()
    assert len(tasks(at)) == 8


def test_learning_from_what_matches_hands_the_filters_on(small: list[str]):
    at = open_page(PAGE, outcome="failure", text="cents")
    button(at, "Learn from 8 traces").click()
    at.run()
    assert at.session_state["learn_traces"] == "Some"
    assert at.session_state["learn_outcome"] == "Failure"
    assert at.session_state["learn_text"] == "cents"


def test_only_one_page_of_a_hundred_thousand_traces_is_read(workspace: Workspace):
    bring_many(workspace, 100_000)
    at = open_page(PAGE)
    assert tasks(at) == [f"Task {number}" for number in range(50)]
    assert at.caption[-1].value.startswith("1–50 of 100,000.")
    at = open_page(PAGE, page="2000")
    assert tasks(at) == [f"Task {number}" for number in range(99_950, 100_000)]


def test_a_page_beyond_the_end_shows_the_last_one(workspace: Workspace):
    bring_many(workspace, 120)
    at = open_page(PAGE, page="77")
    assert tasks(at) == [f"Task {number}" for number in range(100, 120)]


def test_the_next_page_goes_into_the_address_and_a_new_filter_starts_anew(workspace: Workspace):
    bring_many(workspace, 120)
    at = open_page(PAGE)
    at.get("pagination")[0].set_value(2)
    at.run()
    assert tasks(at)[0] == "Task 50"
    assert at.query_params["page"] == "2"
    at.get_by_key("traces_outcome").set_value("failure")
    at.run()
    assert tasks(at)[0] == "Task 1"
    assert "page" not in at.query_params


# Reading one


def test_a_link_to_a_trace_opens_it(workspace: Workspace, small: list[str]):
    at = open_page(PAGE, trace=small[1])
    assert not at.exception
    html = html_of(at)
    assert '<div class="cb-task" dir="auto">Refund order 1</div>' in html
    assert '<span class="cb-chip cb-failure">✕ failure · 0.25</span>' in html
    assert "multiply euros by 100" in html
    assert [message.name for message in at.chat_message] == ["user", "assistant"]


def test_an_unknown_trace_gets_one_sentence_and_a_way_back(small: list[str]):
    at = open_page(PAGE, trace="t-<b>nothing")
    assert not at.exception
    assert "There is no trace <code>t-&lt;b&gt;nothing</code> here" in html_of(at)
    button(at, "All traces").click()
    at.run()
    assert len(tasks(at)) == 12


def test_next_and_previous_walk_through_the_page_that_was_shown(small: list[str]):
    at = open_page(PAGE, trace=small[0])
    at.session_state["traces_on_page"] = small[:3]
    at.run()
    assert button(at, "Previous").disabled
    button(at, "Next").click()
    at.run()
    assert at.query_params["trace"] == small[1]
    assert not button(at, "Previous").disabled


def test_calls_are_code_errors_are_marked_reasoning_is_folded(workspace: Workspace, tmp_path: Path):
    call = {"id": "c", "type": "function", "function": {"name": "refund", "arguments": '{"order": 7, "cents": 1200}'}}
    record = {
        "messages": [
            {"role": "user", "content": "Refund order 7"},
            {"role": "assistant", "content": "", "reasoning_content": "It costs 12 euros.", "tool_calls": [call]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "c", "content": "unknown order", "is_error": True}],
            },
        ],
        "reference": "Ask for the number",
    }
    at = open_page(PAGE, trace=bring(workspace, tmp_path, record)[0])
    assert [code.value for code in at.code] == ['{"order": 7, "cents": 1200}', "unknown order"]
    assert [expander.label for expander in at.expander if expander.label == "Reasoning"] == ["Reasoning"]
    html = html_of(at)
    assert "It costs 12 euros." in html
    assert "✕ Error of <code>refund</code>" in html


def test_long_output_is_folded_and_one_click_shows_it_whole(workspace: Workspace, tmp_path: Path):
    output = "\n".join(f"row {number}" for number in range(400))
    record = {"messages": [{"role": "user", "content": "go"}, {"role": "tool", "content": output}]}
    at = open_page(PAGE, trace=bring(workspace, tmp_path, record)[0])
    assert "row 9\n⋯\nrow 396" in at.code[0].value
    button(at, "Show all 400 lines").click()
    at.run()
    assert at.code[0].value == output
    button(at, "Fold").click()
    at.run()
    assert at.code[0].value != output


def test_a_conversation_of_many_messages_is_shown_a_page_at_a_time(workspace: Workspace, tmp_path: Path):
    turns = [{"role": ("user", "assistant")[number % 2], "content": f"turn {number}"} for number in range(70)]
    at = open_page(PAGE, trace=bring(workspace, tmp_path, {"messages": turns})[0])
    assert len(at.chat_message) == 30
    at.get("pagination")[0].set_value(3)
    at.run()
    assert len(at.chat_message) == 10
    assert "turn 69" in html_of(at)


def test_hostile_text_reaches_no_markdown_and_no_html_unescaped(workspace: Workspace, tmp_path: Path):
    call = {"id": "c", "type": "function", "function": {"name": HOSTILE, "arguments": json.dumps({"q": HOSTILE})}}
    record = {
        "messages": [
            {"role": "system", "content": HOSTILE},
            {"role": "user", "content": HOSTILE},
            {"role": "assistant", "content": HOSTILE, "reasoning_content": HOSTILE, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "name": HOSTILE, "content": HOSTILE * 40},
        ],
        "feedback": HOSTILE,
        "metadata": {"note": HOSTILE},
    }
    at = open_page(PAGE, trace=bring(workspace, tmp_path, record)[0])
    assert not at.exception
    html = html_of(at)
    assert "&lt;img src=" in html
    assert "<img" not in html
    assert "<script" not in html
    labels = [each.label for kind in (at.button, at.expander) for each in kind]
    markdown = [each.value for kind in (at.markdown, at.caption, at.subheader, at.title) for each in kind]
    assert not any("evil" in text or ":tada:" in text for text in [*labels, *markdown])


def test_lessons_learnt_from_a_trace_lead_to_the_merge_tree_and_the_bullets(workspace: Workspace, small: list[str]):
    run = learn(workspace)
    trace = next(trace for trace in small if workspace.lessons_of(trace))
    (lesson, *_) = workspace.lessons_of(trace)
    at = open_page(PAGE, trace=trace)
    html = html_of(at)
    assert any("learnt from this trace" in expander.label for expander in at.expander)
    assert f"merges?run={run}&amp;iteration=1&amp;node={lesson.reflection}" in html
    assert all(bullet in html for bullet in lesson.bullets)


def test_a_trace_that_no_run_has_read_shows_no_lessons(small: list[str]):
    at = open_page(PAGE, trace=small[0])
    assert not any("learnt" in expander.label for expander in at.expander)


def test_a_trace_shows_its_tags_and_on_demand_the_very_line_it_came_from(workspace: Workspace, small: list[str]):
    workspace.tag(TraceFilter(ids=(small[2],)), "<golden>")
    at = open_page(PAGE, trace=small[2])
    assert "&lt;golden&gt;</span>" in html_of(at)
    assert not any("Refund order 2" in each.value and "messages" in each.value for each in at.code)
    at.toggle[0].set_value(True).run()
    assert json.loads(at.code[-1].value) == chat_record(2)


def test_the_source_line_of_a_compressed_file_is_shown_as_text(workspace: Workspace, tmp_path: Path):
    file = tmp_path / "runs.jsonl.gz"
    file.write_bytes(gzip.compress(chat_jsonl(chat_record(1), chat_record(2))))
    workspace.import_paths([file])
    at = open_page(PAGE, trace=workspace.traces()[1][1]["id"])
    at.toggle[0].set_value(True).run()
    assert json.loads(at.code[-1].value) == chat_record(2)


# Rejects


def test_a_mended_file_is_read_again_from_its_place_and_its_rejects_are_gone(workspace: Workspace, tmp_path: Path):
    file = tmp_path / "runs.jsonl"
    file.write_bytes(chat_jsonl(chat_record(1)) + b"{broken\n")
    workspace.import_paths([file])
    file.write_bytes(chat_jsonl(chat_record(1), chat_record(2)))
    at = open_page(PAGE, view="rejects", **{"import": "1"})
    button(at, "Read it again from its place").click()
    at.run()
    assert not at.exception
    assert workspace.trace_counts()["total"] == 2
    assert workspace.rejects()[0] == 0
    assert "**1 new trace, 1 duplicate from 1 file**" in [line.value for line in at.markdown]


def test_a_mended_file_can_be_uploaded_in_place_of_the_broken_one(workspace: Workspace):
    at = upload(open_page(PAGE), ("runs.jsonl", b"{broken\n" + chat_jsonl(chat_record(1))))
    button(at, "Show rejects").click()
    at.run()
    at.file_uploader(key="rejects_upload_1").upload("runs.jsonl", chat_jsonl(chat_record(1), chat_record(2)))
    at.run()
    assert not at.exception
    assert workspace.trace_counts()["total"] == 2
    assert workspace.rejects()[0] == 0


def test_rejects_of_one_file_are_chosen_from_a_list_and_can_be_forgotten(workspace: Workspace, tmp_path: Path):
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(chat_jsonl(chat_record(1)) + b"{broken\n")
        workspace.import_paths([tmp_path / name])
    at = open_page(PAGE, view="rejects")
    at.selectbox(key="rejects_file").set_value(2).run()
    assert at.query_params["import"] == "2"
    button(at, "Forget these").click()
    at.run()
    assert [row["file"] for row in workspace.files_with_rejects()] == [str(tmp_path / "a.jsonl")]


def test_rejects_are_shown_a_page_at_a_time_and_only_those_of_the_import_asked_for(
    workspace: Workspace, tmp_path: Path
):
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(chat_jsonl(chat_record(1)) + b"{broken\n" * 30)
        workspace.import_paths([tmp_path / name])
    at = open_page(PAGE, view="rejects")
    assert html_of(at).count("<pre>") == 25
    at = open_page(PAGE, view="rejects", **{"import": "1"})
    assert "b.jsonl" not in html_of(at)
    assert "a.jsonl" in html_of(at)
    assert any(each.label == "Download 30 rejects" for each in at.get("download_button"))


def test_an_import_without_rejects_says_so(workspace: Workspace, small: list[str]):
    at = open_page(PAGE, view="rejects", **{"import": "1"})
    assert "This import has no rejects." in [line.value for line in at.markdown]
