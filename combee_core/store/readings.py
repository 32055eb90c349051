"""What came of reading the same files before, so that importing them again need not read them again."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from combee_core.store.database import Database, Row

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Given:
    """A file that was given to an import: the name that people know it by, its SHA-256 and its size in bytes."""

    name: str
    sha256: str
    size: int


class Readings:
    """The table of the same name: one row for files that were read together in one way, with the report on each."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, files: Sequence[tuple[str, Path]], way: Sequence[Any]) -> list[Row] | None:
        """The reports on these files (name and path) when they were read in this way before; else None.

        Files are only hashed when others of the same size were read, so that a first import does not pay for it.
        Rejects that have been dropped since would have to be found again: then the answer is None too.
        """
        try:
            size = sum(path.stat().st_size for _, path in files)
            if self._database.row("select 1 as known from readings where bytes = ?", [size]) is None:
                return None
            given = [Given(name, _sha256(path), path.stat().st_size) for name, path in files]
        except OSError:
            return None
        row = self._database.row("select reports from readings where key = ?", [_key(given, way)])
        reports: list[Row] = orjson.loads(row["reports"]) if row else []
        return reports if reports and all(self._has_rejects(report) for report in reports) else None

    def note(self, files: Sequence[Given], way: Sequence[Any], reports: Sequence[object]) -> None:
        """Keep the reports (dataclasses or dictionaries) on files that have been read together."""
        with self._database.write() as cursor:
            cursor.execute(
                "insert or replace into readings (key, bytes, reports) values (?, ?, ?)",
                [_key(files, way), sum(file.size for file in files), orjson.dumps(reports).decode()],
            )

    def forget(self) -> None:
        """Drop all: files would be read in another way from now on."""
        with self._database.write() as cursor:
            cursor.execute("delete from readings")

    def _has_rejects(self, report: Row) -> bool:
        found = self._database.row("select count(*) as n from rejects where import_id = ?", [report["import_id"]])
        return found is not None and found["n"] == report["rejected"]


def _key(files: Sequence[Given], way: Sequence[Any]) -> str:
    read = [[file.name, file.sha256] for file in files]
    return hashlib.sha256(orjson.dumps([way, read], option=orjson.OPT_SORT_KEYS)).hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
