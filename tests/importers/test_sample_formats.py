"""The sample files of every format: what is in them is written down here by hand."""

from pathlib import Path
from typing import NamedTuple

import pytest

from combee_core.importers import FORMATS, LAYOUTS
from tests.importers.reading import read, read_all

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data" / "formats"
ASK = "How many loaves were sold on Monday?"


class Expected(NamedTuple):
    format: str
    traces: int
    steps: int
    success: bool | None = None
    score: float | None = None
    task: str = ASK


FILES = {
    "ace.jsonl": Expected("ace", 2, 1, True, 1.0, "A loaf costs 1.20 to make and sells for 3.00. What is the margin?"),
    "atif.json": Expected("atif", 1, 2, task="Sum the sales in sales.csv."),
    "atof.jsonl": Expected("atof", 1, 1),
    "claude-code.jsonl": Expected("claude-code", 1, 2),
    "codex.jsonl": Expected("codex", 1, 2),
    "dspy.json": Expected("dspy", 1, 1, False, 0.0),
    "gemini-cli.json": Expected("gemini-cli", 1, 1),
    "gepa.jsonl": Expected("gepa", 1, 1),
    "harbor-traces.jsonl": Expected("harbor-traces", 1, 1, False, task="Sum the sales."),
    "hermes.json": Expected("hermes", 1, 2),
    "inspect.json": Expected("inspect", 1, 1, False, 0.0),
    "langfuse.json": Expected("langfuse", 1, 2, False, 0.0),
    "langsmith.jsonl": Expected("langsmith", 1, 1, False, 0.0),
    "llm-calls.jsonl": Expected("llm-calls", 1, 2),
    "message-lines.csv": Expected("message-lines", 2, 1, False, 0.0),
    "mini-swe-agent.traj.json": Expected("mini-swe-agent", 1, 1, task="Fix the price list."),
    "mlflow.json": Expected("mlflow", 1, 1, False),
    "nemo-gym.jsonl": Expected("nemo-gym", 1, 2, None, 2.0),
    "openai-agents.json": Expected("openai-agents", 1, 2),
    "openai-batch.jsonl": Expected("openai-batch", 1, 1, task="Batch request q1 (its question is in the input file)"),
    "openai-chat.jsonl": Expected("openai-chat", 2, 2, False, 0.0),
    "openclaw.jsonl": Expected("openclaw", 1, 2),
    "openhands-events.json": Expected("openhands-events", 1, 2),
    "openhands.jsonl": Expected("openhands", 1, 2, False),
    "openinference.jsonl": Expected("openinference", 1, 1),
    "opik.json": Expected("opik", 1, 1, False, 0.0),
    "otlp.json": Expected("otlp", 1, 2, False),
    "questions.csv": Expected("questions", 2, 1, False, 0.0),
    "sharegpt.json": Expected("sharegpt", 1, 2),
    "span-attributes.json": Expected("span-attributes", 1, 1),
    "swe-agent.traj": Expected("swe-agent", 1, 1, task="The price list is wrong."),
    "tau-bench.json": Expected("tau-bench", 1, 1, False, 0.0, "I want a cake."),
    "tau2-bench.json": Expected("tau2-bench", 1, 2, True, 1.0, "A cake, please."),
    "verifiers.jsonl": Expected("verifiers", 1, 1, False, 0.0),
    "weave.jsonl": Expected("weave", 1, 1, False),
}
FOLDERS = {
    "appworld": Expected("appworld", 1, 1, False, 0.5),
    "harbor": Expected("harbor", 1, 2, False, 0.0, "Sum the sales in sales.csv."),
    "inspect.eval": Expected("inspect", 2, 1, False, 0.0),
    "swe-bench": Expected("swe-bench", 1, 1, True, task="The price list is wrong."),
    "terminal-bench": Expected("terminal-bench", 1, 1, False, 0.5, "Bake bread."),
}


@pytest.mark.parametrize("name", FILES)
def test_a_sample_file_gives_the_traces_that_are_in_it(name: str) -> None:
    found, expected = read(SAMPLES / name), FILES[name]
    assert not found.rejects
    first = found.traces[0]
    seen = (
        found.reading.format,
        len(found.traces),
        first.steps,
        first.outcome.success,
        first.outcome.score,
        first.task,
    )
    assert seen == expected


@pytest.mark.parametrize("name", FOLDERS)
def test_a_sample_folder_gives_the_traces_of_its_runs(name: str) -> None:
    results, expected = read_all(SAMPLES / name), FOLDERS[name]
    traces = [trace for result in results for trace in result.traces]
    first = traces[0]
    seen = (first.source.format, len(traces), first.steps, first.outcome.success, first.outcome.score, first.task)
    assert seen == expected


def test_every_format_has_a_sample() -> None:
    known = {expected.format for expected in (*FILES.values(), *FOLDERS.values())}
    assert known == {*FORMATS, *LAYOUTS}


def test_feedback_of_the_samples_is_found_in_every_format_that_has_it() -> None:
    said = "Monday's count includes the returned loaves: subtract them first."
    for name in ("openai-chat.jsonl", "inspect.json", "langfuse.json", "langsmith.jsonl", "mlflow.json", "weave.jsonl",
                 "opik.json", "otlp.json", "nemo-gym.jsonl", "gepa.jsonl"):  # fmt: skip
        assert said in read(SAMPLES / name).traces[0].feedback, name


def test_the_unknown_table_asks_what_its_columns_mean() -> None:
    found = read(SAMPLES / "table.csv").reading
    assert found.columns == ("what was wanted", "what came out", "stars out of 5", "remark")
