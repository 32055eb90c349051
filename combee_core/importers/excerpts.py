"""The very text that a trace was read from, found again in the file by its source."""

from itertools import islice

from combee_core.importers.archives import members_of
from combee_core.importers.blob import Blob, as_utf8, unpacked
from combee_core.importers.records import items_of
from combee_core.trace import Source

_SEARCHED = 1 << 24
"""Bytes of a list in which an item is looked for."""


def text_of(blob: Blob, source: Source, most: int = 20_000) -> str | None:
    """The record that a trace starts at, at most `most` bytes of it; None where its place in the file is not known."""
    if source.member:
        members = members_of(blob) or []
        found = next((member for member in members if member.member == source.member), None)
        if found is None:
            return None
        blob = found
    data = _by_offset(blob, source, most) if source.offset is not None else _by_line(blob, source.line)
    return None if data is None else data.strip(b"\r\n")[:most].decode("utf-8", "replace")


def _by_offset(blob: Blob, source: Source, most: int) -> bytes | None:
    with as_utf8(unpacked(blob)) as reader:
        left = (source.offset or 0) - reader.tell()
        is_whole = left == 0 and source.index is not None
        if reader.raw.seekable():
            reader.seek(left, 1)
        while left > 0 and not reader.raw.seekable() and (skipped := reader.read(min(left, 1 << 20))):
            left -= len(skipped)
        length = source.length or 0
        if not is_whole or length > _SEARCHED:
            return reader.read(min(length, most))
        data = reader.read(length)
    if not data.lstrip().startswith(b"["):
        return data
    return next((item for item, _, index in items_of(data) if index == source.index), None)


def _by_line(blob: Blob, line: int | None) -> bytes | None:
    if line is None:
        return None
    with as_utf8(unpacked(blob)) as reader:
        return next(islice(reader, line - 1, None), None)
