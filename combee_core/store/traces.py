"""Imports, rejects and traces: what came in, what could not be read, and where each trace was found."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb
import orjson
from pydantic import TypeAdapter

from combee_core.store.database import ROW_GROUP, Database, Row, StoreError, append, fetch
from combee_core.trace import Message, Outcome, Source, Trace

# Traces of one transaction, and of what is in memory at once: a row group, which goes straight into the file. Large
# traces make smaller batches.
BATCH = ROW_GROUP
BATCH_BYTES = 16 << 20

_MESSAGES = TypeAdapter(tuple[Message, ...])


@dataclass(frozen=True)
class RejectRow:
    """A record that could not be read: `line` counts from 1, `record` from 0; `excerpt` is at most 500 characters."""

    file: str
    line: int | None
    record: int | None
    reason: str
    excerpt: str


@dataclass
class ImportCounts:
    """What one file brought: traces not seen before, traces already there, records that could not be read."""

    new: int = 0
    duplicates: int = 0
    rejected: int = 0


@dataclass(frozen=True)
class TraceFilter:
    """Which traces are meant; an empty filter means all that are not deleted.

    `text` is looked for in task, messages and feedback; scores are in the file's own unit, both ends included.
    `deleted` turns to the deleted ones alone.
    """

    format: str | None = None
    outcome: str | None = None
    text: str = ""
    tag: str | None = None
    min_score: float | None = None
    max_score: float | None = None
    import_id: int | None = None
    ids: Sequence[str] = field(default=())
    deleted: bool = False

    def where(self) -> tuple[str, list[object]]:
        """The SQL condition and its parameters."""
        conditions: list[str] = [f"deleted_at is {'not null' if self.deleted else 'null'}"]
        values: list[object] = []
        if self.format:
            conditions.append("format = ?")
            values.append(self.format)
        if self.outcome:
            conditions.append(
                {"success": "success", "failure": "not success", "unknown": "success is null"}[self.outcome]
            )
        if self.text:
            conditions.append(
                "(contains(lower(task), ?) or contains(lower(messages), ?) or contains(lower(feedback), ?))"
            )
            sought = self.text.lower()
            values += [sought, orjson.dumps(sought).decode()[1:-1], sought]
        if self.tag:
            conditions.append("id in (select trace from tags where tag = ?)")
            values.append(self.tag)
        if self.min_score is not None:
            conditions.append("score >= ?")
            values.append(self.min_score)
        if self.max_score is not None:
            conditions.append("score <= ?")
            values.append(self.max_score)
        if self.import_id is not None:
            conditions.append("import_id = ?")
            values.append(self.import_id)
        if self.ids:
            conditions.append("id in (select unnest(?))")
            values.append(list(self.ids))
        return " and ".join(conditions), values


class Traces:
    """The tables imports, rejects and traces."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin_import(self, file: str, format: str | None, reason: str) -> int:
        """Note that a file is being read; returns the import's number."""
        with self._database.write() as cursor:
            return int(
                fetch(
                    cursor.execute(
                        "insert into imports (file, format, reason, new_traces, duplicates, rejected) "
                        "values (?, ?, ?, 0, 0, 0) returning id",
                        [file, format, reason],
                    )
                )[0]["id"]
            )

    def add(self, import_id: int, traces: Sequence[Trace], rejects: Sequence[RejectRow], counts: ImportCounts) -> None:
        """Store one batch of an import in one transaction; known traces are counted as duplicates."""
        by_id = {trace.id: trace for trace in traces}
        with self._database.write() as cursor:
            known = _known_ids(cursor, list(by_id))
            fresh = [trace for id_, trace in by_id.items() if id_ not in known]
            append(cursor, "traces", [_row_of(trace, import_id) for trace in fresh])
            append(
                cursor,
                "rejects",
                [
                    {
                        "import_id": import_id,
                        "file": reject.file,
                        "line": reject.line,
                        "record": reject.record,
                        "reason": reject.reason,
                        "excerpt": reject.excerpt,
                    }
                    for reject in rejects
                ],
            )
            cursor.execute(
                "update imports set new_traces = new_traces + ?, duplicates = duplicates + ?, rejected = rejected + ? "
                "where id = ?",
                [len(fresh), len(traces) - len(fresh), len(rejects), import_id],
            )
        counts.new += len(fresh)
        counts.duplicates += len(traces) - len(fresh)
        counts.rejected += len(rejects)

    def count(self, which: TraceFilter | None = None) -> int:
        """How many traces match."""
        where, values = (which or TraceFilter()).where()
        found = self._database.row(f"select count(*) as n from traces where {where}", values)
        return int(found["n"]) if found else 0

    def page(self, which: TraceFilter, limit: int, offset: int) -> tuple[int, list[Row]]:
        """Number of matches, and a page of them in the order they came in: id, task, format, success, score, steps…

        One scan: looking for text twice, once to count and once for the page, is what a reader would wait for.
        """
        where, values = which.where()
        found = self._database.rows(
            f"with hits as materialized (select number from traces where {where}), "
            "page as materialized (select number from hits order by number limit ? offset ?), "
            "shown as (select number, id, left(task, 400) as task, format, success, score, steps, "
            "left(feedback, 400) as feedback, source, import_id from traces where number in (select number from page)) "
            "select * exclude (number) from (select count(*) as matches from hits) left join shown on true "
            "order by number",
            [*values, limit, offset],
        )
        rows = [row for row in found if row["id"] is not None]
        for row in rows:
            row["source"] = str(Source(**orjson.loads(row["source"])))
        return int(found[0]["matches"]), rows

    def ids(self, which: TraceFilter) -> list[str]:
        """Ids of all matching traces, sorted, so that the order does not depend on when they came in."""
        where, values = which.where()
        return [row["id"] for row in self._database.rows(f"select id from traces where {where} order by id", values)]

    def get(self, trace_id: str) -> Trace:
        """One whole trace, deleted or not. Raises StoreError when there is none of that id."""
        row = self._database.row("select * from traces where id = ?", [trace_id])
        if row is None:
            raise StoreError(f"There is no trace {trace_id} in {self._database.path}.")
        return _trace_of(row)

    def some(self, trace_ids: Sequence[str]) -> dict[str, Trace]:
        """Whole traces by id; ids that do not exist are left out."""
        rows = self._database.rows("select * from traces where id in (select unnest(?))", [list(trace_ids)])
        return {row["id"]: _trace_of(row) for row in rows}

    def outcomes(self) -> Row:
        """Counts over all traces: total, success, failure, unknown."""
        found = self._database.row(
            "select count(*) as total, count(*) filter (success) as success, count(*) filter (not success) as failure, "
            "count(*) filter (success is null) as unknown from traces where deleted_at is null"
        )
        return found or {}

    def successes(self, trace_ids: Collection[str]) -> dict[str, bool | None]:
        """Whether each of the traces was a success; None where that is not known."""
        rows = self._database.rows(
            "select id, success from traces where id in (select unnest(?::varchar[]))", [list(trace_ids)]
        )
        return {row["id"]: row["success"] for row in rows}

    def formats(self) -> list[str]:
        """Names of the formats that are present."""
        return [
            row["format"]
            for row in self._database.rows(
                "select distinct format from traces where deleted_at is null order by format"
            )
        ]

    def delete(self, ids: Sequence[str]) -> int:
        """Hide traces from lists and runs; returns how many were not hidden before. `restore` brings them back."""
        return self._mark(ids, "now()", "deleted_at is null")

    def restore(self, ids: Sequence[str]) -> int:
        """Bring deleted traces back; returns how many."""
        return self._mark(ids, "null", "deleted_at is not null")

    def _mark(self, ids: Sequence[str], value: str, condition: str) -> int:
        with self._database.write() as cursor:
            marked = cursor.execute(
                f"update traces set deleted_at = {value} where {condition} and id in (select unnest(?)) returning id",
                [list(ids)],
            )
            return len(marked.fetchall())

    def add_tag(self, ids: Sequence[str], tag: str) -> int:
        """Put a tag on traces; returns how many did not have it."""
        with self._database.write() as cursor:
            added = cursor.execute(
                "insert or ignore into tags select unnest(?), ? returning trace", [list(dict.fromkeys(ids)), tag]
            )
            return len(added.fetchall())

    def remove_tag(self, ids: Sequence[str], tag: str) -> int:
        """Take a tag off traces; returns how many had it."""
        with self._database.write() as cursor:
            removed = cursor.execute(
                "delete from tags where tag = ? and trace in (select unnest(?)) returning trace", [tag, list(ids)]
            )
            return len(removed.fetchall())

    def tags(self) -> list[Row]:
        """Every tag with the number of traces that have it."""
        return self._database.rows("select tag, count(*) as traces from tags group by tag order by tag")

    def tags_of(self, trace_id: str) -> list[str]:
        """Tags of one trace."""
        return [
            row["tag"] for row in self._database.rows("select tag from tags where trace = ? order by tag", [trace_id])
        ]

    def set_original(self, imports: Sequence[int], sha256: str) -> None:
        """Note which kept file imports were read from."""
        with self._database.write() as cursor:
            cursor.execute("update imports set original = ? where id in (select unnest(?))", [sha256, list(imports)])

    def ids_of_original(self, sha256: str) -> list[str]:
        """Traces that were first read from a kept file and are not deleted."""
        rows = self._database.rows(
            "select id from traces where deleted_at is null "
            "and import_id in (select id from imports where original = ?)",
            [sha256],
        )
        return [row["id"] for row in rows]

    def imports_of_original(self, sha256: str) -> list[int]:
        """Numbers of the imports that were read from a kept file."""
        return [row["id"] for row in self._database.rows("select id from imports where original = ?", [sha256])]

    def original_of(self, trace_id: str) -> str | None:
        """SHA-256 of the kept file that a trace was first read from, or None."""
        row = self._database.row(
            "select original from imports where id = (select import_id from traces where id = ?)", [trace_id]
        )
        return row["original"] if row else None

    def imports(self) -> list[Row]:
        """All imports, newest first."""
        return self._database.rows("select * from imports order by id desc")

    def rejects(self, limit: int, offset: int, import_id: int | None = None) -> tuple[int, list[Row]]:
        """Total number of rejected records and one page of them, newest import first."""
        where, values = ("import_id = ?", [import_id]) if import_id is not None else ("true", [])
        total = self._database.row(f"select count(*) as n from rejects where {where}", values)
        rows = self._database.rows(
            f"select * from rejects where {where} order by import_id desc, line, record limit ? offset ?",
            [*values, limit, offset],
        )
        return (int(total["n"]) if total else 0), rows

    def files_with_rejects(self) -> list[Row]:
        """import_id, file and the number of its rejects, newest import first."""
        return self._database.rows(
            "select import_id, any_value(imports.file) as file, count(*) as rejects from rejects "
            "join imports on imports.id = import_id group by import_id order by import_id desc"
        )

    def drop_rejects(self, import_id: int) -> int:
        """Forget the rejects of an import; returns how many."""
        with self._database.write() as cursor:
            dropped = cursor.execute("delete from rejects where import_id = ? returning import_id", [import_id])
            count = len(dropped.fetchall())
            cursor.execute("update imports set rejected = rejected - ? where id = ?", [count, import_id])
            return count


