"""The inspector beside the merge tree: what went in, what came out and what was dropped at the chosen node."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from combee_core.errors import CombeeError
from combee_core.store.database import Row
from combee_core.workspace import Workspace
from pages.merge_html import came_in_html, contradictions_html, lessons_html, operations_html
from pages.merge_view import MergeView, taken_over
from pages.numbers import compact, counted, duration, money

STATES = {
    "waiting": "has not been called yet",
    "closed": "has all reflections that it will read, and has not been called yet",
    "cancelled": "was called and given up",
    "carried": "gave no usable answer: its inputs were passed up as they are",
    "failed": "failed after all retries",
}

WAYS = {
    "reflection": "a merge that got a copy",
    "merge": "what it reads, or the merge above",
    "selection": "what it reads, or the merge above",
    "summary": "what it reads, or the step above",
    "final": "what it reads",
}


@dataclass(frozen=True)
class Inspected:
    """An iteration that is being looked into; `version` is what it made, once it has."""

    workspace: Workspace
    view: MergeView
    version: str | None


def show_node(inspected: Inspected, node: str, go: Callable[[str], None]) -> None:
    """Draw one node; `go` is called with the id of a neighbour that the reader wants to see."""
    view = inspected.view
    row = view.nodes[node]
    st.subheader(view.name(node), anchor=False)
    if row["state"] not in ("waiting", "closed"):
        st.caption(_spent(row))
    if row["state"] in STATES:
        st.markdown(f"{view.name(node)} {STATES[row['state']]}.")
    if row["error"]:
        st.text(row["error"])
    _neighbours(view, row, go)
    if row["kind"] == "reflection":
        _reflection(inspected, row)
    elif row["output"]:
        _merge(inspected, row)


def _spent(row: Row) -> str:
    """One line: requests, tokens, seconds, cost."""
    if not row["attempts"]:
        return f"{duration(row['seconds'])} · no request to a model"
    failed = f" ({row['failed_attempts']:,} without a usable answer)" if row["failed_attempts"] else ""
    tokens = f"{compact(row['input_tokens'])} tokens in, {compact(row['output_tokens'])} out"
    cost = f"cost {money(row['cost_usd'])}".replace("$", "\\$")
    return f"{counted(row['attempts'], 'request')}{failed} · {tokens} · {duration(row['seconds'])} · {cost}"


def _neighbours(view: MergeView, row: Row, go: Callable[[str], None]) -> None:
    """Where a reader can go from here: to the merges above and the nodes below."""
    reader = view.reader.get(row["id"])
    above = view.readers(row["id"]) if row["kind"] == "reflection" else [reader] if reader else []
    names = [*above, *row["inputs"]]
    if not names:
        return
    key = f"merges_go:{row['id']}"

    def chosen() -> None:
        go(st.session_state[key])

    st.selectbox(
        "Go to",
        names,
        index=None,
        key=key,
        on_change=chosen,
        format_func=lambda name: _with_share(view, name),
        placeholder=f"Go to {WAYS[row['kind']]}",
        label_visibility="collapsed",
    )


def _with_share(view: MergeView, name: str) -> str:
    lessons = len(view.of_reflection.get(name, ()))
    return (
        f"{view.name(name)} · {counted(lessons, 'lesson')}"
        if view.nodes[name]["kind"] == "reflection"
        else view.name(name)
    )


def _reflection(inspected: Inspected, row: Row) -> None:
    view, output = inspected.view, row["output"]
    _trace(inspected.workspace, row["trace"])
    if output.get("adopted"):
        st.caption(f"Taken over from an earlier batch ({taken_over(row)}).")
    lessons = lessons_html(view, row["id"], inspected.version)
    if lessons:
        _listed(counted(len(view.of_reflection[row["id"]]), "lesson"), lessons)
    elif row["state"] == "done":
        st.markdown("It found nothing to learn from this trace.")
    if output.get("tags"):
        with st.expander(f"Bullets that the run used ({len(output['tags'])})"):
            st.text("\n".join(f"{bullet}: {tag}" for bullet, tag in output["tags"].items()))
    if output.get("reasoning"):
        with st.expander("Reasoning"):
            st.text(output["reasoning"])


def _trace(workspace: Workspace, trace_id: str) -> None:
    """The trace behind a reflection: its task in one line, and the way to it."""
    st.page_link("traces.py", label="Open the trace", icon=":material/article:", query_params={"trace": trace_id})
    try:
        trace = workspace.trace(trace_id)
    except CombeeError:
        st.caption("The trace is no longer there.")
        return
    outcome = {True: "✓ success", False: "✕ failure", None: "– unknown"}[trace.outcome.success]
    st.text(f"{outcome} · {trace.task}", wrap=False)


def _merge(inspected: Inspected, row: Row) -> None:
    view, node, output = inspected.view, row["id"], row["output"]
    given = view.came_in(node)
    what = "lesson" if row["level"] == 1 else "operation"
    st.markdown(
        f"{counted(len(given), what)} from {_from(view, row['inputs'])} came in, "
        f"{counted(len(output['operations']), 'operation')} went out, {len(output['dropped']):,} dropped."
    )
    if row["kind"] == "summary":
        st.caption("A summary stands for everything that came in; which of it the text really says is not on record.")
    if output.get("rechecked"):
        st.caption("It was asked a second time, for what it had left out.")
    out, dropped, came = (
        f"Out ({len(output['operations'])})",
        f"Dropped ({len(output['dropped'])})",
        f"In ({len(given)})",
    )
    against = f"Contradictions ({len(output.get('contradictions', ()))})"
    shown = st.segmented_control(
        "Show",
        (out, dropped, came, against) if output.get("contradictions") else (out, dropped, came),
        default=out,
        key=f"merges_list:{node}",
        required=True,
        label_visibility="collapsed",
    )
    if shown == out:
        _listed("", operations_html(view, node, inspected.version), "Nothing went out.")
    elif shown == dropped:
        st.caption("Dropped means that no operation that took effect cites it.")
        _listed("", came_in_html(view, node, only_dropped=True), "Nothing was dropped.")
    elif shown == against:
        st.caption("The review shows both sides with their evidence.")
        _listed("", contradictions_html(view, node))
    else:
        _listed("", came_in_html(view, node), "Nothing came in.")


def _from(view: MergeView, inputs: Sequence[str]) -> str:
    """How many nodes a merge reads, and what people call them."""
    kind: str = view.nodes[inputs[0]]["kind"]
    return counted(len(inputs), "group" if kind == "merge" else kind, "summaries" if kind == "summary" else "")


def _listed(title: str, html: str, otherwise: str = "") -> None:
    """A list that scrolls by itself, so that the figure beside it stays in sight."""
    if title:
        st.markdown(f"**{title}**")
    if html:
        st.html(html)
    else:
        st.caption(otherwise)
