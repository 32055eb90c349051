"""Tables: what separates cells, what stands in them, and columns that only their owner knows."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from combee_core.errors import CombeeError
from combee_core.importers import parse_mapping, read_path
from combee_core.importers.json_text import parse_embedded
from combee_core.trace import Trace
from tests.importers.reading import read, read_text


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_question_rows_are_read_with_any_separator(tmp_path: Path, separator: str) -> None:
    text = separator.join(["Question", "prediction", "ground_truth"]) + "\r\n" + separator.join(["1+1?", "2", "2.0"])
    found = read_text(tmp_path, "\ufeff" + text)
    assert found.reading.format == "questions"
    assert (found.traces[0].task, found.traces[0].outcome.success, found.traces[0].source.line) == ("1+1?", True, 2)


def test_quoted_cells_keep_their_newlines_and_lines_are_counted_right(tmp_path: Path) -> None:
    text = 'question,answer\n"one\ntwo, ""three""",1\nlast,2\n'
    found = read_text(tmp_path, text)
    assert [(trace.task, trace.source.line) for trace in found.traces] == [('one\ntwo, "three"', 2), ("last", 4)]


def test_utf16_from_a_spreadsheet_is_read(tmp_path: Path) -> None:
    found = read_text(tmp_path, "question\tanswer\r\nWie groß?\tgroß\r\n".encode("utf-16"))
    assert found.traces[0].task == "Wie groß?"


def test_large_cells_are_read_whole(tmp_path: Path) -> None:
    found = read_text(tmp_path, f"question,answer\nq,{'x' * 300_000}\n")
    assert len(found.traces[0].reference) == 300_000


def test_parquet_rows_come_without_the_nulls_of_other_rows(tmp_path: Path) -> None:
    calls = [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]
    rows = [
        {
            "messages": [{"role": "user", "content": "q"}, {"role": "assistant", "tool_calls": calls}],
            "reward": 1,
            "extra": None,
        },
        {"messages": [{"role": "user", "content": "r"}, {"role": "assistant", "content": "s"}], "extra": "x"},
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet")
    first, second = read(tmp_path / "rows.parquet").traces
    assert (first.messages[1].tool_calls[0].name, first.outcome.success, first.metadata) == ("f", True, {})
    assert (second.messages[1].text, second.metadata) == ("s", {"extra": "x"})


def test_a_damaged_parquet_file_says_so(tmp_path: Path) -> None:
    found = read_text(tmp_path, b"PAR1" + b"\x00" * 50)
    assert "the parquet file is damaged" in found.reading.refusal


def test_a_table_of_unknown_columns_can_be_mapped(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("ask,said,grade,why\nOpen it,Opened,0,Wrong door\n,nothing,1,\n")
    refused = read(path).reading
    assert refused.columns == ("ask", "said", "grade", "why")
    assert "a table whose columns are not known (ask, said, grade, why)" in refused.refusal
    mapping = parse_mapping("task=ask, answer=said, score=grade, feedback=why")
    (reading,) = read_path(path, mapping=mapping)
    entries = list(reading)
    trace = next(entry for entry in entries if isinstance(entry, Trace))
    assert (reading.format, trace.task, trace.messages[1].text) == ("table", "Open it", "Opened")
    assert (trace.outcome.success, trace.feedback) == (False, "Wrong door")
    assert len(entries) == 2


@pytest.mark.parametrize(
    ("grades", "successes"),
    [(("1", "0.5", "0"), [True, None, False]), (("1", "5", "0"), [None, None, None])],
)
def test_one_grade_above_one_makes_all_of_them_ratings(
    tmp_path: Path, grades: tuple[str, ...], successes: list[bool | None]
) -> None:
    path = tmp_path / "stars.csv"
    path.write_text("ask,said,grade\n" + "".join(f"What is {n}?,It is {n},{n}\n" for n in grades))
    (reading,) = read_path(path, mapping=parse_mapping("task=ask, answer=said, score=grade"))
    traces = [entry for entry in reading if isinstance(entry, Trace)]
    assert [trace.outcome.success for trace in traces] == successes
    assert [trace.outcome.score for trace in traces] == [float(grade) for grade in grades]


def test_a_verdict_beside_ratings_still_counts(tmp_path: Path) -> None:
    path = tmp_path / "stars.csv"
    path.write_text("ask,said,grade,well\nWhat?,That,1,yes\nWho?,Me,5,no\n")
    (reading,) = read_path(path, mapping=parse_mapping("task=ask, answer=said, score=grade, success=well"))
    assert [entry.outcome.success for entry in reading if isinstance(entry, Trace)] == [True, False]


@pytest.mark.parametrize("text", ["", "task", "task=", "colour=a", "answer=a"])
def test_a_mapping_that_cannot_be_used_is_an_error_in_one_sentence(text: str) -> None:
    with pytest.raises(CombeeError):
        parse_mapping(text)


values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(2**40), 2**40), st.text(st.characters(exclude_categories=["Cs"]))
    ),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)),
    max_leaves=20,
)


@settings(max_examples=50)
@given(st.one_of(st.lists(values), st.dictionaries(st.text("abc'\"\\\n"), values, min_size=1)))
def test_what_python_prints_is_read_back(value: object) -> None:
    assert parse_embedded(repr(value)) == _storable(value)


def _storable(value: object) -> object:
    if isinstance(value, str):
        return value.replace("\x00", "\ufffd")
    if isinstance(value, list):
        return [_storable(item) for item in value]
    return {_storable(key): _storable(item) for key, item in value.items()} if isinstance(value, dict) else value
