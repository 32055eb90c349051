"""The content hash: the same run exported twice is one trace, another run is another."""

from combee_core.trace import Message, Outcome, Source, ToolCall, ToolResult, Trace


def run(call_id: str = "call_1", **changes: object) -> Trace:
    values = {
        "task": "refund order 7",
        "messages": (
            Message(role="user", text="refund order 7"),
            Message(role="assistant", tool_calls=(ToolCall(name="refund", arguments='{"order": 7}', id=call_id),)),
            Message(role="tool", tool_results=(ToolResult(text="done", call_id=call_id),)),
        ),
        "source": Source(file="a.jsonl", format="openai-chat", line=1),
        "outcome": Outcome(success=True),
    }
    return Trace(**(values | changes))


def test_ids_source_and_metadata_do_not_change_the_hash():
    other = run("call_2", source=Source(file="b.jsonl", format="atif"), metadata={"timestamp": "today"})
    assert other.content_hash == run().content_hash
    assert other.id == run().id


def test_what_happened_changes_the_hash():
    changes = (
        {"task": "another"},
        {"outcome": Outcome(success=False)},
        {"feedback": "well done"},
        {"reference": "7"},
        {"messages": run().messages[:2]},
    )
    hashes = {run().content_hash, *(run(**change).content_hash for change in changes)}
    assert len(hashes) == 6


def test_steps_count_what_the_agent_wrote():
    assert run().steps == 1
