"""The text that a trace was read from is found again, wherever it lies."""

import gzip
import json
import zipfile
from pathlib import Path

import pytest
import zstandard

from combee_core.importers import read_path
from combee_core.importers.blob import file_blob
from combee_core.importers.excerpts import text_of
from combee_core.trace import Trace


def row(number: int) -> str:
    return json.dumps({"messages": [{"role": "user", "content": f"Frage {number}: größer?"}]}, ensure_ascii=False)


ROWS = [row(number) for number in range(5)]
LINES = "\n".join(ROWS)
PRETTY = "\n".join(json.dumps(json.loads(text), indent=1) for text in ROWS)


def traces_of(path: Path) -> list[Trace]:
    return [entry for reading in read_path(path) for entry in reading if isinstance(entry, Trace)]


@pytest.mark.parametrize(
    "data",
    [
        LINES.encode(),
        b"\xef\xbb\xbf\n\n" + LINES.replace("\n", "\r\n\r\n").encode(),
        LINES.encode("utf-16"),
        gzip.compress(LINES.encode()),
        zstandard.compress(LINES.encode()),
        f"[{', '.join(ROWS)}]".encode(),
        ("[\n " + ",\n ".join(ROWS) + "\n]").encode(),
        f"[{json.dumps('x' * 5_000_000)}, {', '.join(ROWS)}]".encode(),
        PRETTY.encode(),
    ],
    ids=("lines", "mark-and-blank-lines", "utf-16", "gzip", "zstd", "list", "pretty-list", "large-list", "pretty"),
)
def test_the_text_of_each_trace_is_the_record_that_it_was_read_from(tmp_path: Path, data: bytes):
    path = tmp_path / "chats.json"
    path.write_bytes(data)
    found = [text_of(file_blob(path), trace.source) for trace in traces_of(path)]
    assert [json.loads(text or "null") for text in found] == [json.loads(text) for text in ROWS]


def test_a_member_of_an_archive_is_read_where_it_lies(tmp_path: Path):
    path = tmp_path / "chats.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.jsonl", row(99))
        archive.writestr("chats.jsonl", LINES)
    sources = [trace.source for trace in traces_of(path) if trace.source.member == "chats.jsonl"]
    assert [text_of(file_blob(path), source) for source in sources] == ROWS


def test_offset_and_length_are_bytes_of_a_plain_file(tmp_path: Path):
    path = tmp_path / "chats.jsonl"
    path.write_text(LINES)
    data = path.read_bytes()
    for trace, text in zip(traces_of(path), ROWS, strict=True):
        start = trace.source.offset
        assert start is not None
        assert trace.source.length is not None
        assert data[start : start + trace.source.length].decode().rstrip("\n") == text
