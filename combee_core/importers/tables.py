"""Tables to records: parquet, and text with separators (comma, semicolon, tab). A row is an object without its nulls.

Cells may hold JSON, JSON encoded twice, or lists as Python prints them. It knows no trace format.
"""

import csv
import io
import sys
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from combee_core.importers.base import Record
from combee_core.importers.blob import Blob, chunks_of, peek
from combee_core.importers.json_text import TextError, clean, clean_text, decode, parse, parse_embedded
from combee_core.importers.salvage import BadText

_BATCH = 64
_LEAST_COLUMNS, _LONGEST_NAME = 2, 80
_SAMPLE_LINES = 20
_NO_NAME = frozenset('{}[]"<>')
_DELIMITERS = ",;\t|"

csv.field_size_limit(sys.maxsize)


def parquet_rows(reader: io.BufferedReader, blob: Blob) -> Iterator[Record | BadText] | None:
    """The rows of a parquet file; None when the bytes are none."""
    return _rows_of_parquet(reader, blob) if peek(reader, 4) == b"PAR1" else None


def delimited_rows(reader: io.BufferedReader) -> Iterator[Record | BadText] | None:
    """The rows of a text with separators; None when the text has no header line that names at least two columns."""
    head = decode(peek(reader))
    delimiter = _delimiter(head)
    return None if delimiter is None else _text_rows(reader, delimiter)


def _rows_of_parquet(reader: io.BufferedReader, blob: Blob) -> Iterator[Record | BadText]:
    with _seekable(reader) as file:
        try:
            index = 0
            for batch in pq.ParquetFile(file).iter_batches(batch_size=_BATCH):
                for row in batch.to_pylist():
                    yield Record(clean(_without_nulls(row)), index=index)
                    index += 1
        except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
            blob.notes.append(f"the parquet file is damaged ({str(error).splitlines()[0][:120]})")


def _seekable(reader: io.BufferedReader) -> BinaryIO:
    if reader.raw.seekable():
        return reader
    spooled = tempfile.TemporaryFile()  # noqa: SIM115 (closed by the caller)
    for chunk in chunks_of(reader):
        spooled.write(chunk)
    spooled.seek(0)
    return spooled


def _without_nulls(value: Any) -> Any:
    """All structs of a parquet column share their keys, so that absent ones arrive as null."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value if item is not None]
    return value


def _delimiter(head: str) -> str | None:
    lines = head.splitlines()[:_SAMPLE_LINES]
    if not lines or head.lstrip()[:1] in ("{", "[") or _is_json(lines[0]):
        return None
    best = max(_DELIMITERS, key=lines[0].count)
    names = next(csv.reader([lines[0]], delimiter=best), [])
    named = all(name.strip() and len(name) <= _LONGEST_NAME and _NO_NAME.isdisjoint(name) for name in names)
    if len(names) < _LEAST_COLUMNS or not named or len(set(names)) < len(names) or len(lines) < 2:
        return None
    return best


def _is_json(line: str) -> bool:
    try:
        return parse(line) is not None
    except TextError:
        return False


def _column(name: str) -> str:
    """A column's name; spreadsheets like to write Score or SCORE."""
    name = name.strip()
    return name.lower() if name.istitle() or name.isupper() else name


def _text_rows(reader: io.BufferedReader, delimiter: str) -> Iterator[Record | BadText]:
    text = io.TextIOWrapper(reader, encoding="utf-8", errors="surrogateescape", newline="")
    rows = csv.reader(_lines(text), delimiter=delimiter)
    names = [_column(name) for name in next(rows)]
    line = rows.line_num + 1
    for row in _readable(rows):
        if any(row):
            cells = dict(zip(names, row, strict=False))
            yield Record(
                {name: _cell(cell) for name, cell in cells.items() if cell.strip()},
                line=line,
                raw=delimiter.join(row)[:2000].encode("utf-8", "replace"),
            )
        line = rows.line_num + 1


def _lines(text: Iterable[str]) -> Iterator[str]:
    """Lines as UTF-8 where they are, as cp1252 where they are not, without NUL."""
    for line in text:
        if line.isascii() and "\x00" not in line:
            yield line
        else:
            yield clean_text(decode(line.encode("utf-8", "surrogateescape")))


def _readable(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    while True:
        try:
            row = next(rows, None)
        except csv.Error:
            continue
        if row is None:
            return
        yield row


def _cell(text: str) -> Any:
    return parse_embedded(text) if text.lstrip()[:1] in ("{", "[") else text
