"""ATIF documents: dialects, observations, tasks behind headings, outcomes that a writer added."""

import json
from pathlib import Path
from typing import Any

import pytest

from combee_core.importers.formats.atif import task_in
from tests.importers.reading import lines, read_text


def document(**fields: Any) -> dict[str, Any]:
    steps = [
        {"step_id": 1, "source": "user", "message": "List the files."},
        {"step_id": 2, "source": "agent", "message": "",
         "tool_calls": [{"tool_call_id": "a", "function_name": "ls", "arguments": {}}],
         "observation": {"results": [{"source_call_id": "a", "content": "x.txt"}, {"content": None}]}},
        {"step_id": 3, "source": "agent", "message": None, "reasoning_content": "Only one."},
    ]  # fmt: skip
    return {"schema_version": "ATIF-v1.0", "session_id": "s", "agent": {"name": "n"}, "steps": steps, **fields}


@pytest.mark.parametrize("version", ["ATIF-v1.0", "ATIF-v1.8", "ATIF-v2.3", "1.4", None])
def test_every_version_and_the_looser_dialects_are_recognised(tmp_path: Path, version: str | None) -> None:
    found = read_text(tmp_path, json.dumps(document(schema_version=version)))
    assert found.reading.format == "atif"
    (trace,) = found.traces
    assert (trace.task, trace.steps) == ("List the files.", 2)
    assert [result.text for result in trace.messages[2].tool_results] == ["x.txt", ""]
    assert trace.messages[2].tool_results[0].name == "ls"


def test_trajectories_come_one_a_line_or_in_a_list(tmp_path: Path) -> None:
    two = [document(session_id="one", reward=1.0), document(session_id="two", reward=0.0)]
    for text in (lines(*two), json.dumps(two)):
        found = read_text(tmp_path, text)
        assert [trace.outcome.success for trace in found.traces] == [True, False]
        assert [trace.metadata["session_id"] for trace in found.traces] == ["one", "two"]


def test_a_trajectory_whose_steps_hold_nothing_is_rejected(tmp_path: Path) -> None:
    found = read_text(tmp_path, lines(document(), document(steps=[])))
    assert [(reject.line, reject.reason) for reject in found.rejects] == [
        (2, "None of its steps holds a message, a tool call or a result.")
    ]


@pytest.mark.parametrize(
    "message",
    [
        "Rules first.\n\nTask Description:\nBuild it.\n\nCurrent terminal state:\n$",
        "Rules first.\n## Task Description\nBuild it.",
        "Build it.",
        "You are picking up work\n\n**Original Task:** Build it.\n\n**Summary from Previous Agent:**\nDone so far.",
    ],
)
def test_the_task_is_found_behind_the_harness_text(message: str) -> None:
    assert task_in(message) == "Build it."
