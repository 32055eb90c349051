"""Bytes with a name: a file on disk or a member of an archive, unpacked and recoded to UTF-8 while it is read.

It knows compression and encodings, and neither JSON nor traces.
"""

import codecs
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import zstandard

HEAD = 65_536
_CHUNK = 1 << 20
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


@dataclass
class Blob:
    """A named piece of bytes. `open` gives them from the start each time; `notes` says what was wrong while reading."""

    name: str
    open: Callable[[], BinaryIO]
    member: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def shown(self) -> str:
        """The name for people: `archive.zip!member` inside an archive."""
        return f"{self.name}!{self.member}" if self.member else self.name


def file_blob(path: Path, name: str | None = None) -> Blob:
    """A file on disk under the name that people know it by."""
    return Blob(name or str(path), lambda: path.open("rb"))


def unpacked(blob: Blob) -> io.BufferedReader:
    """The bytes of a blob with gzip and zstd taken off, also one inside the other. What a cut stream holds is kept."""
    reader: io.BufferedReader = io.BufferedReader(_raw(blob.open()), _CHUNK)
    for _ in range(3):
        head = reader.peek(4)[:4]
        if head.startswith(GZIP):
            reader = from_chunks(_gunzip(reader, blob))
        elif head.startswith(ZSTD):
            reader = from_chunks(_unzstd(reader, blob))
        else:
            break
    return reader


def as_utf8(reader: io.BufferedReader) -> io.BufferedReader:
    """The same text without a byte order mark, recoded where it is UTF-16, with lone carriage returns as newlines."""
    head = peek(reader)
    if head.startswith(codecs.BOM_UTF8):
        reader.read(len(codecs.BOM_UTF8))
    elif encoding := _utf16(head):
        return from_chunks(_recoded(reader, encoding))
    if b"\r" in head and b"\n" not in head:
        return from_chunks(chunk.replace(b"\r", b"\n") for chunk in iter(lambda: reader.read(_CHUNK), b""))
    return reader


def peek(reader: io.BufferedReader, size: int = HEAD) -> bytes:
    """The first bytes, without taking them."""
    return reader.peek(size)[:size]


class _Chunks(io.RawIOBase):
    """A raw stream over an iterator of byte strings."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def from_chunks(chunks: Iterator[bytes]) -> io.BufferedReader:
    """A stream over byte strings that are made while it is read."""
    return io.BufferedReader(_Chunks(chunks), _CHUNK)


def _raw(stream: BinaryIO) -> io.RawIOBase:
    return _Chunks(iter(lambda: stream.read(_CHUNK), b""))


def _gunzip(reader: io.BufferedReader, blob: Blob) -> Iterator[bytes]:
    unzipper = gzip.GzipFile(fileobj=reader)
    try:
        while chunk := unzipper.read1(_CHUNK):
            yield chunk
    except (EOFError, OSError, zlib.error):
        blob.notes.append("its gzip stream is cut off or damaged: what could be unpacked was read")


def _unzstd(reader: io.BufferedReader, blob: Blob) -> Iterator[bytes]:
    try:
        with zstandard.ZstdDecompressor().stream_reader(reader, read_across_frames=True) as unzipper:
            while chunk := unzipper.read(_CHUNK):
                yield chunk
    except zstandard.ZstdError:
        blob.notes.append("its zstd stream is damaged: what could be unpacked was read")


def _utf16(head: bytes) -> str | None:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    start = head[:64]
    if len(start) >= 4 and len(start) % 2 == 0:
        if not any(start[1::2]) and all(start[0::2]):
            return "utf-16-le"
        if not any(start[0::2]) and all(start[1::2]):
            return "utf-16-be"
    return None


def _recoded(reader: io.BufferedReader, encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    while chunk := reader.read(_CHUNK):
        yield decoder.decode(chunk).encode("utf-8", "replace")
    yield decoder.decode(b"", True).encode("utf-8", "replace")
