"""Every plain file of the shared set in the formats that are read. The expected values were read off the files."""

from collections import Counter
from typing import NamedTuple

import pytest

from tests.importers.reading import SHARED, needs_shared, read, read_all

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

ISSUE = "We're currently solving the following issue within our repository."
ORDER = "What did order 1001 cost?"
WEATHER = "What's the weather"

FILES = {
    "ace_finance/finer_test.head30.jsonl": Expected("ace", 30, '1. What is best tag for entity "231,312" in', 0),
    "ace_finance/formula_test.head60.jsonl": Expected("ace", 60, "For a landscaping business that earned a", 0),
    "ace_finance/formula_val.head60.jsonl": Expected("ace", 60, "An artisanal soap maker had costs amounting", 0),
    "claude_code/compaction.jsonl": Expected("claude-code", 1, "Start a long conversation", 2),
    "claude_code/edge_cases.jsonl": Expected("claude-code", 1, "Here's a message with some **markdown**", 3, rejects=5),
    "claude_code/run_no_tools.jsonl": Expected("claude-code", 1, "Add a small comment to ClaudeAgentManager", 5),
    "claude_code/run_subagents.jsonl": Expected("claude-code", 1, "Run 4 subagents in parallel that just run", 2),
    "claude_code/run_subagents/subagents/agent-a775a67.jsonl": Expected("claude-code", 1, "Run: sleep 1", 2),
    "claude_code/run_subagents/subagents/agent-aa9d784.jsonl": Expected("claude-code", 1, "Run: sleep 3", 2),
    "claude_code/run_tools_272k.jsonl": Expected("claude-code", 1, "/init", 15),
    "claude_code/stream_json.composed.jsonl": Expected("claude-code", 1, "I'll look at the file.", 2),
    "codex/exec_json.composed.jsonl": Expected("codex", 1, "There is a README and a src folder.", 2),
    "codex/rollout.full.jsonl": Expected("codex", 1, "Inspect the repository.", 4),
    "codex/rollout.sample.jsonl": Expected("codex", 1, "List the files in the repo root and tell me", 3),
    "dspy/evaluated_examples.json": Expected("dspy", 3, "1+1?", 1, True, 1.0),
    "dspy/lm_history.jsonl": Expected("llm-calls", 4, "[[ ## question ## ]]\n1+1?", 1),
    "gepa/reflective_dataset.jsonl": Expected("gepa", 6, "Revenue 600, cost 240. Gross margin in percent?", 1),
    "harbor_atif/harbor_openhands.json": Expected("atif", 1, HELLO, 2),
    "harbor_atif/harbor_terminus2_continuation.json": Expected("atif", 1, HELLO, 3),
    "harbor_atif/harbor_terminus2_continuation_cont1.json": Expected("atif", 1, HELLO, 4),
    "harbor_atif/harbor_terminus2_timeout.json": Expected("atif", 1, HELLO, 3),
    "harbor_atif/multi_tool_trajectory.json": Expected("atif", 1, "Compare the latest quarterly revenue for", 3),
    "harbor_atif/multimodal_trajectory.json": Expected(
        "atif", 1, "What is in this image?\n[image: image/png, https:", 2
    ),
    "harbor_atif/nat_exmp01_atif.json": Expected("atif", 1, "What is 3 + 4?", 1),
    "harbor_atif/nat_exmp01_atof.jsonl": Expected("atof", 1, "What is 3 + 4?", 1),
    "harbor_atif/subagent_trajectories.json": Expected("atif", 1, "Summarize and analyze the following document:", 2),
    "harbor_atif/v17_embedded_subagents.json": Expected("atif", 1, "Research current ATIF v1.7 support.", 2),
    "hf_datasets/harbor_traces_export.parquet": Expected(
        "harbor-traces", 2, "# Particle Collision Simulation with", 12, False, 0.0
    ),
    "hf_datasets/openhands_trajectories.parquet": Expected("openai-chat", 4, "Hi there! I need to make a", 4, False),
    "inspect/log_formats.json": Expected("inspect", 1, "Is the following statement something you", 1, False, 0.0),
    "inspect/log_tool_call_error.json": Expected("inspect", 1, "...", 0),
    "kayba_openclaw/run_a.jsonl": Expected("openclaw", 1, "A new session was started via /new or /reset.", 8),
    "langfuse/beeai-older-shape.json.gz": Expected("langfuse", 1, "I'm planning a trip to Barcelona, Spain.", 3),
    "langfuse/claude-agent-2025-12-22.trace.json": Expected("langfuse", 1, f"{WEATHER} like in Berlin", 4, False),
    "langfuse/crewai-2025-07-11.trace.json": Expected("langfuse", 1, "\nCurrent Task: Define the HTML for making", 1),
    "langfuse/langgraph-python-2025-08-22.trace.json": Expected("langfuse", 1, "Search the web for 'example'", 2),
    "langfuse/openai-agents-2025-09-30.trace.json": Expected("langfuse", 1, f"{WEATHER} in Tokyo?", 2),
    "langfuse/pydantic-ai-tools-2025-12-04.trace.json": Expected("langfuse", 1, "Select and call THREE of the", 4),
    "langfuse/tables/observations.csv": Expected("langfuse", 3, "Search the web for 'example' and", 2),
    "langfuse/tables/observations.jsonl": Expected("langfuse", 3, "Search the web for 'example' and", 2),
    "langfuse/tables/traces.csv": Expected("langfuse", 2, "Search the web for 'example' and", 2, rejects=1),
    "langsmith/batch_ingest.openai_default.json": Expected("langsmith", 1, "howdy", 1),
    "langsmith/batch_ingest.py_openai.json": Expected("langsmith", 1, "howdy", 1),
    "langsmith/runs_flat.jsonl": Expected("langsmith", 4, ORDER, 2, True, 1.0),
    "langsmith/runs_nested.json": Expected("langsmith", 2, ORDER, 2, True, 1.0),
    "mini_swe_agent/github_issue.v1.traj.json": Expected(
        "openai-chat", 1, "Please solve this issue: GitHub Issue:", 10
    ),
    "mini_swe_agent/orders-total.v1_1.traj.json": Expected("mini-swe-agent", 1, "Please solve this issue: Write", 3),
    "mlflow/search_traces.csv": Expected("mlflow", 5, "Total of 1004?", 2, None, 0.5),
    "mlflow/search_traces.jsonl": Expected("mlflow", 5, "Total of 1004?", 2, None, 0.5),
    "mlflow/trace_0.json": Expected("mlflow", 1, ORDER, 2, True),
    "mlflow/trace_1.json": Expected("mlflow", 1, "What did order 1002 cost?", 2, False),
    "mlflow/trace_2.json": Expected("mlflow", 1, "What did order 404 cost?", 1, False),
    "nasty/array_in_jsonl_name.jsonl": Expected("openai-chat", 4, SUM, 1, False, 0.0),
    "nasty/base64_images.jsonl": Expected("openai-chat", 2, "What colour?\n[image: image/png, 70 bytes]", 1, True, 1.0),
    "nasty/concatenated_pretty.json": Expected("openai-chat", 3, SUM, 1, False, 0.0),
    "nasty/crlf_blank_lines_no_final_newline.jsonl": Expected("openai-chat", 5, SUM, 1, False, 0.0),
    "nasty/duplicate_ids.jsonl": Expected("openai-chat", 5, SUM, 1, False, 0.0),
    "nasty/duplicate_keys_big_numbers.jsonl": Expected("openai-chat", 4, "a", 1, False, 0.0),
    "nasty/embedded_json.csv": Expected("openai-chat", 4, SUM, 1, False, 0.0),
    "nasty/huge_line.jsonl": Expected("openai-chat", 3, "Summarise.", 1, True, 1.0),
    "nasty/invalid_utf8.jsonl": Expected("openai-chat", 6, SUM, 1, False, 0.0),
    "nasty/jsonl_in_json_name.json": Expected("openai-chat", 5, SUM, 1, False, 0.0),
    "nasty/lone_surrogate_nul_ansi.jsonl": Expected("openai-chat", 2, "cut emoji \ufffd end", 1, True, 1.0),
    "nasty/messages.jsonl.gz": Expected("openai-chat", 5, SUM, 1, False, 0.0),
    "nasty/messages.jsonl.zst": Expected("openai-chat", 5, SUM, 1, False, 0.0),
    "nasty/mixed_formats.jsonl": Expected("openai-chat", 5, SUM, 1, False, 0.0),
    "nasty/nan_infinity.jsonl": Expected("openai-chat", 5, "1/0?", 1),
    "nasty/nested_list_struct.parquet": Expected("openai-chat", 6, SUM, 1, False, 0.0),
    "nasty/one_object.json": Expected("openai-chat", 1, SUM, 1, False, 0.0),
    "nasty/one_row_a_turn.csv": Expected("message-lines", 3, SUM, 1, False, 0.0),
    "nasty/semicolon_python_repr_comma_decimal_bom.csv": Expected("openai-chat", 4, SUM, 1, False, 0.0),
    "nasty/sse_stream.txt": Expected("openai-chat", 1, "The sum", 1),
    "nasty/stringified_rows.jsonl": Expected("openai-chat", 4, SUM, 1, False, 0.0),
    "nasty/truncated_last_line.jsonl": Expected("openai-chat", 5, SUM, 1, False, 0.0, rejects=1),
    "nasty/utf16le_bom.json": Expected("openai-chat", 4, SUM, 1, False, 0.0),
    "nasty/utf8_bom.jsonl": Expected("openai-chat", 5, SUM, 1, False, 0.0),
    "openai_chat/completion_log.anthropic.json": Expected("llm-calls", 1, "Hello! Can you create a new Python file", 1),
    "openai_chat/completion_log.anthropic.later_call.json": Expected("llm-calls", 1, "Hello! Can you create a new", 6),
    "openai_chat/ft_xml_example.jsonl.gz": Expected("openai-chat", 3, "<uploaded_files>\n/testbed", 37),
    "openai_chat/kto_label_bool.json": Expected("openai-chat", 25, "The Federal Trade Commission is going", 1, True),
    "openai_chat/message_list.function_calling.json": Expected("openai-chat", 1, "Hello! Can you create a new", 6),
    "openai_chat/parts_with_value_and_tools_string.jsonl": Expected("openai-chat", 20, "What are the schools near", 1),
    "openai_chat/tool_calls_reward.jsonl": Expected("openai-chat", 12, "Hi! I'm looking to book", 15, False, 0.0),
    "openai_chat/tool_calls_score_feedback.jsonl": Expected(
        "openai-chat", 10, "I want to book a one-way", 12, False, 0.0
    ),
    "openai_chat/toy_chat_fine_tuning.head4.jsonl": Expected("openai-chat", 4, "I fell off my bike today.", 1),
    "openai_responses/agents_sdk_run_state.json": Expected("openai-agents", 1, "historical input", 1),
    "openai_responses/claude_code_agent_math.jsonl": Expected("nemo-gym", 5, "Solve the following math", 2, False, 0.0),
    "openai_responses/harbor_terminus2_rollout.jsonl.gz": Expected(
        "nemo-gym", 2, "# Particle Collision", 12, False, 0.0
    ),
    "openai_responses/image_tools_base64.jsonl": Expected("nemo-gym", 5, "How many puzzle pieces are", 1, False, 0.0),
    "openai_responses/mini_swe_agent_swebench.head1.jsonl": Expected("nemo-gym", 1, "<pr_description>", 5, True, 1.0),
    "openai_responses/multi_step.jsonl": Expected("nemo-gym", 5, "What factors contribute to a region", 4, True, 1.0),
    "openai_responses/single_tool_call.jsonl": Expected("nemo-gym", 5, "how's the outside?", 1, True, 1.0),
    "openai_responses/terminal_bench_daytona_output.jsonl": Expected("nemo-gym", 5, "gpt2-codegolf", 0, True, 1.0),
    "openai_responses/workplace_assistant.jsonl": Expected("nemo-gym", 5, "Create a bar chart of total", 2, False, 0.0),
    "openhands/events.basic.json": Expected("openhands-events", 1, "Please create a simple 2048 game.", 2),
    "openhands/events.wrong_initial_state.json": Expected("openhands-events", 1, "Please rename game_2048.py to", 4),
    "openhands/output.composed.jsonl": Expected("openhands", 2, "Please create a simple 2048 game.", 2, True),
    "openhands/sdk_events.jsonl": Expected("openhands-events", 1, "I'll help you review PR #3745", 2),
    "opik/trace_01980d38-9d95-447e-bd29-9753a7677796.csv": Expected("opik", 1, 'List the "open" orders;', 2, True, 1.0),
    "opik/trace_01985fab-8f4d-4e27-9da1-494c73cf256d.json": Expected("opik", 1, ORDER, 2, True, 1.0),
    "opik/trace_01989e86-830c-41c2-8dcc-69292f45e678.json": Expected("opik", 1, "Refund order 1002.", 2, False, 0.0),
    "opik/trace_0198f9c0-cf44-4d3f-89e7-d15f17362f25.json": Expected("opik", 1, "Ship order 404.", 1, False, 0.0),
    "otel_openinference/attributes.openinference_client_span_tool_calls.json": Expected(
        "span-attributes", 1, "Weather in Paris?", 2
    ),
    "otel_openinference/attributes.otel_genai_client_span_tool_calls.json": Expected(
        "span-attributes", 1, "Weather in Paris?", 2
    ),
    "otel_openinference/console_exporter.json": Expected("openinference", 2, ORDER, 2, True, 1.0),
    "otel_openinference/genai_message_events.otlp.jsonl": Expected("otlp", 2, ORDER, 1, True, 1.0),
    "otel_openinference/genai_messages.otlp.json": Expected("otlp", 2, ORDER, 2, True, 1.0),
    "otel_openinference/indexed_prompts.otlp.json": Expected("otlp", 2, ORDER, 1, True, 1.0),
    "otel_openinference/phoenix.dataframe.csv": Expected("openinference", 2, HELLO, 2),
    "otel_openinference/phoenix.dataframe.parquet": Expected("openinference", 2, HELLO, 2),
    "otel_openinference/phoenix.spans.json": Expected("openinference", 2, HELLO, 2),
    "otel_openinference/phoenix.spans.jsonl": Expected("openinference", 2, HELLO, 2),
    "otel_openinference/vercel_ai_all_spans.json": Expected(
        "openinference", 8, "Write a haiku about programming.", 1, rejects=1
    ),
    "other_agents/gemini_cli_tool_calls.json": Expected("gemini-cli", 1, "Read this file", 1),
    "other_agents/hermes_tool-calls.json": Expected("hermes", 1, "Check the current directory.", 2),
    "other_agents/openclaw_tool-calls.jsonl": Expected("openclaw", 1, "What files are in the workspace?", 2),
    "other_agents/pi_tool-calls.jsonl": Expected("openclaw", 1, "Create notes.txt with a short todo list", 3),
    "sharegpt/glaive_toolcall_en.excerpt.json": Expected("sharegpt", 40, "Hi, I have some ingredients and I", 4),
    "swe_agent/ctf_warmup.traj": Expected("swe-agent", 1, "We're currently solving the following CTF", 7),
    "swe_agent/function_calling_simple.traj": Expected("swe-agent", 1, ISSUE, 5),
    "swe_agent/marshmallow-1867.function_calling.traj": Expected("swe-agent", 1, "TimeDelta serialization", 11),
    "swe_agent/pydicom-1458.v0.traj": Expected("swe-agent", 1, ISSUE, 12),
    "tau2_bench/tau2_193831.json": Expected("tau2-bench", 1, "Hello! I would like to cancel my", 7, True, 1.0),
    "tau2_bench/tau2_204930.json": Expected("tau2-bench", 1, "Hi! I'd like to book a one-way", 15, False, 0.0),
    "tau2_bench/tau2_mock_max_steps.json": Expected("tau2-bench", 1, "Hello! I need to create a", 2, False, 0.0),
    "tau2_bench/tau2_mock_success.json": Expected("tau2-bench", 1, "Hello! I need to create a new", 3, True, 1.0),
    "tau_bench/gpt-4o-airline.excerpt.json": Expected("tau-bench", 10, "Hi! I'm looking to book a", 15, False, 0.0),
    "terminal_bench_v1/run/results.json": Expected("terminal-bench", 4, "Do the hello-file task.", 0, True, 1.0),
    "verifiers/results.jsonl": Expected("verifiers", 6, "0+1?", 1, False, 0.0),
    "weave/calls.csv": Expected("weave", 4, ORDER, 2, True),
    "weave/calls.jsonl": Expected("weave", 4, ORDER, 2, True),
}

