"""The evidence beside a change, as HTML that folds: how many traces, then each lesson with its trace and its merges.

Pure functions; links open beside the review, so that the reviewer keeps the place.
"""

from collections.abc import Collection, Sequence
from html import escape
from urllib.parse import urlencode

from combee_core.evidence import Evidence, Removal
from pages.diff_view import visible
from pages.numbers import counted

MOST_SHOWN = 15
"""Lessons listed for one change; the merge tree has them all."""

_OUTCOMES = {True: "✓ success", False: "✕ failure", None: "– unknown"}


def evidence_html(evidence: Sequence[Evidence], known: Collection[str] = ()) -> str:
    """`known` are ids of traces that stood behind the bullet before: where there are some, new ones are counted."""
    if not evidence:
        return '<div class="cb-aside">No traces on record for this bullet.</div>'
    traces = {item.trace: item.success for item in evidence}
    parts = [f"Seen in {counted(len(traces), 'trace')}"]
    failures = sum(success is False for success in traces.values())
    if failures:
        parts.append(counted(failures, "failure"))
    successes = sum(success is True for success in traces.values())
    if successes:
        parts.append(f"{successes:,} {'success' if successes == 1 else 'successes'}")
    new = len(traces.keys() - set(known))
    if 0 < new < len(traces):
        parts.append(f"{new} new")
    return _folded(", ".join(parts), evidence)


def removal_html(removal: Removal | None) -> str:
    """What became of a removed bullet, and the lessons that asked for it."""
    if removal is None:
        return ""
    what = f"Merged into {removal.into}" if removal.into else "Deleted"
    if not removal.evidence:
        return f'<div class="cb-aside">{escape(what)}</div>'
    return _folded(f"{what} for {counted(len(removal.evidence), 'lesson')}", removal.evidence)


def page_link(page: str, label: str, **parameters: str | int) -> str:
    """A link to another page of the app that opens in a tab of its own."""
    return f'<a href="{page}?{escape(urlencode(parameters))}" target="_blank">{visible(label)}</a>'


def _folded(summary: str, evidence: Sequence[Evidence]) -> str:
    items = "".join(_item(item) for item in evidence[:MOST_SHOWN])
    more = len(evidence) - MOST_SHOWN
    if more > 0:
        last = evidence[-1]
        link = page_link("merges", "the merge tree", run=last.run, iteration=last.iteration, node=last.node)
        items += f"<li>{counted(more, 'further lesson')} in {link}</li>"
    return f'<details class="cb-aside"><summary>{escape(summary)}</summary><ul>{items}</ul></details>'


def _item(item: Evidence) -> str:
    lesson = visible(item.text) or "The lesson's text is not on record."
    passage = f'<div class="cb-passage">“{visible(item.passage)}”</div>' if item.passage else ""
    trace = page_link("traces", _short(item.task) or item.trace, trace=item.trace)
    groups = ", ".join(_node_link(item, node) for node in item.groups)
    merged = _node_link(item, item.node) if item.node != item.reflection else ""
    way = " → ".join(filter(None, (_node_link(item, item.reflection), groups, merged)))
    return (
        f'<li><div class="cb-lesson">{lesson}</div>{passage}'
        f'<div class="cb-way"><span>{_OUTCOMES[item.success]}</span>{trace}<span>{way}</span></div></li>'
    )


def _node_link(item: Evidence, node: str) -> str:
    """A node by the name that the merge tree shows: `i1.r12` is reflection 12, `i1.m1.3` is group 3."""
    kind = node.partition(".")[2]
    label = f"reflection {kind[1:]}" if kind.startswith("r") else f"group {kind.rpartition('.')[2]}"
    return page_link(
        "merges", "final merge" if kind == "final" else label, run=item.run, iteration=item.iteration, node=node
    )


def _short(text: str, length: int = 90) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= length else f"{flat[: length - 1]}…"
