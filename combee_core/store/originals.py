"""Compressed copies of imported files, byte for byte, beside the database: a better importer can read them again.

Not inside the database: a second copy of every text there doubles the time of an import.
"""

import io
import os
import tempfile
from pathlib import Path

import orjson
import zstandard

from combee_core.store.database import Database, Row, StoreError
from combee_core.store.frames import Packed, Unpacked, pack

CHUNK = 1 << 20


class Originals:
    """The folder `originals` beside the database and the table of the same name."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.folder = database.path.parent / f"{database.path.stem}-originals"

    def keep(self, path: Path, name: str) -> Packed | None:
        """Copy a file unless the same bytes are kept already; what it was, or None when it cannot be read."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, packed = tempfile.mkstemp(dir=self.folder)
            with os.fdopen(handle, "wb") as target, path.open("rb") as source:
                found = pack(source, target)
        except OSError:
            return None
        os.replace(packed, self._place(found.sha256))
        starts = orjson.dumps(found.starts).decode()
        with self._database.write() as cursor:
            cursor.execute(
                "insert into originals (sha256, name, bytes, frames) values (?, ?, ?, ?) "
                "on conflict (sha256) do update set frames = excluded.frames",
                [found.sha256, name, found.size, starts],
            )
        return found

    def drop_unused(self, sha256: str) -> None:
        """Remove a copy that neither an import nor a gathering of files refers to."""
        with self._database.write() as cursor:
            used = cursor.execute(
                "select (select count(*) from imports where original = ?) "
                "+ (select count(*) from gatherings where contains(gathering, ?))",
                [sha256, sha256],
            ).fetchall()[0][0]
            if not used:
                cursor.execute("delete from originals where sha256 = ?", [sha256])
                self._place(sha256).unlink(missing_ok=True)

    def all(self) -> list[Row]:
        """sha256, name and bytes of every kept file, oldest first."""
        return self._database.rows("select * from originals order by kept_at, sha256")

    def open(self, sha256: str) -> io.BufferedReader:
        """The bytes of the file as it was, to be read from any position. Raises StoreError when the copy is gone."""
        try:
            packed = self._place(sha256).open("rb")
        except OSError as error:
            raise StoreError(f"The kept copy {self._place(sha256)} is gone: import the file again.") from error
        row = self._database.row("select bytes, frames from originals where sha256 = ?", [sha256])
        if row is None or row["frames"] is None:
            # Copies of earlier releases are one frame.
            return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(packed, closefd=True), CHUNK)
        return io.BufferedReader(Unpacked(packed, orjson.loads(row["frames"]), row["bytes"]), CHUNK)

    def _place(self, sha256: str) -> Path:
        return self.folder / f"{sha256}.zst"
