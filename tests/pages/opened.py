"""Pages opened as a reader opens them, through the entry, and traces to put before them."""

import json
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from combee_core.workspace import RunSettings, Workspace

ENTRY = Path(__file__).parents[2] / "pages" / "entry.py"

HOSTILE = (
    '![x](http://evil.example/a.png) <img src="http://evil.example/b.png"> <script>fetch("http://evil.example/c")'
    "</script> $\\int x$ :tada: :material/delete: **bold** [l](http://evil.example/d)"
)


def open_page(name: str = "overview.py", **address: str) -> AppTest:
    """A page of the app, with these names in its address."""
    at = AppTest.from_file(str(ENTRY), default_timeout=30).run()
    at.query_params.update(address)
    if name != "overview.py":
        at.switch_page(name)
    return at.run()


def primary_buttons(at: AppTest) -> list[str]:
    """Labels of the primary buttons on the screen."""
    return [button.label for button in at.button if button.proto.type == "primary"]


def html_of(at: AppTest) -> str:
    """All HTML that the page draws."""
    return "\n".join(element.value for element in at.html)


def chat_record(number: int, **fields: Any) -> dict[str, Any]:
    """A chat record: every third run succeeds, the others are told what was wrong."""
    success = number % 3 == 0
    return {
        "messages": [
            {"role": "user", "content": f"Refund order {number}"},
            {"role": "assistant", "content": f"Order {number} is refunded."},
        ],
        "success": success,
        "score": 1.0 if success else 0.25,
        "feedback": "" if success else "Always multiply euros by 100: amount_cents of refund_order takes cents.",
    } | fields


def chat_jsonl(*records: dict[str, Any]) -> bytes:
    """Records as the bytes of a JSONL file."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def bring(workspace: Workspace, folder: Path, *records: dict[str, Any]) -> list[str]:
    """Import records as one file and give the ids of all traces in the order they came in."""
    file = folder / "runs.jsonl"
    file.write_bytes(chat_jsonl(*records))
    assert workspace.import_paths([file]).new == len(records)
    return [row["id"] for row in workspace.traces(limit=10_000)[1]]


def bring_many(workspace: Workspace, number: int) -> None:
    """A large store in a moment: traces written by the database itself."""
    with workspace._database.write() as cursor:
        cursor.execute(
            "insert into imports (id, file, format, reason, new_traces, duplicates, rejected) "
            "values (1, 'many.jsonl', 'openai-chat', '', ?, 0, 0)",
            [number],
        )
        cursor.execute(
            "insert into traces (id, import_id, content_hash, format, task, messages, steps, success, score, scores, "
            "feedback, reference, source, metadata) select printf('t-%016x', i), 1, i, 'openai-chat', 'Task ' || i, "
            '\'[{"role":"user","text":"Task"},{"role":"assistant","text":"Done"}]\', 1, i % 4 = 0, null, '
            "'{}', '', '', '{\"file\":\"many.jsonl\",\"format\":\"openai-chat\"}', '{}' from range(?) t(i)",
            [number],
        )


def learn(workspace: Workspace, prompt: str = "shop") -> str:
    """A finished offline run."""
    run = workspace.learn(RunSettings(prompt=prompt))
    assert run["state"] == "done", run["error"]
    return str(run["run"])
