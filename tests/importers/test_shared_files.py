"""Every plain file of the shared set in the formats that are read. The expected values were read off the files."""

from typing import NamedTuple

import pytest

from tests.importers.reading import SHARED, needs_shared, read

pytestmark = needs_shared


class Expected(NamedTuple):
    format: str
    traces: int
    task: str
    steps: int
    success: bool | None = None
    score: float | None = None
    rejects: int = 0


HELLO = 'Create a file called hello.txt with "Hello, world!" as the content.'
SUM = "What is 0 + 0?"

FILES = {
    "openai_chat/completion_log.anthropic.json": Expected(
        "openai-chat", 1, "Hello! Can you create a new Python file", 1
    ),
    "openai_chat/completion_log.anthropic.later_call.json": Expected(
        "openai-chat", 1, "Hello! Can you create a new", 6
    ),
    "openai_chat/ft_xml_example.jsonl.gz": Expected("openai-chat", 3, "<uploaded_files>\n/testbed", 37),
    "openai_chat/kto_label_bool.json": Expected("openai-chat", 25, "The Federal Trade Commission is going", 1, True),
    "openai_chat/message_list.function_calling.json": Expected("openai-chat", 1, "Hello! Can you create a new", 6),
    "openai_chat/parts_with_value_and_tools_string.jsonl": Expected("openai-chat", 20, "What are the schools near", 1),
    "openai_chat/tool_calls_reward.jsonl": Expected("openai-chat", 12, "Hi! I'm looking to book", 15, False, 0.0),
    "openai_chat/tool_calls_score_feedback.jsonl": Expected(
        "openai-chat", 10, "I want to book a one-way", 12, False, 0.0
    ),
    "openai_chat/toy_chat_fine_tuning.head4.jsonl": Expected("openai-chat", 4, "I fell off my bike today.", 1),
    "ace_finance/finer_test.head30.jsonl": Expected("ace", 30, '1. What is best tag for entity "231,312" in', 0),
    "ace_finance/formula_test.head60.jsonl": Expected("ace", 60, "For a landscaping business that earned a", 0),
    "ace_finance/formula_val.head60.jsonl": Expected("ace", 60, "An artisanal soap maker had costs amounting", 0),
    "harbor_atif/harbor_openhands.json": Expected("atif", 1, HELLO, 2),
    "harbor_atif/harbor_terminus2_continuation.json": Expected("atif", 1, HELLO, 3),
    "harbor_atif/harbor_terminus2_continuation_cont1.json": Expected("atif", 1, HELLO, 4),
    "harbor_atif/harbor_terminus2_timeout.json": Expected("atif", 1, HELLO, 3),
    "harbor_atif/multi_tool_trajectory.json": Expected("atif", 1, "Compare the latest quarterly revenue for", 3),
    "harbor_atif/multimodal_trajectory.json": Expected(
        "atif", 1, "What is in this image?\n[image: image/png, https:", 2
    ),
    "harbor_atif/nat_exmp01_atif.json": Expected("atif", 1, "What is 3 + 4?", 1),
    "harbor_atif/subagent_trajectories.json": Expected("atif", 1, "Summarize and analyze the following document:", 2),
    "harbor_atif/v17_embedded_subagents.json": Expected("atif", 1, "Research current ATIF v1.7 support.", 2),
    "nasty/array_in_jsonl_name.jsonl": Expected("openai-chat", 4, SUM, 1, False, 0.0),
    "nasty/base64_images.jsonl": Expected("openai-chat", 2, "What colour?\n[image: image/png, 70 bytes]", 1, True, 1.0),
    "nasty/concatenated_pretty.json": Expected("openai-chat", 3, SUM, 1, False, 0.0),
    "nasty/crlf_blank_lines_no_final_newline.jsonl": Expected("openai-chat", 5, SUM, 1, False, 0.0),
    "nasty/duplicate_ids.jsonl": Expected("openai-chat", 5, SUM, 1, False, 0.0),
    "nasty/duplicate_keys_big_numbers.jsonl": Expected("openai-chat", 4, "a", 1, False, 0.0),
    "nasty/huge_line.jsonl": Expected("openai-chat", 3, "Summarise.", 1, True, 1.0),
    "nasty/invalid_utf8.jsonl": Expected("openai-chat", 6, SUM, 1, False, 0.0),
    "nasty/jsonl_in_json_name.json": Expected("openai-chat", 5, SUM, 1, False, 0.0),
    "nasty/lone_surrogate_nul_ansi.jsonl": Expected("openai-chat", 2, "cut emoji \ufffd end", 1, True, 1.0),
    "nasty/messages.jsonl.gz": Expected("openai-chat", 5, SUM, 1, False, 0.0),
    "nasty/messages.jsonl.zst": Expected("openai-chat", 5, SUM, 1, False, 0.0),
    "nasty/nan_infinity.jsonl": Expected("openai-chat", 5, "1/0?", 1),
    "nasty/one_object.json": Expected("openai-chat", 1, SUM, 1, False, 0.0),
    "nasty/stringified_rows.jsonl": Expected("openai-chat", 4, SUM, 1, False, 0.0),
    "nasty/truncated_last_line.jsonl": Expected("openai-chat", 5, SUM, 1, False, 0.0, rejects=1),
    "nasty/utf16le_bom.json": Expected("openai-chat", 4, SUM, 1, False, 0.0),
    "nasty/utf8_bom.jsonl": Expected("openai-chat", 5, SUM, 1, False, 0.0),
}


