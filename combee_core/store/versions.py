"""Prompt versions: never overwritten, each with the playbook it holds and the sources of every bullet."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb
import orjson

from combee_core.playbook import Playbook
from combee_core.store.database import Database, Row, StoreError, fetch

Sources = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Version:
    """One state of a prompt.

    `sources` gives for each bullet id where it comes from: a list of {trace, lesson, reflection, node, via, run}.
    `next_number` is the number that the next new bullet gets. `status` is candidate or approved.
    """

    prompt: str
    version: int
    parent: int | None
    run: str | None
    iteration: int | None
    status: str
    playbook: Playbook
    sources: Sources
    next_number: int
    created_at: datetime
    approved_by: str | None = None
    approved_at: datetime | None = None
    note: str | None = None

    @property
    def name(self) -> str:
        """How a version is always written: `NAME@N`."""
        return f"{self.prompt}@{self.version}"

    def support(self, bullet: str) -> int:
        """Number of distinct traces behind a bullet."""
        return len({entry["trace"] for entry in self.sources.get(bullet, ())})


class Versions:
    """The table versions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def prompts(self) -> list[Row]:
        """One row a prompt: name, number of versions, latest version, latest approved version (or None)."""
        return self._database.rows(
            "select prompt, count(*) as versions, max(version) as latest, "
            "max(version) filter (status = 'approved') as approved, "
            "count(*) filter (status = 'candidate') as candidates, max(created_at) as created_at "
            "from versions group by prompt order by prompt"
        )

    def of_prompt(self, prompt: str) -> list[Row]:
        """All versions of a prompt, newest first, without their text."""
        return self._database.rows(
            "select * exclude (playbook, sources) from versions where prompt = ? order by version desc", [prompt]
        )

    def get(self, prompt: str, version: int) -> Version:
        """One version. Raises StoreError when there is none."""
        row = self._database.row("select * from versions where prompt = ? and version = ?", [prompt, version])
        if row is None:
            raise StoreError(f"There is no version {prompt}@{version}: `combee versions {prompt}` lists what there is.")
        return _version_of(row)

    def latest_approved(self, prompt: str) -> int | None:
        """Number of the latest approved version, or None."""
        row = self._database.row(
            "select max(version) as version from versions where prompt = ? and status = 'approved'", [prompt]
        )
        return row["version"] if row else None

    def of_iteration(self, run: str, iteration: int) -> Version | None:
        """The version that an iteration of a run has stored, or None."""
        row = self._database.row("select * from versions where run = ? and iteration = ?", [run, iteration])
        return _version_of(row) if row else None

    def add(
        self,
        cursor: duckdb.DuckDBPyConnection,
        prompt: str,
        parent: int | None,
        playbook: Playbook,
        sources: Sources,
        next_number: int,
        run: str | None = None,
        iteration: int | None = None,
    ) -> int:
        """Store a new candidate inside the caller's transaction and return its number."""
        stored = cursor.execute(
            "insert into versions (prompt, version, parent, run, iteration, status, playbook, sources, next_number, "
            "bullets) select ?, coalesce(max(version), 0) + 1, ?, ?, ?, 'candidate', ?, ?, ?, ? from versions "
            "where prompt = ? returning version",
            [
                prompt,
                parent,
                run,
                iteration,
                playbook.model_dump_json(),
                orjson.dumps(sources).decode(),
                next_number,
                len(playbook),
                prompt,
            ],
        )
        return int(fetch(stored)[0]["version"])

    def approve(self, cursor: duckdb.DuckDBPyConnection, prompt: str, version: int, by: str, note: str) -> None:
        """Mark a version as approved inside the caller's transaction, with name, note and the time."""
        cursor.execute(
            "update versions set status = 'approved', approved_by = ?, approved_at = now(), note = ? "
            "where prompt = ? and version = ?",
            [by, note, prompt, version],
        )


def _version_of(row: Row) -> Version:
    values = {name: value for name, value in row.items() if name not in ("bullets", "playbook", "sources")}
    return Version(
        **values, playbook=Playbook.model_validate_json(row["playbook"]), sources=orjson.loads(row["sources"])
    )
