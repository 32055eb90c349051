"""Traces and imports in the database."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from combee_core.store.database import Database, StoreError
from combee_core.store.traces import ImportCounts, RejectRow, TraceFilter, Traces
from combee_core.trace import Message, Outcome, Source, ToolCall, ToolResult, Trace

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def trace(task: str, success: bool | None = None, format: str = "openai-chat") -> Trace:
    return Trace(
        task=task,
        messages=(Message(role="user", text=task),),
        source=Source(file="a.jsonl", format=format, line=1),
        outcome=Outcome(success=success),
    )


@pytest.fixture
def traces(tmp_path: Path):
    database = Database(tmp_path / "combee.duckdb")
    yield Traces(database)
    database.close()


def take_in(traces: Traces, *some: Trace) -> ImportCounts:
    counts = ImportCounts()
    traces.add(traces.begin_import("a.jsonl", "openai-chat", "why"), list(some), [], counts)
    return counts


def test_the_same_trace_twice_is_one_trace_and_a_duplicate(traces):
    assert take_in(traces, trace("a"), trace("b"), trace("a")) == ImportCounts(new=2, duplicates=1)
    assert take_in(traces, trace("b"), trace("c")) == ImportCounts(new=1, duplicates=1)
    assert traces.count() == 3


def test_rejects_are_kept_with_line_and_reason(traces):
    counts = ImportCounts()
    number = traces.begin_import("a.jsonl", None, "why")
    traces.add(number, [], [RejectRow("a.jsonl", 7, None, "not JSON", "{oops")], counts)
    total, rows = traces.rejects(10, 0)
    assert (total, rows[0]["line"], rows[0]["reason"], rows[0]["excerpt"]) == (1, 7, "not JSON", "{oops")
    assert counts.rejected == 1
    assert traces.drop_rejects(number) == 1
    assert traces.rejects(10, 0) == (0, [])


def test_filters_narrow_by_outcome_format_and_text(traces):
    take_in(traces, trace("Apple", True), trace("pear", False, "ace"), trace("plum"))
    assert traces.count(TraceFilter(outcome="success")) == 1
    assert traces.count(TraceFilter(outcome="failure")) == 1
    assert traces.count(TraceFilter(outcome="unknown")) == 1
    assert traces.count(TraceFilter(format="ace")) == 1
    assert [row["task"] for row in traces.page(TraceFilter(text="APPLE"), 10, 0)[1]] == ["Apple"]
    assert traces.outcomes() == {"total": 3, "success": 1, "failure": 1, "unknown": 1}


def test_text_with_quotes_and_line_ends_is_found_in_messages_as_it_was_written(traces):
    said = Message(role="assistant", text='He said "Hello"\nand left')
    take_in(traces, trace("a").model_copy(update={"messages": (said,)}), trace("b"))
    assert traces.count(TraceFilter(text='said "hello"\nAND')) == 1


def test_pages_follow_the_order_of_import(traces):
    take_in(traces, *(trace(str(number)) for number in range(7)))
    total, rows = traces.page(TraceFilter(), 3, 3)
    assert total == 7
    assert [row["task"] for row in rows] == ["3", "4", "5"]
    assert traces.page(TraceFilter(), 0, 0) == traces.page(TraceFilter(), 3, 99) == (7, [])


def test_an_unknown_trace_is_said(traces):
    with pytest.raises(StoreError, match="no trace t-0"):
        traces.get("t-0")


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    made=st.builds(
        Trace,
        task=TEXT,
        messages=st.lists(
            st.builds(
                Message,
                role=st.sampled_from(["system", "user", "assistant", "tool"]),
                text=TEXT,
                reasoning=TEXT,
                tool_calls=st.lists(st.builds(ToolCall, name=TEXT, arguments=TEXT, id=TEXT), max_size=2).map(tuple),
                tool_results=st.lists(
                    st.builds(ToolResult, text=TEXT, name=TEXT, call_id=TEXT, error=st.booleans()), max_size=2
                ).map(tuple),
            ),
            max_size=3,
        ).map(tuple),
        source=st.builds(Source, file=TEXT, format=TEXT, line=st.none() | st.integers(1, 9), member=TEXT),
        outcome=st.builds(
            Outcome,
            success=st.none() | st.booleans(),
            score=st.none() | st.floats(-5, 5),
            scores=st.dictionaries(TEXT, st.floats(0, 1), max_size=2),
        ),
        feedback=TEXT,
        reference=TEXT,
        metadata=st.dictionaries(TEXT, TEXT | st.integers(0, 5), max_size=2),
    )
)
def test_a_trace_comes_back_as_it_went_in(traces, made):
    counts = take_in(traces, made)
    back = traces.get(made.id)
    assert back.content_hash == made.content_hash
    if counts.new:
        assert back == made
