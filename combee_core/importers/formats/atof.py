"""ATOF, the event stream of NeMo Agent Toolkit: starts and ends of scopes, to be paired by uuid.

Written by NeMo Agent Toolkit; ATIF trajectories are made from it. Seen: version 0.1. A scope of the category llm is a
model call, one of the category tool a tool call; the outermost scope holds the question and the answer.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from combee_core.importers.base import Context, Record, Reject
from combee_core.importers.span_traces import grouped, read_spans
from combee_core.importers.spans import Kind, Span, error_text, message_items
from combee_core.importers.times import seconds_of
from combee_core.trace import Trace

_KINDS: dict[str, Kind] = {"llm": "model", "tool": "tool", "function": "other"}
_PLAIN = ("raw_query", "raw_payload", "input", "output", "result", "response", "query")


class Atof:
    """Events of NeMo Agent Toolkit."""

    name = "atof"
    title = "ATOF event streams (NeMo Agent Toolkit)"
    gathers = True

    def recognise(self, record: object) -> str | None:
        if isinstance(record, dict) and "atof_version" in record:
            return 'has "atof_version"'
        is_event = (
            isinstance(record, dict) and record.get("scope_category") in ("start", "end") and "parent_uuid" in record
        )
        return 'has "scope_category" and "parent_uuid"' if is_event else None

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        events: dict[str, dict[str, Record]] = {}
        for record in records:
            event = record.value
            events.setdefault(str(event.get("uuid")), {})[str(event.get("scope_category"))] = record
        parents = {name: str(next(iter(pair.values())).value.get("parent_uuid") or "") for name, pair in events.items()}
        spans = [(_root_of(name, parents), _span(name, pair, parents[name])) for name, pair in events.items()]
        yield from read_spans(grouped(spans), context)


def _span(name: str, pair: Mapping[str, Record], parent: str) -> Span:
    start, end = pair.get("start"), pair.get("end")
    record = start or end or next(iter(pair.values()))
    about: Mapping[str, Any] = record.value
    asked = _plain(start.value.get("data")) if start else None
    gave = _plain(end.value.get("data")) if end else None
    kind = _KINDS.get(str(about.get("category")), "agent")
    return Span(
        id=name,
        parent=parent,
        name=str(about.get("name") or ""),
        kind=kind,
        start=seconds_of(start.value.get("timestamp")) if start else 0.0,
        end=seconds_of(end.value.get("timestamp")) if end else 0.0,
        record=record,
        input=asked,
        output=gave,
        inputs=message_items(asked) if kind == "model" else [],
        outputs=message_items(gave) if kind == "model" else [],
        error=error_text(end.value.get("error")) if end else "",
    )


def _root_of(name: str, parents: Mapping[str, str]) -> str:
    seen = {name}
    while (parent := parents.get(name, "")) in parents and parent not in seen:
        seen.add(parent)
        name = parent
    return name


def _plain(data: object) -> Any:
    if isinstance(data, dict) and len(data) == 1:
        key, value = next(iter(data.items()))
        return value if key in _PLAIN else data
    return data