@pytest.mark.parametrize("name", FILES)
def test_a_shared_file_gives_the_traces_that_are_in_it(name: str) -> None:
    expected, found = FILES[name], read(SHARED / name)
    assert found.reading.format == expected.format
    assert (len(found.traces), len(found.rejects)) == (expected.traces, expected.rejects)
    first = found.traces[0]
    assert first.task.startswith(expected.task)
    assert first.steps == expected.steps
    assert (first.outcome.success, first.outcome.score) == (expected.success, expected.score)
    for trace in found.traces:
        assert trace.task and trace.messages and trace.model_dump_json()


def test_outcomes_of_the_airline_rows_are_those_of_the_file() -> None:
    rewards = [trace.outcome.score for trace in read(SHARED / "openai_chat/tool_calls_reward.jsonl").traces]
    assert rewards == [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    judged = read(SHARED / "openai_chat/tool_calls_score_feedback.jsonl").traces
    assert [trace.outcome.success for trace in judged] == [False, True, False, False, False, True] + [False] * 4
    assert judged[0].feedback == "Final database state differs from the expected one."
    assert judged[1].feedback == "Task solved."
    assert judged[3].metadata == {"task_id": 3, "trial": 1}


def test_boolean_labels_are_verdicts() -> None:
    outcomes = [trace.outcome.success for trace in read(SHARED / "openai_chat/kto_label_bool.json").traces]
    assert (outcomes.count(True), outcomes.count(False)) == (14, 11)


def test_texts_of_the_reward_column_are_understood() -> None:
    found = read(SHARED / "nasty/stringified_rows.jsonl").traces
    assert [trace.outcome.success for trace in found] == [False, True, True, True]
    big = read(SHARED / "nasty/duplicate_keys_big_numbers.jsonl").traces
    assert [(trace.outcome.success, trace.outcome.score) for trace in big] == [
        (False, 0.0),
        (None, 0.5),
        (True, None),
        (False, None),
    ]
    assert [trace.metadata.get("id") for trace in big] == ["k1b", "12345678901234567890123", 7, None]


def test_numbers_that_are_none_are_no_outcome() -> None:
    found = read(SHARED / "nasty/nan_infinity.jsonl").traces
    assert [trace.outcome.score for trace in found] == [None, None, None, None, 0.5]


def test_the_cut_line_is_named_with_its_number() -> None:
    (reject,) = read(SHARED / "nasty/truncated_last_line.jsonl").rejects
    assert (reject.line, reject.file) == (6, "truncated_last_line.jsonl")
    assert reject.reason.startswith("The last line is cut off")
    assert reject.excerpt.startswith('{"id":"t9"')


def test_a_line_in_another_encoding_costs_only_itself() -> None:
    assert read(SHARED / "nasty/invalid_utf8.jsonl").traces[-1].task == "Grüße aus Köln"


def test_control_characters_stay_except_those_that_no_store_takes() -> None:
    first, second = read(SHARED / "nasty/lone_surrogate_nul_ansi.jsonl").traces
    assert first.messages[1].text == "nul \ufffd here"
    assert second.messages[1].tool_results[0].text == "\x1b[31mred\x1b[0m\r\x08\x07"
    assert second.messages[2].text == "ok \u2028 line sep"


def test_rows_without_a_usable_message_are_rejected_one_by_one() -> None:
    found = read(SHARED / "nasty/null_and_empty.jsonl")
    assert (found.reading.format, found.traces) == ("openai-chat", [])
    assert [reject.line for reject in found.rejects] == [1, 2, 3, 4, 5, 6, 7]
    assert found.rejects[0].reason == '"messages" is empty.'
    assert found.rejects[5].reason == "It is an empty object: no trace format that Combee knows."


def test_targets_of_the_benchmarks_are_kept_as_reference() -> None:
    formula = read(SHARED / "ace_finance/formula_test.head60.jsonl").traces
    assert [trace.reference for trace in formula[:3]] == ["15.0", "40.0", "0.05"]
    assert formula[0].task.endswith("find the Operating Margin.")
    assert formula[0].messages[0].text.startswith("Use formula Operating Margin to answer the question.")
    finer = read(SHARED / "ace_finance/finer_test.head30.jsonl").traces
    assert all(len(trace.reference.split(",")) == 4 and "\n4. What is best tag" in trace.task for trace in finer)
    assert not any("US GAAP tags:" in trace.task for trace in finer)


def test_parallel_tool_calls_and_their_results_stay_in_one_step() -> None:
    (trace,) = read(SHARED / "harbor_atif/multi_tool_trajectory.json").traces
    step, results = trace.messages[1], trace.messages[2].tool_results
    assert [call.name for call in step.tool_calls] == ["financial_search", "financial_search", "news_search"]
    assert step.tool_calls[0].arguments == '{"ticker":"AAPL","metric":"quarterly_revenue","period":"latest"}'
    assert step.reasoning.startswith("The user wants two things")
    assert [result.call_id for result in results] == [call.id for call in step.tool_calls]
    assert results[2].name == "news_search" and results[2].text.startswith("1. 'Apple announces")


def test_subagents_are_kept_with_their_parent_and_are_no_trials_of_their_own() -> None:
    for name, agent in (("subagent_trajectories", "summarizer"), ("v17_embedded_subagents", "researcher")):
        (trace,) = read(SHARED / f"harbor_atif/{name}.json").traces
        (child,) = trace.metadata["subagents"]
        assert child["agent"]["name"] == agent and child["messages"]


def test_steps_copied_from_an_earlier_file_are_not_counted_twice() -> None:
    (trace,) = read(SHARED / "harbor_atif/harbor_terminus2_continuation_cont1.json").traces
    assert "Based on the handoff" in trace.messages[0].text


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nasty/git_lfs_pointer.json", "Git LFS pointer"),
        ("ace_finance/sample_config.json", "an object with finer, formula"),
    ],
)
def test_a_file_without_traces_is_refused_in_one_sentence(name: str, words: str) -> None:
    found = read(SHARED / name)
    assert found.reading.format is None and not found.traces and not found.rejects
    assert words in found.reading.refusal and "OpenAI chat messages" in found.reading.refusal
