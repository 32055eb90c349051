"""Text to records: JSON Lines, one JSON document, values one after the other.

It decides by what the text is, never by a file's name, and it reads JSON Lines line by line, so that memory stays flat.
It knows no trace format.
"""

import io
import re
from collections.abc import Iterator
from itertools import chain

from combee_core.importers.base import Record
from combee_core.importers.blob import from_chunks
from combee_core.importers.json_text import TextError, decode, excerpt_of, parse
from combee_core.importers.salvage import CUT_FILE, BadText, bad_text, salvage

LARGEST_DOCUMENT = 1 << 28
_SURELY_WHOLE = 1 << 26
_CLOSING = (b"}", b"]")
_EXPLAINED = 10_000
"""Bad lines of a file whose reason is looked for: nobody reads more, and files of millions would take minutes."""
_LARGE = 1 << 22
_STRUCTURE = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[][{},]', re.DOTALL)


def records_of(reader: io.BufferedReader) -> Iterator[Record | BadText]:
    """The values that a UTF-8 text holds, as they come, and notes on what is no value."""
    lines = _Lines(reader, offset=reader.tell())
    first = lines.next()
    if first is None:
        return
    start = lines.offset
    if not _is_record(first):
        yield from _from_document(first, lines, reader)
    elif (second := lines.next()) is None:
        yield Record(parse(first), None, 0, first[:4096], start, len(first))
    else:
        yield Record(parse(first), lines.previous, None, first, start, len(first))
        yield from _from_lines(lines, second)


class _Lines:
    """Lines of a stream that are not blank; `number` (from 1) is that of the last one, `previous` the one before.

    `offset` is the byte at which the last one starts.
    """

    def __init__(self, reader: io.BufferedReader, number: int = 0, offset: int = 0) -> None:
        self._reader = reader
        self.number = self.previous = number
        self.offset = self._end = offset

    def next(self) -> bytes | None:
        """The next line that is not blank, None at the end."""
        self.previous, number = self.number, self.number
        while line := self._reader.readline(LARGEST_DOCUMENT):
            number += 1
            self.offset = self._end
            self._end += len(line)
            if not line.isspace():
                self.number = number
                return line
        return None

    def block(self, opening: bytes) -> tuple[bytes, bytes | None]:
        """A pretty-printed value up to the line that closes it, and the line after it."""
        parts, size = [opening], 0
        while (line := self.next()) is not None and size < LARGEST_DOCUMENT and not line.startswith(b"{"):
            parts.append(line)
            size += len(line)
            if line.startswith(_CLOSING):
                line = self.next()
                break
        return b"".join(parts), line


def _is_record(line: bytes) -> bool:
    """Whether a line is a value by itself; a number or a word may be anything, so it is none."""
    try:
        return isinstance(parse(line), dict | list | str)
    except TextError:
        return False


def _from_lines(lines: _Lines, line: bytes | None) -> Iterator[Record | BadText]:
    bad = 0
    while line is not None:
        number, offset = lines.number, lines.offset
        if line.strip() in (b"{", b"["):
            line, following = lines.block(line)
        else:
            following = lines.next()
        if bad > _EXPLAINED and _is_hopeless(line):
            yield BadText(number, None, "It is no JSON.", "")
            line = following
            continue
        try:
            yield Record(parse(line), number, None, line, offset, len(line))
        except TextError as error:
            bad += 1
            if line.count(b"{") + line.count(b"[") < 2:
                yield bad_text(decode(line), number, error, is_end=following is None)
            else:
                yield from salvage(decode(line), number, is_end=following is None)
        line = following


def _is_hopeless(line: bytes) -> bool:
    """Whether a line can hold no trace, as one can see without reading it: it has no text in quotes."""
    return line.count(b'"') < 2


def _from_document(first: bytes, lines: _Lines, reader: io.BufferedReader) -> Iterator[Record | BadText]:
    """A text whose first line is no value by itself: one large value most often, broken JSON Lines else."""
    start, data = lines.offset, first + reader.read(_SURELY_WHOLE)
    if len(data) - len(first) == _SURELY_WHOLE:
        if _has_lines(data):
            rest = from_chunks(chain([data], iter(lambda: reader.read(1 << 20), b"")))
            again = _Lines(rest, lines.number - 1, start)
            yield from _from_lines(again, again.next())
            return
        data += reader.read(max(0, LARGEST_DOCUMENT - len(data)))
        if reader.read(1):
            reason = "It is one JSON value of more than 256 MB: save the traces as JSON Lines."
            yield BadText(None, None, reason, excerpt_of(data))
            return
    if len(data) > _LARGE and data.lstrip()[:1] == b"[":
        for piece, offset, index in items_of(data):
            yield _item(piece, index, start + offset)
        return
    try:
        yield Record(parse(data), None, 0, data[:4096], start, len(data))
    except TextError:
        text, is_utf8 = _decode_lines(data)
        yield from salvage(text, lines.number, offset=start if is_utf8 else None)


def items_of(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """The items of a list as text, with offset and index, so that never all of them are objects at the same time.

    A list that is cut off ends with an item that is no JSON.
    """
    index = depth = 0
    start = 0
    for token in _STRUCTURE.finditer(data):
        mark = token.group()
        if mark in (b"[", b"{"):
            depth += 1
            if depth == 1:
                start = token.end()
        elif mark in (b"]", b"}"):
            depth -= 1
        if (depth == 1 and mark == b",") or depth == 0:
            piece = data[start : token.start()].strip()
            if piece:
                yield piece, start, index
                index += 1
            start = token.end()
        if depth == 0 and mark == b"]":
            return
    yield data[start:], start, index


def _item(piece: bytes, index: int, offset: int) -> Record | BadText:
    try:
        return Record(parse(piece), None, index, piece[:4096], offset, len(piece))
    except TextError as error:
        if error.cut_off:
            return BadText(None, index, CUT_FILE, excerpt_of(piece[:4096]))
        return BadText(None, index, f"It is {error}.", excerpt_of(piece))


def _has_lines(data: bytes) -> bool:
    """Whether a large text looks like JSON Lines with a broken beginning: some line is an object by itself."""
    return any(line.startswith(b"{") and _is_record(line) for line in data[: 1 << 22].split(b"\n")[1:-1])


def _decode_lines(data: bytes) -> tuple[str, bool]:
    """The text, and whether it is UTF-8; else each line is decoded by itself, so that one does not spoil the others."""
    try:
        return data.decode(), True
    except UnicodeDecodeError:
        return "".join(decode(line) for line in data.splitlines(keepends=True)), False
