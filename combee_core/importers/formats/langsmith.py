"""LangSmith: runs as JSON Lines, nested runs with `child_runs`, bodies of the batch endpoint `{post, patch}`.

Written by the product's export, its SDKs and bulk export. Seen: runs of SDK 0.4 and the Run schema of 0.15, batch
bodies of the Python and JavaScript SDKs. Inputs and outputs hold provider shapes (OpenAI, LangChain). Outcomes come
from `feedback_stats`, errors from `error`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, Reject
from combee_core.importers.span_traces import Judgement, grouped, read_spans
from combee_core.importers.spans import Kind, Span, error_text, message_items
from combee_core.importers.times import seconds_of
from combee_core.trace import Trace

_KINDS: dict[str, Kind] = {"llm": "model", "tool": "tool"}
_REFERENCES = ("reference_outputs", "reference_output", "reference")
_DEEPEST = 200


class LangSmith:
    """Runs of LangSmith."""

    name = "langsmith"
    title = "LangSmith runs"
    gathers = True

    def recognise(self, record: object) -> str | None:
        if not isinstance(record, dict):
            return None
        if "run_type" in record and ("dotted_order" in record or "trace_id" in record or "child_runs" in record):
            return 'has "run_type" and "trace_id"'
        posted = [record[key] for key in ("post", "patch") if isinstance(record.get(key), list)]
        if any(isinstance(run, dict) and "dotted_order" in run for runs in posted for run in runs[:5]):
            return 'has "post" or "patch" with runs'
        return None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        runs = _merged(pair for record in records for pair in _runs_in(record.value, record))
        judgements: dict[str, Judgement] = {}
        spans: list[tuple[str, Span]] = []
        about: dict[str, dict[str, Any]] = {}
        for run, record in runs:
            trace_id = str(run.get("trace_id") or run.get("id") or "")
            spans.append((trace_id, _span(run, record)))
            _judge(judgements.setdefault(trace_id, Judgement()), run)
            if not run.get("parent_run_id"):
                about[trace_id] = {key: run[key] for key in ("tags", "extra", "session_name", "status") if run.get(key)}
        yield from read_spans(grouped(spans), context, judgements, about)


def _runs_in(value: Mapping[str, Any], record: Record, depth: int = 0) -> Iterator[tuple[dict[str, Any], Record]]:
    for key in ("post", "patch"):
        posted = value.get(key)
        for run in posted if isinstance(posted, list) else []:
            if isinstance(run, dict):
                yield run, record
    if "run_type" in value:
        yield dict(value), record
    children = value.get("child_runs")
    for child in children if isinstance(children, list) and depth < _DEEPEST else []:
        if isinstance(child, dict):
            yield from _runs_in({"trace_id": value.get("trace_id") or value.get("id"), **child}, record, depth + 1)


def _merged(runs: Iterable[tuple[dict[str, Any], Record]]) -> list[tuple[dict[str, Any], Record]]:
    """The start and the end of a run come apart in batch bodies, joined by id; later ones add what they have."""
    by_id: dict[str, tuple[dict[str, Any], Record]] = {}
    for run, record in runs:
        identity = str(run.get("id") or run.get("dotted_order") or len(by_id))
        identity = identity if run.get("id") else _id_in(identity)
        known, first = by_id.get(identity, ({}, record))
        by_id[identity] = {**known, **{key: value for key, value in run.items() if value not in (None, {}, [])}}, first
    return list(by_id.values())


def _id_in(dotted_order: str) -> str:
    """The run's id at the end of a dotted order, `<time>Z<id>`: patches of the JavaScript SDK carry nothing else."""
    return dotted_order.rpartition(".")[2].partition("Z")[2] or dotted_order


def _span(run: Mapping[str, Any], record: Record) -> Span:
    kind = _KINDS.get(str(run.get("run_type")), "agent")
    asked, gave = run.get("inputs"), run.get("outputs")
    extra = run.get("extra")
    about = extra.get("metadata") if isinstance(extra, dict) else None
    return Span(
        id=str(run.get("id") or ""),
        parent=str(run.get("parent_run_id") or ""),
        name=str(run.get("name") or ""),
        kind=kind,
        start=seconds_of(run.get("start_time")),
        end=seconds_of(run.get("end_time")),
        record=record,
        input=asked.get("input", asked) if isinstance(asked, dict) and kind == "tool" else asked,
        output=gave,
        inputs=message_items(asked) if kind != "tool" else [],
        outputs=message_items(gave) if kind != "tool" else [],
        error=error_text(run.get("error")),
        model=str(about.get("ls_model_name") or "") if isinstance(about, dict) else "",
    )


def _judge(judgement: Judgement, run: Mapping[str, Any]) -> None:
    stats = run.get("feedback_stats")
    for name, stat in stats.items() if isinstance(stats, dict) else ():
        if isinstance(stat, dict):
            comments = [comment for comment in stat.get("comments") or [] if isinstance(comment, str)]
            judgement.add(str(name), stat.get("avg"), "; ".join(comments))
    for key in _REFERENCES:
        if run.get(key) and not judgement.reference:
            judgement.reference = _text(run[key])


def _text(value: object) -> str:
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    return value if isinstance(value, str) else error_text(value)