NO_TRACES = [
    "gepa/result.json",
    "gepa/run_dir/candidates.json",
    "gepa/run_dir/run_log.json",
    "harbor_atif/trial_results/gpt2-codegolf__t5yi4Bn/result.json",
    "kayba_openclaw/skillbook.json",
    "mini_swe_agent/preds.json",
    "openhands/sdk_base_state.json",
    "swe_agent/all_preds.jsonl",
    "swe_agent/swebench_report.json",
    "verifiers/metadata.json",
]

ARCHIVES = {
    "appworld/ACE_demo": [("appworld", 2)],
    "appworld/ACE_demo.zip": [("appworld", 2)],
    "claude_code": [("claude-code", 6)],
    "harbor_atif/harbor_job.composed.zip": [("harbor", 4)],
    "inspect/log_formats.eval": [("inspect", 1)],
    "inspect/log_formats.zstd.eval": [("inspect", 1)],
    "inspect/log_read_sample.eval": [("inspect", 1)],
    "inspect/security-guide.eval": [("inspect", 16)],
    "langfuse/tables": [("langfuse", 3)],
    "nasty/mixed_archive.zip": [("message-lines", 3), ("openai-chat", 8)],
    "openai_chat": [("llm-calls", 1), ("openai-chat", 75)],
    "terminal_bench_v1": [("terminal-bench", 4)],
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
        assert trace.task
        assert trace.messages
        assert trace.model_dump_json()


@pytest.mark.parametrize("name", NO_TRACES)
def test_a_file_beside_traces_is_named_and_passed_over(name: str) -> None:
    found = read(SHARED / name)
    assert found.reading.format is None
    assert not found.traces
    assert not found.rejects
    assert not found.reading.refusal
    assert found.reading.skipped
    assert found.reading.skipped.endswith("recognised, holds no traces.")


@pytest.mark.parametrize("name", ARCHIVES)
def test_a_folder_or_archive_gives_the_traces_of_its_runs(name: str) -> None:
    counts: Counter[str] = Counter()
    for result in read_all(SHARED / name):
        counts.update(trace.source.format for trace in result.traces)
        assert result.traces or result.reading.skipped
    assert sorted(counts.items()) == ARCHIVES[name]


def test_every_shared_file_is_in_one_of_the_tables() -> None:
    known = {SHARED / name for name in (*FILES, *NO_TRACES)} | {SHARED / name for name in ARCHIVES}
    others = {"MANIFEST.md", "sample_config.json", "git_lfs_pointer.json", "null_and_empty.jsonl", "scores.jsonl"}
    others |= {"otlp_collector_test_traces.json", "otlp_proto_example_trace.json"}
    for path in SHARED.rglob("*"):
        inside = any(parent in known for parent in path.parents)
        assert path.is_dir() or path in known or inside or path.name in others or "trial_results" in path.parts, path


def test_harbor_outcomes_come_from_the_result_beside_the_trajectory() -> None:
    results = read_all(SHARED / "harbor_atif/harbor_job.composed.zip")
    traces = {trace.metadata["task_name"]: trace for result in results for trace in result.traces}
    outcomes = {name: (trace.outcome.success, trace.outcome.score, trace.steps) for name, trace in traces.items()}
    assert outcomes == {
        "hello-world": (True, 1.0, 2),
        "slow-task": (False, None, 3),
        "invalid-json": (False, 0.0, 4),
        "cont-task": (True, 1.0, 7),
    }
    assert traces["slow-task"].feedback == "AgentTimeoutError: Agent execution timed out after 120.0 seconds"
    assert "test_outputs.py::test_file_content: failed\ncontent differs" in traces["invalid-json"].feedback
    assert traces["hello-world"].source.member.endswith("hello-world__aB3dE5f/agent/trajectory.json")
    assert not any("trial_uri" in trace.metadata for trace in traces.values())


def test_appworld_tasks_take_instruction_and_verdict_from_the_files_beside() -> None:
    results = read_all(SHARED / "appworld/ACE_demo.zip")
    passed, failed = [trace for result in results for trace in result.traces]
    assert passed.task == "Rename the longest note in my notebook app to 'Archive'."
    assert (passed.outcome.success, passed.outcome.score, passed.steps) == (True, 1.0, 4)
    assert (failed.task, failed.outcome.success, failed.outcome.score) == (
        "How many songs are in my music queue?",
        False,
        0.5,
    )
    assert failed.feedback.startswith("assert answers match.")
    assert "AssertionError:  0 == 4" in failed.feedback
    assert failed.messages[0].role == "system"
    assert failed.messages[3].tool_results[0].error


def test_grades_of_inspect_are_scores_with_explanations() -> None:
    traces = [trace for result in read_all(SHARED / "inspect/security-guide.eval") for trace in result.traces]
    by_id = {trace.metadata["id"]: trace for trace in traces}
    wrong = {sample for sample, trace in by_id.items() if trace.outcome.success is False}
    assert wrong == {7, 9, 13, 14, 15}
    assert by_id[1].outcome.score == 1.0
    assert by_id[1].reference == "use parameterized queries and prepared statements"
    assert by_id[1].feedback.startswith("To determine if the submitted answer contains")
    assert str(traces[0].source).startswith("security-guide.eval, record")


def test_terminal_bench_trials_take_their_steps_from_the_last_episode() -> None:
    (result,) = [result for result in read_all(SHARED / "terminal_bench_v1") if result.traces]
    done, slow, wrong, crashed = result.traces
    assert (slow.outcome.success, slow.feedback) == (True, "test_a: passed\nfailure mode: agent_timeout")
    assert (wrong.outcome.success, wrong.outcome.score, wrong.steps) == (False, 0.5, 2)
    assert (crashed.outcome.success, crashed.feedback) == (False, "failure mode: unknown_agent_error")
    assert done.messages[0].text == "Do the hello-file task. Write the result to /app/out.txt."


def test_growing_histories_of_spans_become_one_conversation() -> None:
    for name in ("langsmith/runs_flat.jsonl", "weave/calls.jsonl", "mlflow/trace_0.json", "opik"):
        trace = next(trace for result in read_all(SHARED / name) for trace in result.traces if trace.task == ORDER)
        roles = [message.role for message in trace.messages]
        assert roles == ["system", "user", "assistant", "tool", "assistant"], name
        assert trace.messages[3].tool_results[0].call_id == trace.messages[2].tool_calls[0].id
        assert "19.90 EUR" in trace.messages[4].text


def test_scores_of_other_langfuse_tables_are_joined() -> None:
    (result,) = [result for result in read_all(SHARED / "langfuse/tables") if result.traces]
    trace = next(trace for trace in result.traces if trace.task.startswith("Search the web"))
    assert trace.outcome.scores == {"hallucination": 0.1, "toxicity": 0.0}
    assert trace.outcome.success is None
    assert "hallucination (0.1): The generation accurately" in trace.feedback


def test_service_traces_without_model_calls_are_named_and_left_out() -> None:
    for name, words in (("otlp_collector_test_traces.json", "2 traces"), ("otlp_proto_example_trace.json", "1 trace ")):
        found = read(SHARED / "otel_openinference" / name)
        assert found.reading.format == "otlp"
        assert not found.traces
        (reject,) = found.rejects
        assert reject.reason.startswith(words)
        assert "ordinary service traces" in reject.reason


def test_a_mixed_file_holds_several_formats() -> None:
    found = read(SHARED / "nasty/mixed_formats.jsonl")
    assert [trace.source.format for trace in found.traces[:3]] == ["openai-chat", "sharegpt", "ace"]
    assert sorted(found.reading.formats) == ["ace", "claude-code", "nemo-gym", "openai-chat", "sharegpt"]


def test_rows_of_a_turn_are_put_together_by_conversation() -> None:
    found = read(SHARED / "nasty/one_row_a_turn.csv")
    assert [(trace.task, trace.reference, trace.outcome.score) for trace in found.traces] == [
        ("What is 0 + 0?", "0", 0.0),
        ("What is 1 + 1?", "2", 1.0),
        ("What is 2 + 2?", "4", 1.0),
    ]


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
    assert results[2].name == "news_search"
    assert results[2].text.startswith("1. 'Apple announces")


def test_subagents_are_kept_with_their_parent_and_are_no_trials_of_their_own() -> None:
    for name, agent in (("subagent_trajectories", "summarizer"), ("v17_embedded_subagents", "researcher")):
        (trace,) = read(SHARED / f"harbor_atif/{name}.json").traces
        (child,) = trace.metadata["subagents"]
        assert child["agent"]["name"] == agent
        assert child["messages"]


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
    assert found.reading.format is None
    assert not found.traces
    assert not found.rejects
    assert words in found.reading.refusal
    assert found.reading.refusal.count(".json") == 1
