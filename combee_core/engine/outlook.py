"""One iteration as planned: the nodes that are on record, and a stand-in for each that is still to come.

Lets a figure show the whole merge tree while a run works on it, and for a run that stopped half-way.
"""

from collections.abc import Iterator
from typing import Any

from combee_core.engine import tree
from combee_core.engine.dealing import Batch, dealer_of, dealt_batches, measurements
from combee_core.engine.run import tree_plan
from combee_core.engine.settings import RunSettings
from combee_core.errors import CombeeError
from combee_core.scan import TreePlan, extended
from combee_core.store.database import Database, Row
from combee_core.store.runs import Runs

Stamp = tuple[int, int, float]


def planned_nodes(database: Database, run: str, iteration: int) -> list[Row]:
    """All nodes of an iteration in plan order; one that is not on record has the state `waiting` and no output.

    Raises CombeeError when the run has no such iteration, or has not come to say how many traces it will take.
    """
    runs = Runs(database)
    row = runs.get(run)
    settings = RunSettings.model_validate(row["settings"])
    batch = _batch(runs, row, iteration)
    plan = extended(tree_plan(len(batch.trace_ids), iteration, settings), len(batch.adopted or ()))
    stored = {node["id"]: node for node in runs.nodes(run, iteration)}
    expected = {node["id"]: {"run": run} | node for node in _expected(iteration, batch.all_trace_ids, plan)}
    return sorted((expected | stored).values(), key=_plan_order)


def _plan_order(node: Row) -> tuple[bool, int, int, int, str]:
    """The final merge comes last, also while the levels that were added before it are not known to its stand-in."""
    return node["kind"] == "final", node["level"], node["place"], len(node["id"]), node["id"]


def _batch(runs: Runs, row: Row, iteration: int) -> Batch:
    """A batch that was dealt, or that is certain to be: all of them with a fixed batch size, else just the next one."""
    dealt = dealt_batches(runs, row["id"])
    dealer = dealer_of(runs, row, dealt)
    while len(dealt) < iteration and (batch := dealer.next(measurements(runs.iterations(row["id"])))):
        dealt.append(batch)
        if dealer.controller is not None:
            break
    if not 1 <= iteration <= len(dealt):
        raise CombeeError(f"{row['id']} has no iteration {iteration}: it has {len(dealt)}.")
    return dealt[iteration - 1]


def iterations_in_all(database: Database, run: str) -> int:
    """How many iterations a run has, finished and to come; as far as can be told with an automatic batch size."""
    runs = Runs(database)
    return dealer_of(runs, runs.get(run), dealt_batches(runs, run)).in_all()


def iteration_reached(database: Database, run: str) -> int:
    """The iteration that a run is at or has stopped in; the last one when all are finished."""
    runs = Runs(database)
    return max(1, len(runs.batches(run)), len(runs.iterations(run)))


def iteration_stamp(database: Database, run: str, iteration: int) -> Stamp:
    """A value that changes whenever a node of the iteration is recorded, cheap enough to ask for on every click."""
    row = database.row(
        "select count(*) as nodes, coalesce(sum(attempts), 0)::bigint as attempts, "
        "coalesce(sum(seconds), 0) as seconds "
        "from nodes where run = ? and iteration = ?",
        [run, iteration],
    )
    return (row["nodes"], row["attempts"], row["seconds"]) if row else (0, 0, 0.0)


def _expected(iteration: int, trace_ids: tuple[str, ...], plan: TreePlan) -> Iterator[Row]:
    for index, trace in enumerate(trace_ids):
        yield _waiting(iteration, tree.reflection_id(iteration, index), "reflection", 0, index, trace=trace)
    for level in plan.levels:
        for merge in level:
            final = level is plan.levels[-1]
            node = tree.merge_id(iteration, merge, final)
            inputs = list(tree.input_ids(iteration, merge))
            yield _waiting(iteration, node, "final" if final else merge.kind, merge.level, merge.group, inputs)


def _waiting(
    iteration: int,
    node: str,
    kind: str,
    level: int,
    place: int,
    inputs: list[str] | None = None,
    trace: str | None = None,
) -> dict[str, Any]:
    return {
        "id": node,
        "iteration": iteration,
        "kind": kind,
        "level": level,
        "place": place,
        "inputs": inputs or [],
        "trace": trace,
        "state": "waiting",
        "error": None,
        "output": {},
        "seconds": 0.0,
        "attempts": 0,
        "failed_attempts": 0,
        "input_tokens": 0,
        "output_tokens": 0,
        "cost_usd": 0.0,
        "failures": "{}",
    }
