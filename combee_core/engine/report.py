"""What is on record of a run, in the shapes that the command line prints and the pages draw."""

from collections.abc import Container, Mapping, Sequence
from typing import Any

from combee_core.engine.fates import lesson_fates
from combee_core.engine.tree import took_effect
from combee_core.lineage import Lineage
from combee_core.store.database import Database, Row
from combee_core.store.runs import Runs
from combee_core.store.versions import Versions


def run_summary(database: Database, run: str) -> Row:
    """State, version and totals of a run; `lessons` and what became of them count finished iterations.

    Of `lessons`, some were dropped, some held back, the others are in the prompt: `carried_lessons` as they are, since
    no final merge has taken them up, the rest merged.
    A lesson that was dropped and got a second chance counts once, by what became of it then.
    """
    runs = Runs(database)
    row = runs.get(run)
    iterations = runs.iterations(run)
    version = Versions(database).get(row["prompt"], row["version"]) if row["version"] else None
    totals = runs.totals(run)
    nodes = runs.nodes(run)
    again = _second_chances(nodes, {iteration["iteration"] for iteration in iterations})
    return {
        "run": run,
        "prompt": row["prompt"],
        "strategy": row["settings"].get("strategy", "combee"),
        "state": row["state"],
        "error": row["error"],
        "version": version.name if version else None,
        "traces": len(row["trace_ids"]),
        "iterations": len(iterations),
        **totals,
        "wall_s": round(row["wall_s"], 3),
        "lessons": sum(iteration["lessons"] for iteration in iterations) - again,
        "dropped_lessons": sum(iteration["dropped"] for iteration in iterations) - again,
        "held_lessons": sum(iteration["held"] for iteration in iterations),
        "carried_lessons": sum(_carried_up(run, iteration["iteration"], nodes) for iteration in iterations),
        "bullets": len(version.playbook) if version else 0,
        "failures": runs.failures(run),
        "stopped_by": row["stopped_by"],
        "limit_changes": row["limit_changes"],
        "failed_reflections": _failed(database, run),
        "upkeep": _upkeep(row, runs.upkeep_nodes(run)),
        **_shape(nodes),
        "settings": row["settings"],
        "created_at": row["created_at"],
        "finished_at": row["finished_at"],
    }


def _upkeep(row: Row, nodes: Sequence[Row]) -> Row:
    """By what near-duplicates of the last version are found, the calls for that, and why not by embeddings."""
    by = "embeddings" if nodes and row["upkeep_note"] is None else "wording"
    return {"by": by, "calls": sum(node["attempts"] for node in nodes), "note": row["upkeep_note"]}


def merge_tree(database: Database, run: str, iteration: int | None = None) -> Row:
    """The merge trees of a run: for each iteration its nodes in plan order, finished iterations and the current one."""
    runs = Runs(database)
    row = runs.get(run)
    nodes = runs.nodes(run, iteration)
    batches = {batch["iteration"]: _begun_with(row, batch) for batch in runs.batches(run)}
    finished = {row["iteration"]: row for row in runs.iterations(run)}
    numbers = sorted(
        {node["iteration"] for node in nodes} | ({iteration} & finished.keys() if iteration else set(finished))
    )
    iterations = [_iteration(number, finished.get(number), nodes, batches.get(number, {})) for number in numbers]
    return {"run": run, "iterations": iterations}


def _begun_with(run: Row, batch: Row) -> Row:
    """The version that an iteration has reflected on (None: an empty one), and what it took over from earlier ones.

    With a staleness of 1 that version is one batch older. `lessons` None: the whole reflection was late (quorum);
    else these of its lessons have their second chance.
    """
    version = batch["reflected_on"]
    before_any = batch["iteration"] <= 1 + run["settings"].get("staleness", 0)
    base = run["settings"].get("base") if before_any else None
    return {
        "reflected_on": f"{run['prompt']}@{version}" if version else base,
        "adopted": [
            {"reflection": one["node"], "trace": one["trace"], "lessons": one["lessons"]}
            for one in batch["adopted"] or ()
        ],
    }


