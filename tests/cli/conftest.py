"""A shell and some chats for the tests of commands."""

import json
from pathlib import Path

import pytest

from tests.cli.shell import Shell


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    """Twelve chats in which the agent gets a unit wrong, one broken line, one chat twice."""
    rows = [
        {
            "messages": [
                {"role": "user", "content": f"Refund order {number}"},
                {"role": "assistant", "content": f"Refunded {number}.50"},
            ],
            "score": number % 2,
            "feedback": f"refund_order wants order_{number} in cents, so pass {number * 50} instead of {number}.50.",
        }
        for number in range(12)
    ]
    path = tmp_path / "chats.jsonl"
    lines = [json.dumps(row) for row in rows]
    path.write_text("\n".join([*lines[:3], '{"messages": [', *lines[3:], lines[0]]) + "\n")
    return path


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path / "combee.duckdb", capsys)
