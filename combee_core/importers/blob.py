"""Bytes with a name: a file on disk or a member of an archive, unpacked and recoded to UTF-8 while it is read.

It knows compression and encodings, and neither JSON nor traces.
"""

import codecs
import gzip
import io
import zlib
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import zstandard

HEAD = 65_536
_CHUNK = 1 << 20
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


@dataclass
class Blob:
    """A named piece of bytes: a file, or with `member` one inside an archive.

    `open` gives the bytes from the start each time. `path` is where it lies among the files that were given together,
    with slashes. `problem` says why it must not be opened, `notes` what was wrong while reading.
    """

    name: str
    open: Callable[[], io.BufferedReader]
    member: str = ""
    path: str = ""
    problem: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def shown(self) -> str:
        """The name for people: `archive.zip!member` inside an archive."""
        return f"{self.name}!{self.member}" if self.member else self.name


def file_blob(path: Path, name: str | None = None, place: str = "") -> Blob:
    """A file on disk under the name that people know it by; `place` is its path inside a folder."""
    shown = name or str(path)
    return Blob(shown, lambda: io.BufferedReader(path.open("rb", buffering=0), _CHUNK), path=place or Path(shown).name)


def unpacked(blob: Blob) -> io.BufferedReader:
    """The bytes of a blob with gzip and zstd taken off, also one inside the other. What a cut stream holds is kept."""
    reader = blob.open()
    for _ in range(3):
        head = peek(reader, 4)
        if head.startswith(GZIP):
            reader = from_chunks(_gunzip(reader, blob))
        elif head.startswith(ZSTD):
            reader = from_chunks(unzstd(reader, blob))
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
        return from_chunks(chunk.replace(b"\r", b"\n") for chunk in chunks_of(reader))
    return reader


def peek(reader: io.BufferedReader, size: int = HEAD) -> bytes:
    """The first bytes, without taking them."""
    return reader.peek(size)[:size]


def chunks_of(reader: io.BufferedReader) -> Iterator[bytes]:
    """The rest of a stream, piece by piece; the stream is closed at the end."""
    with reader:
        while chunk := reader.read1(_CHUNK):
            yield chunk


def from_chunks(chunks: Iterator[bytes]) -> io.BufferedReader:
    """A stream over byte strings that are made while it is read."""
    return io.BufferedReader(_Chunks(chunks), _CHUNK)


class _Chunks(io.RawIOBase):
    """A raw stream over an iterator of byte strings."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")
        self._position = 0

    def tell(self) -> int:
        return self._position

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
        self._position += size
        return size

    def close(self) -> None:
        if isinstance(self._chunks, Generator) and not self.closed:
            self._chunks.close()
        super().close()


def _gunzip(reader: io.BufferedReader, blob: Blob) -> Iterator[bytes]:
    try:
        with reader, gzip.GzipFile(fileobj=reader) as unzipper:
            while chunk := unzipper.read1(_CHUNK):
                yield chunk
    except (EOFError, OSError, zlib.error):
        blob.notes.append("its gzip stream is cut off or damaged")


def unzstd(reader: io.BufferedReader, blob: Blob) -> Iterator[bytes]:
    """The unpacked pieces of a zstd stream, of one frame or several."""
    try:
        with reader, zstandard.ZstdDecompressor().stream_reader(reader, read_across_frames=True) as unzipper:
            while chunk := unzipper.read(_CHUNK):
                yield chunk
    except zstandard.ZstdError:
        blob.notes.append("its zstd stream is cut off or damaged")


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
    for chunk in chunks_of(reader):
        yield decoder.decode(chunk).encode("utf-8", "replace")
    yield decoder.decode(b"", True).encode("utf-8", "replace")
