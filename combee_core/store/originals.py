"""Compressed copies of imported files, byte for byte, beside the database: a better importer can read them again.

Not inside the database: a second copy of every text there doubles the time of an import.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import zstandard

from combee_core.store.database import Database, Row, StoreError

CHUNK = 1 << 20


class Originals:
    """The folder `originals` beside the database and the table of the same name."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.folder = database.path.parent / f"{database.path.stem}-originals"

    def keep(self, path: Path, name: str) -> str | None:
        """Copy a file unless the same bytes are kept already; its SHA-256, or None when it cannot be read."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, packed = tempfile.mkstemp(dir=self.folder)
            with os.fdopen(handle, "wb") as target, path.open("rb") as source:
                sha256, size = _pack(source, target)
        except OSError:
            return None
        os.replace(packed, self._place(sha256))
        with self._database.write() as cursor:
            cursor.execute(
                "insert or ignore into originals (sha256, name, bytes) values (?, ?, ?)", [sha256, name, size]
            )
        return sha256

    def drop_unused(self, sha256: str) -> None:
        """Remove a copy that no import refers to."""
        with self._database.write() as cursor:
            used = cursor.execute("select count(*) from imports where original = ?", [sha256]).fetchall()[0][0]
            if not used:
                cursor.execute("delete from originals where sha256 = ?", [sha256])
                self._place(sha256).unlink(missing_ok=True)

    def all(self) -> list[Row]:
        """sha256, name and bytes of every kept file, oldest first."""
        return self._database.rows("select * from originals order by kept_at, sha256")

    @contextmanager
    def unpacked(self, sha256: str) -> Iterator[Path]:
        """The file as it was, for as long as the block runs. Raises StoreError when the copy is gone."""
        handle, unpacked = tempfile.mkstemp(dir=self.folder)
        try:
            with self._opened(sha256) as source, os.fdopen(handle, "wb") as target:
                while chunk := source.read(CHUNK):
                    target.write(chunk)
            yield Path(unpacked)
        finally:
            Path(unpacked).unlink(missing_ok=True)

    def _place(self, sha256: str) -> Path:
        return self.folder / f"{sha256}.zst"

    def _opened(self, sha256: str) -> zstandard.ZstdDecompressionReader:
        try:
            stream = self._place(sha256).open("rb")
        except OSError as error:
            raise StoreError(f"The kept copy {self._place(sha256)} is gone: import the file again.") from error
        return zstandard.ZstdDecompressor().stream_reader(stream, closefd=True)


def _pack(source: IO[bytes], target: IO[bytes]) -> tuple[str, int]:
    """Compress a stream; SHA-256 and size of what was read."""
    digest, size = hashlib.sha256(), 0
    with zstandard.ZstdCompressor(level=1).stream_writer(target, closefd=False) as packer:
        while chunk := source.read(CHUNK):
            digest.update(chunk)
            size += len(chunk)
            packer.write(chunk)
    return digest.hexdigest(), size