def _known_ids(cursor: duckdb.DuckDBPyConnection, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in cursor.execute("select id from traces where id in (select unnest(?))", [ids]).fetchall()}


def _row_of(trace: Trace, import_id: int) -> Row:
    return {
        "id": trace.id,
        "import_id": import_id,
        "content_hash": trace.content_hash,
        "format": trace.source.format,
        "task": trace.task,
        "messages": _messages_json(trace.messages),
        "steps": trace.steps,
        "success": trace.outcome.success,
        "score": trace.outcome.score,
        "scores": _json(trace.outcome.scores),
        "feedback": trace.feedback,
        "reference": trace.reference,
        "source": orjson.dumps(trace.source).decode(),
        "metadata": _json(trace.metadata),
    }


def _json(value: dict[str, Any]) -> str:
    return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode() if value else "{}"


def _messages_json(messages: Sequence[Message]) -> str:
    """The messages without their empty fields: a third of the text on disk would be field names otherwise."""
    return orjson.dumps([message.plain() for message in messages]).decode()


def _trace_of(row: Row) -> Trace:
    return Trace(
        task=row["task"],
        messages=_MESSAGES.validate_json(row["messages"]),
        source=Source(**orjson.loads(row["source"])),
        outcome=Outcome(success=row["success"], score=row["score"], scores=orjson.loads(row["scores"])),
        feedback=row["feedback"],
        reference=row["reference"],
        metadata=orjson.loads(row["metadata"]),
    )
