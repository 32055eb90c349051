"""Broken and foreign files: what can be read is read, the rest is named with its line, nothing raises."""

import gzip
import json
from pathlib import Path

import pytest

from combee_core.errors import CombeeError
from combee_core.importers import read_path
from tests.importers.reading import chat, lines, read, read_text

ROW = lines(chat("q", "a"))


@pytest.mark.parametrize(
    ("text", "lines_rejected", "traces"),
    [
        (ROW + "{broken\n" + lines(chat("r", "b")), [2], 2),
        ("{broken\n" + ROW + "\n\nnot json\n" + lines(chat("r", "b")), [1, 5], 2),
        (ROW + "[1, 2\n" + ROW, [2], 2),
        (ROW + "12\nnull\n" + ROW, [2, 3], 2),
        ("ab> " + ROW + lines(chat("r", "b")), [], 2),
        (ROW.strip() + " tail\n" + lines(chat("r", "b")), [1], 2),
    ],
)
def test_good_lines_go_in_and_bad_ones_are_named(
    tmp_path: Path, text: str, lines_rejected: list[int], traces: int
) -> None:
    found = read_text(tmp_path, text)
    assert [reject.line for reject in found.rejects] == lines_rejected
    assert len(found.traces) == traces


def test_a_cut_list_gives_the_records_before_the_cut(tmp_path: Path) -> None:
    text = json.dumps([chat("one", "1"), chat("two", "2"), chat("three", "3")], indent=1)
    found = read_text(tmp_path, text[:-60])
    assert [trace.task for trace in found.traces] == ["one", "two"]
    (reject,) = found.rejects
    assert reject.index == 2
    assert reject.reason.startswith("The file is cut off in the middle of this record")


def test_a_cut_gzip_keeps_what_unpacks_and_says_so(tmp_path: Path) -> None:
    rows = lines(*(chat(f"question {number} {'x' * number}", "a") for number in range(3000)))
    found = read_text(tmp_path, gzip.compress(rows.encode())[:-400])
    assert 0 < len(found.traces) < 3000
    assert "gzip stream is cut off" in found.rejects[-1].reason


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it is empty"),
        (b"\xef\xbb\xbf \n\n", "it is empty"),
        (b"<!DOCTYPE html><html><body>404</body></html>", "it is an HTML page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 3\n", "Git LFS pointer"),
        (b"%PDF-1.7 ...", "a PDF document"),
        (b"\x00\x01\x02\x03" * 50, "binary data"),
        (b"just words", "text without JSON"),
        (b'{"name": "pkg", "steps": ["build", "test"]}', "an object with name, steps"),
        (b'{"messages": [{"role": "user", "content": "hi', "cut off"),
        (b"[[[[[" * 3000, "nested too deeply"),
        (b'{"messages": [], "steps": {"a": 1}}', "an object with messages, steps"),
    ],
)
def test_a_file_that_is_no_trace_gets_one_sentence(tmp_path: Path, content: bytes, words: str) -> None:
    found = read_text(tmp_path, content)
    assert found.reading.format is None
    assert not found.traces
    assert words in found.reading.refusal
    assert found.reading.refusal.startswith("file.dat ")
    assert "\n" not in found.reading.refusal


def test_a_file_that_cannot_be_opened_is_refused_and_not_raised(tmp_path: Path) -> None:
    assert read(tmp_path / "missing.jsonl").reading.refusal.startswith("missing.jsonl cannot be read: No such file")


def test_an_unknown_format_name_is_an_error_that_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(CombeeError, match=r"no format nonsense: choose one of .*openai-chat"):
        next(read_path(tmp_path / "x", format="nonsense"))


def test_the_shown_name_may_differ_from_the_spooled_file(tmp_path: Path) -> None:
    (tmp_path / "upload-1").write_text(ROW + "oops\n")
    (reading,) = read_path(tmp_path / "upload-1", name="mine.jsonl")
    trace, reject = reading
    assert (reading.shown, str(trace.source), reject.file) == ("mine.jsonl", "mine.jsonl, line 1", "mine.jsonl")


def test_memory_stays_flat_while_lines_are_read(tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "large.jsonl"
    with path.open("w") as file:
        for number in range(20_000):
            file.write(lines(chat(f"question {number}", "x" * 2_000)))
    tracemalloc.start()
    (reading,) = read_path(path)
    count = sum(1 for _ in reading)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 20_000
    assert peak < 10_000_000