def _iteration(number: int, row: Mapping[str, Any] | None, nodes: Sequence[Row], begun_with: Row) -> Row:
    of_it = [node for node in nodes if node["iteration"] == number]
    texts = {lesson.id: lesson.text for lesson in lesson_fates(of_it)}
    return {
        "iteration": number,
        "epoch": row["epoch"] if row else None,
        "batch_size": row["batch_size"] if row else sum(node["kind"] == "reflection" for node in of_it),
        "why": row["why"] if row else "not finished",
        "seconds": row["seconds"] if row else None,
        "reflected_on": begun_with.get("reflected_on"),
        "adopted": begun_with.get("adopted", []),
        "lessons": row["lessons"] if row else len(texts),
        "dropped_lessons": row["dropped"] if row else None,
        "held_lessons": row["held"] if row else None,
        "nodes": [_node(node, texts) for node in of_it],
    }


def _node(node: Row, texts: Mapping[str, str]) -> Row:
    output = node["output"]
    shown = {
        "id": node["id"],
        "kind": node["kind"],
        "level": node["level"],
        "group": None if node["kind"] in ("reflection", "final") else node["place"] + 1,
        "inputs": node["inputs"],
        "traces": [node["trace"]] if node["trace"] else [],
        "state": node["state"],
        "seconds": round(node["seconds"], 3),
        "attempts": node["attempts"],
        "failed_attempts": node["failed_attempts"],
        "hedged": bool(output.get("hedged")),
        "input_tokens": node["input_tokens"],
        "output_tokens": node["output_tokens"],
        "cost_usd": node["cost_usd"],
        "error": node["error"],
    }
    if node["kind"] == "reflection":
        adopted = {"adopted": output.get("adopted"), "second_chance": bool(output.get("second_chance"))}
        return shown | adopted | {"lessons": output.get("lessons", []), "dropped": []}
    dropped = [{"id": item, "text": texts.get(item, "")} for item in output.get("dropped", ())]
    return shown | {
        "operations": output.get("operations", []),
        "dropped": dropped,
        "items": _items(output),
        "rechecked": bool(output.get("rechecked")),
        "contradictions": output.get("contradictions", []),
    }


def _items(output: Row) -> Row:
    """How many items a merge was given, and how many of them it merged, carried on as they were, held back, dropped."""
    ways = _ways(output)
    dropped = len(output.get("dropped", ()))
    return {"in": dropped + sum(map(len, ways.values())), **{way: len(ways[way]) for way in ways}, "dropped": dropped}


def _ways(output: Row) -> dict[str, set[str]]:
    """Items of a merge by the best that came of them; those that were dropped are in none."""
    rows = output.get("operations", ())
    effective = [row for row in rows if took_effect(row)]
    merged = {item for row in effective if not row.get("carried") for item in row["sources"]}
    carried = {item for row in effective if row.get("carried") for item in row["sources"]} - merged
    held = {item for row in rows if "held" in row for item in row["sources"]} - merged - carried
    return {"merged": merged, "carried": carried, "held": held}


def _carried_up(run: str, iteration: int, nodes: Sequence[Row]) -> int:
    """Lessons that the final merge of an iteration has only carried into the prompt."""
    lineage = Lineage(run, iteration, [node for node in nodes if node["iteration"] == iteration])
    ways = [_ways(node["output"]) for node in lineage.nodes if node["kind"] == "final"]
    return sum(len(lineage.under(way["carried"]) - lineage.under(way["merged"])) for way in ways)


def _shape(nodes: Sequence[Row]) -> Row:
    """Levels of the deepest tree, and how often citations, merges, calls and lessons took another way than planned."""
    outputs = [node["output"] for node in nodes if node["kind"] != "reflection"]
    return {
        "levels": max((node["level"] for node in nodes), default=0),
        "recovered_citations": sum(bool(row.get("recovered")) for out in outputs for row in out.get("operations", ())),
        "rechecks": sum(bool(out.get("rechecked")) for out in outputs),
        "hedged": sum(bool(node["output"].get("hedged")) for node in nodes),
        "late_reflections": sum("adopted" in node["output"] and not node["output"]["second_chance"] for node in nodes),
        "second_chances": _second_chances(nodes),
    }


def _second_chances(nodes: Sequence[Row], iterations: Container[int] | None = None) -> int:
    """Lessons that an iteration (of these ones) took over because the one before had dropped them."""
    outputs = [node["output"] for node in nodes if iterations is None or node["iteration"] in iterations]
    return sum(len(output["lessons"]) for output in outputs if output.get("second_chance"))


def _failed(database: Database, run: str) -> int:
    row = database.row(
        "select count(*) as n from nodes where run = ? and kind = 'reflection' and state = 'failed'", [run]
    )
    return int(row["n"]) if row else 0
