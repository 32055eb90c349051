"""The comparison with other tools: tool calls that fit their schemas, environments that cannot be made."""

import json
import sys

import pytest

from benchmarks.peers.environments import Missing, Peer, environment
from benchmarks.peers.server import tool_call

TOOLS = [
    {
        "function": {
            "name": "add_skill",
            "parameters": {
                "properties": {"section": {"type": "string"}, "content": {"type": "string"}, "extra": {}},
                "required": ["section", "content"],
            },
        }
    },
    {"function": {"name": "final_result", "parameters": {"properties": {}, "required": []}}},
]


def called(messages: list[dict[str, str]], tools: list[dict[str, object]]) -> tuple[str, dict[str, object]]:
    answer = tool_call({"model": "m", "messages": messages, "tools": tools})
    call = answer["choices"][0]["message"]["tool_calls"][0]["function"]
    return call["name"], json.loads(call["arguments"])


def test_a_skill_is_added_with_what_is_required_and_then_the_task_ends():
    asked = {"role": "user", "content": "Learn from this."}
    name, arguments = called([asked], TOOLS)
    assert (name, arguments.keys()) == ("add_skill", {"section", "content"})
    assert called([asked, {"role": "tool", "content": "added"}], TOOLS)[0] == "final_result"
    assert called([asked], TOOLS[1:])[0] == "final_result"


def test_skills_of_different_traces_differ():
    first, second = (called([{"role": "user", "content": text}], TOOLS)[1]["content"] for text in ("one", "two"))
    assert first != second


def test_a_peer_that_no_python_here_can_run_says_what_it_needs():
    with pytest.raises(
        Missing, match=r"future needs Python 9\.9, and there is none here: name one with --python PATH\."
    ):
        environment(Peer("future", ("future",), (9, 9)), named=sys.executable)
