"""Runs side by side: what each made of the same traces, and what it took. Reads what is on record, makes no call."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import orjson

from combee_core.engine.report import run_summary
from combee_core.engine.settings import RunSettings
from combee_core.errors import CombeeError
from combee_core.llm.token_ratio import USUAL_CHARS_A_TOKEN
from combee_core.playbook import render
from combee_core.specificity import Carried, Specificity, specificity
from combee_core.store.database import Database, Row
from combee_core.store.runs import Runs
from combee_core.store.versions import Version, Versions
from combee_core.variants import read_variant


def compare_runs(database: Database, runs: Sequence[str]) -> Row:
    """`strategies` has a row for each run, in the given order; `same_traces` says whether they learnt from the same.

    Raises CombeeError for a run that does not exist, or when none is named.
    """
    wanted = list(dict.fromkeys(runs))
    if not wanted:
        raise CombeeError("Nothing to compare: name at least one run.")
    traces = {run: frozenset(Runs(database).get(run)["trace_ids"]) for run in wanted}
    rows = [_row(database, run, traces[run]) for run in wanted]
    labels = _labels([row["settings"] for row in rows])
    return {
        "same_traces": len(set(traces.values())) == 1,
        "strategies": [row | {"label": label} for row, label in zip(rows, labels, strict=True)],
    }


def not_started(name: str, error: str) -> Row:
    """The row of a variant that could not be started, with the reason and no numbers."""
    variant = read_variant(name)
    told = {"name": name, "label": variant.words, "strategy": variant.strategy, "state": "refused", "error": error}
    return dict.fromkeys(_COLUMNS) | told


BUDGETS = ("max_calls", "max_tokens", "max_cost", "max_minutes")
_COLUMNS = (
    *("name", "label", "strategy", "run", "state", "error", "prompt", "version", "traces", "iterations", "batch_sizes"),
    *("bullets", "prompt_tokens", "lessons", "kept", "dropped", "held", "traces_covered", "specificity"),
    *("calls", "failed_calls", "input_tokens", "output_tokens", "cost_usd", "wall_s", "settings"),
)


def _row(database: Database, run: str, traces: frozenset[str]) -> Row:
    summary = run_summary(database, run)
    iterations = Runs(database).iterations(run)
    version = _version(database, summary)
    bullets = [bullet.content for bullet in version.playbook.bullets] if version else []
    found = {
        "name": summary["settings"].get("compared_as") or summary["strategy"],
        "batch_sizes": [row["batch_size"] for row in iterations],
        "prompt_tokens": _tokens(version) if version else 0,
        "kept": summary["lessons"] - summary["dropped_lessons"] - summary["held_lessons"],
        "dropped": summary["dropped_lessons"],
        "held": summary["held_lessons"],
        "traces_covered": len(_behind(version, run) & traces) if version else 0,
        "specificity": _as_row(specificity(_lessons(database, run, len(iterations)), bullets)),
    }
    return {column: found.get(column, summary.get(column)) for column in _COLUMNS}


def _version(database: Database, summary: Row) -> Version | None:
    if summary["version"] is None:
        return None
    prompt, _, number = summary["version"].rpartition("@")
    return Versions(database).get(prompt, int(number))


def _tokens(version: Version) -> int:
    """About how many tokens the playbook takes up in a prompt, in ACE's text form."""
    return -int(-len(render(version.playbook)) // USUAL_CHARS_A_TOKEN)


def _behind(version: Version, run: str) -> frozenset[str]:
    """Traces behind the bullets of a version through this run."""
    return frozenset(entry["trace"] for entries in version.sources.values() for entry in entries if entry["run"] == run)


def _lessons(database: Database, run: str, iterations: int) -> list[str]:
    """Texts of the lessons of the finished iterations."""
    rows = database.rows(
        "select output from nodes where run = ? and kind = 'reflection' and iteration <= ?", [run, iterations]
    )
    return [lesson["text"] for row in rows for lesson in orjson.loads(row["output"]).get("lessons", ())]


def _as_row(found: Specificity) -> Row:
    def told(carried: Carried) -> Row:
        return asdict(carried) | {"share": _rounded(carried.share)}

    return {
        "numbers": told(found.numbers),
        "identifiers": told(found.identifiers),
        "entities": told(found.entities),
        "all": told(found.all),
        "per_bullet": _rounded(found.per_bullet),
    }


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)


def _labels(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """What to call each run: its strategy, what was varied, and what else differs among runs of that strategy."""
    told = [_told(each) for each in settings]
    named = [each.get("compared_as") or own["strategy"] for each, own in zip(settings, told, strict=True)]
    variants = [read_variant(name) for name in named]
    labels = []
    for own, variant in zip(told, variants, strict=True):
        others = [(v.changed, other) for v, other in zip(variants, told, strict=True) if v.strategy == variant.strategy]
        open_ = [name for name in own if name not in variant.changed]
        rest = [name for name in open_ if len({other[name] for changed, other in others if name not in changed}) > 1]
        labels.append(", ".join([variant.words, *(f"{name.replace('_', ' ')} {own[name]}" for name in rest)]))
    return [
        label if labels.count(label) == 1 else f"{label} ({labels[: place + 1].count(label)})"
        for place, label in enumerate(labels)
    ]


def _told(settings: Mapping[str, Any]) -> dict[str, str]:
    """Settings that may tell two runs apart, as text; runs from before a setting was there had its default."""
    whole = RunSettings.model_validate({"prompt": "any"} | dict(settings))
    values = whole.model_dump(
        exclude={"prompt", "compared_for", "compared_as", "base", "endpoint", "batch_from", *BUDGETS}
    )
    words = {None: "auto", True: "on", False: "off"}
    told = {
        name: words[value] if value is None or value is True or value is False else str(value)
        for name, value in values.items()
    }
    return told | {"model": whole.endpoint.model if whole.endpoint else "offline"}
