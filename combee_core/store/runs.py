"""Learning runs, their iterations and the nodes of their merge trees."""

import os
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from combee_core.store.database import Database, Row, StoreError, append, fetch
from combee_core.store.ledger import left_behind

RUN_STATES = ("queued", "running", "done", "failed", "cancelled", "interrupted")

# A run belongs to the process that works on it; process ids are reused, so a token of this process's own goes with it.
OWNER = f"{os.getpid()}:{uuid.uuid4().hex}"


@dataclass(frozen=True)
class NodeRow:
    """One call of the merge tree as it is kept; the unit of resume.

    `state` is done, failed, carried (a merge that failed and passed its inputs up) or cancelled. `trace` is the id of
    the reflected trace. `output` is JSON: lessons and tags of a reflection, operations and dropped items of a merge.
    """

    id: str
    iteration: int
    kind: str
    level: int
    place: int
    inputs: tuple[str, ...]
    state: str
    output: dict[str, Any]
    seconds: float
    trace: str | None = None
    error: str | None = None
    attempts: int = 0
    failed_attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    failures: Mapping[str, int] = field(default_factory=dict)


class Runs:
    """The tables runs, iterations and nodes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, prompt: str, settings: dict[str, Any], trace_ids: list[str], base_version: int | None) -> str:
        """Store a new run as queued and return its id."""
        with self._database.write() as cursor:
            number = fetch(cursor.execute("select nextval('run_number') as n"))[0]["n"]
            cursor.execute(
                "insert into runs (id, prompt, settings, trace_ids, state, base_version, owner) "
                "values (?, ?, ?, ?, 'queued', ?, ?)",
                [f"run-{number}", prompt, _json(settings), _json(trace_ids), base_version, OWNER],
            )
        return f"run-{number}"

    def get(self, run: str) -> Row:
        """One run with settings and trace ids parsed. Raises StoreError when there is none of that id."""
        row = self._database.row("select * from runs where id = ?", [run])
        if row is None:
            raise StoreError(f"There is no run {run}: `combee runs` lists them.")
        return row | {"settings": orjson.loads(row["settings"]), "trace_ids": orjson.loads(row["trace_ids"])}

    def all(self) -> list[Row]:
        """All runs, newest first, without their trace ids."""
        rows = self._database.rows(
            "select * exclude (trace_ids), json_array_length(trace_ids) as traces from runs "
            "order by created_at desc, length(id) desc, id desc"
        )
        return [row | {"settings": orjson.loads(row["settings"])} for row in rows]

    def set_state(self, run: str, state: str, error: str | None = None, stopped_by: str | None = None) -> None:
        """Move a run to another state; a running run belongs to this process, an ended one to nobody.

        `stopped_by` names the budget that has ended it, such as max_calls.
        """
        live = state in ("queued", "running")
        with self._database.write() as cursor:
            cursor.execute(
                "update runs set state = ?, error = ?, stopped_by = ?, owner = ?, "
                "finished_at = case when ? then null else now() end where id = ?",
                [state, error, stopped_by, OWNER if live else None, live, run],
            )

    def set_settings(self, run: str, settings: dict[str, Any]) -> None:
        """Store changed settings of a run."""
        with self._database.write() as cursor:
            cursor.execute("update runs set settings = ? where id = ?", [_json(settings), run])

    def add_session(self, run: str, seconds: float, limit_changes: int, chars_a_token: float) -> None:
        """Add the working time of one session of the run, and how often its concurrency limit was changed.

        `chars_a_token` is what the usage that the endpoint reported has come to.
        """
        with self._database.write() as cursor:
            cursor.execute(
                "update runs set wall_s = wall_s + ?, limit_changes = limit_changes + ?, chars_a_token = ? "
                "where id = ?",
                [seconds, limit_changes, chars_a_token, run],
            )

    def interrupt_orphans(self) -> None:
        """Mark runs whose process has died as interrupted. Call it once, when the file has just been opened.

        Requests that were in flight then are counted as lost calls, which is what they were paid for.
        """
        with self._database.write() as cursor:
            cursor.execute(
                "update runs set state = 'interrupted', owner = null "
                "where state in ('queued', 'running') and owner <> ?",
                [OWNER],
            )
        for session in left_behind(self._database):
            on_record = self.totals(session.run).get("calls", 0)
            with self._database.write() as cursor:
                cursor.execute(
                    "update runs set lost_calls = lost_calls + ?, wall_s = greatest(wall_s, ?) where id = ?",
                    [max(0, session.calls - on_record), session.wall_s, session.run],
                )

    def add_nodes(self, run: str, nodes: list[NodeRow]) -> None:
        """Store finished calls in one transaction; a node that is tried again keeps the counts of its earlier tries."""
        with self._database.write() as cursor:
            earlier = {
                row["id"]: row
                for row in fetch(
                    cursor.execute(
                        "select * from nodes where run = ? and id in (select unnest(?))",
                        [run, [node.id for node in nodes]],
                    )
                )
            }
            append(cursor, "nodes", [_node_values(run, node, earlier.get(node.id)) for node in nodes], replace=True)

    def nodes(self, run: str, iteration: int | None = None) -> list[Row]:
        """Nodes of the merge trees of a run in plan order, with inputs and output parsed."""
        rows = self._database.rows(
            "select * from nodes where run = ? and iteration > 0 and (? is null or iteration = ?) "
            "order by iteration, level, place, length(id), id",
            [run, iteration, iteration],
        )
        return _parsed(rows)

    def upkeep_nodes(self, run: str) -> list[Row]:
        """Calls that a run has made after its last iteration, in order; they belong to iteration 0."""
        return _parsed(self._database.rows("select * from nodes where run = ? and iteration = 0 order by place", [run]))

    def set_upkeep_note(self, run: str, note: str | None) -> None:
        """Store why the upkeep of a run's last version went without what it was to be done with; None: it did not."""
        with self._database.write() as cursor:
            cursor.execute("update runs set upkeep_note = ? where id = ?", [note, run])

    def iterations(self, run: str) -> list[Row]:
        """Finished iterations of a run in order."""
        return self._database.rows("select * from iterations where run = ? order by iteration", [run])

    def deal(self, run: str, iteration: int, epoch: int, trace_ids: Sequence[str], why: str) -> None:
        """Store which traces an iteration takes and why so many, before it starts."""
        with self._database.write() as cursor:
            cursor.execute(
                "insert into batches (run, iteration, epoch, trace_ids, why) values (?, ?, ?, ?, ?)",
                [run, iteration, epoch, _json(trace_ids), why],
            )

    def begin_batch(self, run: str, iteration: int, version: int | None) -> None:
        """Store the version of the prompt that an iteration's reflections are made with (None: an empty one)."""
        with self._database.write() as cursor:
            cursor.execute(
                "update batches set reflected_on = ? where run = ? and iteration = ?", [version, run, iteration]
            )

    def adopt(self, run: str, iteration: int, adopted: Sequence[Mapping[str, Any]]) -> None:
        """Store which reflections of earlier iterations an iteration takes over (node, trace, lessons)."""
        with self._database.write() as cursor:
            cursor.execute(
                "update batches set adopted = ? where run = ? and iteration = ?", [_json(adopted), run, iteration]
            )

    def batches(self, run: str) -> list[Row]:
        """The iterations that were dealt traces, in order, with `trace_ids` and `adopted` parsed."""
        rows = self._database.rows("select * from batches where run = ? order by iteration", [run])
        return [
            row
            | {
                "trace_ids": orjson.loads(row["trace_ids"]),
                "adopted": None if row["adopted"] is None else orjson.loads(row["adopted"]),
            }
            for row in rows
        ]

    def latest_with_trials(self, base_url: str, model: str, parallel: int, strategy: str) -> str | None:
        """The newest run with trials of batch sizes at this endpoint, parallelism and strategy, or None."""
        row = self._database.row(
            "select id from runs where json_extract_string(settings, '$.endpoint.base_url') = ? "
            "and json_extract_string(settings, '$.endpoint.model') = ? "
            "and json_extract(settings, '$.parallel')::integer = ? "
            "and coalesce(json_extract_string(settings, '$.strategy'), 'combee') = ? "
            "and (select count(*) from iterations where run = id and whole and why like 'trial%') >= 2 "
            "order by created_at desc, length(id) desc, id desc limit 1",
            [base_url, model, parallel, strategy],
        )
        return row["id"] if row else None

    def failures(self, run: str) -> dict[str, int]:
        """How many requests of a run gave no usable answer, by kind; `lost` when the process died before one came."""
        total: Counter[str] = Counter({"lost": lost} if (lost := self._lost_calls(run)) else {})
        for row in self._database.rows("select failures from nodes where run = ? and failures <> '{}'", [run]):
            total.update(orjson.loads(row["failures"]))
        return dict(sorted(total.items()))

    def totals(self, run: str) -> Row:
        """Sums over a run: calls, failed_calls, input_tokens, output_tokens, cost_usd (None when unknown).

        Calls that were lost, as the process died while they were in flight, have failed; what they cost was never told.
        """
        found = self._database.row(
            "select coalesce(sum(attempts), 0)::bigint as calls, "
            "coalesce(sum(failed_attempts), 0)::bigint as failed_calls, "
            "coalesce(sum(input_tokens), 0)::bigint as input_tokens, "
            "coalesce(sum(output_tokens), 0)::bigint as output_tokens, "
            "case when bool_or(cost_usd is null) then null else coalesce(sum(cost_usd), 0) end as cost_usd "
            "from nodes where run = ?",
            [run],
        )
        lost = self._lost_calls(run)
        return {} if found is None else found | {name: found[name] + lost for name in ("calls", "failed_calls")}

    def _lost_calls(self, run: str) -> int:
        row = self._database.row("select lost_calls from runs where id = ?", [run])
        return int(row["lost_calls"]) if row else 0


def _node_values(run: str, node: NodeRow, earlier: Row | None) -> Row:
    values = {
        "run": run,
        "id": node.id,
        "iteration": node.iteration,
        "kind": node.kind,
        "level": node.level,
        "place": node.place,
        "inputs": _json(node.inputs),
        "trace": node.trace,
        "state": node.state,
        "error": node.error,
        "output": _json(node.output),
        "seconds": node.seconds,
        "attempts": node.attempts,
        "failed_attempts": node.failed_attempts,
        "input_tokens": node.input_tokens,
        "output_tokens": node.output_tokens,
        "cost_usd": node.cost_usd,
        "failures": _json(dict(node.failures)),
    }
    if earlier is not None:
        for count in ("attempts", "failed_attempts", "input_tokens", "output_tokens"):
            values[count] += earlier[count]
        costs = (node.cost_usd, earlier["cost_usd"])
        values["cost_usd"] = None if None in costs else sum(costs)
        values["failures"] = _json(dict(Counter(node.failures) + Counter(orjson.loads(earlier["failures"]))))
    return values


def _parsed(rows: list[Row]) -> list[Row]:
    return [row | {"inputs": orjson.loads(row["inputs"]), "output": orjson.loads(row["output"])} for row in rows]


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
