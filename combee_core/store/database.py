"""One DuckDB file with one writing process: opening, locking, migrating, reading and writing rows.

Knows no table but its own list of migrations; what the rows mean is the business of the other store modules.
"""

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb

from combee_core.errors import CombeeError
from combee_core.store.migrations import MIGRATIONS

Row = dict[str, Any]

_MEMORY, _LITTLE_MEMORY = "1GB", "128MB"
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "memory_limit": _MEMORY,
    "threads": "2",
    # Checkpoints between the batches of an import cost as much as the import itself.
    "checkpoint_threshold": "256MB",
}
_NAME = "combee"

# A transaction of so many rows goes straight into the file. Fewer are written to its log first and a second time at a
# checkpoint, and they stay in memory until then: with the usual 122,880 rows that would be all of most imports.
ROW_GROUP = 2_048

# Arrow takes many rows three times as fast as lists do. Making the first table imports pandas, though: half a second in
# which a killed run would lose calls that it has paid for, so the few rows of a journal do not go that way.
ARROW_FROM = 500


class StoreError(CombeeError):
    """The database cannot be opened or does not hold what was asked for."""


class Database:
    """An open DuckDB file. Reads may run at once, each on a cursor of its own; writes go one after the other.

    Raises StoreError when another process holds the file or the file is not a Combee database.
    """

    def __init__(self, path: Path) -> None:
        # Resolved, since DuckDB takes the same file under a symlink for a second database.
        self.path = path.expanduser().resolve()
        self._write_lock = threading.Lock()
        self._connection = self._connect()
        try:
            self._migrate()
        except BaseException:
            self._connection.close()
            raise

    def _connect(self) -> duckdb.DuckDBPyConnection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return self._attached()
        except OSError as error:
            raise StoreError(
                f"The folder {self.path.parent} cannot be made ({error.strerror}): set --db or COMBEE_HOME to another."
            ) from error
        except duckdb.Error as error:
            raise StoreError(_why_not_opened(self.path, str(error))) from error

    def _attached(self) -> duckdb.DuckDBPyConnection:
        """A connection with the file attached, which is the only way to say how large its row groups are.

        Whoever opens the same file in this process comes to the same instance, by its name.
        """
        connection = duckdb.connect(f":memory:{self.path}", config=_SETTINGS)
        try:
            if not connection.execute("from duckdb_databases() where database_name = ?", [_NAME]).fetchall():
                place = str(self.path).replace("'", "''")
                connection.execute(f"attach '{place}' as {_NAME} (row_group_size {ROW_GROUP})")
                connection.execute("set enable_external_access = false")
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        with self._connection.cursor() as cursor:
            cursor.execute(f"use {_NAME}")
            yield cursor

    def _migrate(self) -> None:
        tables = {row["name"] for row in self.rows("show tables")}
        if tables and "migrations" not in tables:
            raise StoreError(_why_not_opened(self.path, "it holds tables of another program"))
        with self.write() as cursor:
            cursor.execute(
                "create table if not exists migrations (name varchar primary key, applied_at timestamptz default now())"
            )
        applied = {row["name"] for row in self.rows("select name from migrations")}
        if newer := sorted(applied - set(MIGRATIONS)):
            raise StoreError(
                f"{self.path} was written by a newer Combee (it holds {newer[-1]}): update this one, or choose another "
                "file with --db."
            )
        for name, statements in MIGRATIONS.items():
            if name in applied:
                continue
            with self.write() as cursor:
                for statement in statements:
                    cursor.execute(statement)
                cursor.execute("insert into migrations (name) values (?)", [name])

    def rows(self, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> list[Row]:
        """Run a query on a cursor of its own and return its rows as dictionaries."""
        with self._cursor() as cursor:
            return fetch(cursor.execute(sql, parameters))

    def row(self, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> Row | None:
        """The first row of a query, or None."""
        return next(iter(self.rows(sql, parameters)), None)

    @contextmanager
    def write(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor inside a transaction, alone among writers; committed at the end, rolled back on any exception."""
        with self._write_lock, self._cursor() as cursor:
            cursor.execute("begin")
            try:
                yield cursor
            except BaseException:
                cursor.execute("rollback")
                raise
            cursor.execute("commit")

    @contextmanager
    def little_memory(self) -> Iterator[None]:
        """Keep few pages of the file in memory while much is written: those of an import are not read again soon."""
        with self._cursor() as cursor, suppress(duckdb.Error):
            cursor.execute(f"set memory_limit = '{_LITTLE_MEMORY}'")
        try:
            yield
        finally:
            with self._cursor() as cursor:
                cursor.execute(f"set memory_limit = '{_MEMORY}'")

    def close(self) -> None:
        """Wait for the current writer and close the file."""
        with self._write_lock:
            self._connection.close()


def fetch(cursor: duckdb.DuckDBPyConnection) -> list[Row]:
    """All rows of an executed query as dictionaries."""
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, values, strict=True)) for values in cursor.fetchall()]


def append(cursor: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Row], replace: bool = False) -> None:
    """Insert rows of equal keys in one statement; `replace` overwrites rows with the same primary key."""
    if not rows:
        return
    verb = "insert or replace into" if replace else "insert into"
    if len(rows) >= ARROW_FROM:
        import pyarrow

        columns = {name: [row[name] for row in rows] for name in rows[0]}
        cursor.register("new_rows", pyarrow.Table.from_pydict(columns))
        cursor.execute(f"{verb} {table} by name select * from new_rows")
        cursor.unregister("new_rows")
        return
    names = list(rows[0])
    types = {column[0]: column[1] for column in cursor.execute(f"describe {table}").fetchall()}
    lists = ", ".join(f"unnest(?::{types[name]}[]) as {name}" for name in names)
    cursor.execute(f"{verb} {table} by name select {lists}", [[row[name] for row in rows] for name in names])


def _why_not_opened(path: Path, message: str) -> str:
    if "lock" in message.lower():
        holder = re.search(r"\(PID (\d+)\)", message)
        who = f"process {holder[1]}" if holder else "another process"
        return (
            f"{path} is held by {who}: stop that Combee (or use its web page) first, or choose another file with --db."
        )
    if path.is_dir():
        return f"{path} is a folder: --db takes the path of a file."
    first_line = message.splitlines()[0] if message else "unknown error"
    return f"{path} cannot be opened as a Combee database ({first_line}): choose another file with --db."
