"""Files packed with zstd in frames of their own, so that reading in the middle does not unpack all that lies before.

A packed file is a plain zstd stream, which the `zstd` command unpacks as well.
"""

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

import zstandard

FRAME = 1 << 22
"""Bytes of the file in a frame; only the last one has fewer."""


@dataclass(frozen=True, slots=True)
class Packed:
    """What a packed file was: SHA-256 and size in bytes, and where in the packed file each frame starts."""

    sha256: str
    size: int
    starts: tuple[int, ...]


def pack(source: IO[bytes], target: IO[bytes]) -> Packed:
    """Pack a stream frame by frame."""
    digest, size, starts = hashlib.sha256(), 0, []
    packer = zstandard.ZstdCompressor(level=1)
    packed = 0
    while frame := source.read(FRAME):
        digest.update(frame)
        starts.append(packed)
        size += len(frame)
        packed += target.write(packer.compress(frame))
    return Packed(digest.hexdigest(), size, tuple(starts))


class Unpacked(io.RawIOBase):
    """The file in a packed one, to be read from any position; one frame at a time is in memory."""

    def __init__(self, packed: IO[bytes], starts: Sequence[int], size: int) -> None:
        self._packed, self._starts, self._size = packed, starts, size
        self._position, self._loaded, self._frame = 0, -1, b""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, start + offset)
        return self._position

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        number, inside = divmod(self._position, FRAME)
        if self._position >= self._size:
            return 0
        piece = memoryview(self._load(number))[inside : inside + len(buffer)]
        buffer[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)

    def close(self) -> None:
        if not self.closed:
            self._packed.close()
        super().close()

    def _load(self, number: int) -> bytes:
        if number != self._loaded:
            self._packed.seek(self._starts[number])
            following = self._starts[number + 1] if number + 1 < len(self._starts) else None
            data = self._packed.read(-1 if following is None else following - self._starts[number])
            self._frame, self._loaded = zstandard.ZstdDecompressor().decompress(data), number
        return self._frame
