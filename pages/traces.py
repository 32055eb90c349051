"""Traces: bring them in, find them, read one as a conversation, and see what could not be read."""

from pathlib import Path

import streamlit as st

from combee_core.workspace import Workspace
from pages import importing
from pages.common import get_workspace
from pages.receipts import show_receipts
from pages.trace_actions import show_undo
from pages.trace_html import outcome_text
from pages.trace_rejects import VIEW, show_rejects, show_view
from pages.trace_table import show_table
from pages.trace_view import show_trace


def main() -> None:
    """One trace when the address names one, else the list."""
    st.html(Path(__file__).with_name("traces.css"))
    workspace = get_workspace()
    trace_id = st.query_params.get("trace")
    if trace_id:
        show_trace(workspace, trace_id)
    else:
        show_traces(workspace)


def show_traces(workspace: Workspace) -> None:
    """Sources on top, receipts of the last import, then traces or rejects."""
    counts = workspace.trace_counts()
    rejected, _ = workspace.rejects(limit=0)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title("Traces", anchor=False, width="content")
        if counts["total"]:
            st.caption(_in_words(counts))
    importing.show_sources(workspace)
    # A place of its own, filled or not: what comes below stays the same element, with what is typed into it.
    with st.container():
        if importing.follow():
            st.rerun()
        show_receipts(workspace)
        if not counts["total"]:
            show_undo(workspace)
    if not counts["total"] and not rejected:
        if not importing.busy():
            show_nothing_yet(workspace)
    elif show_views(counts["total"], rejected) == "rejects":
        show_rejects(workspace)
    elif counts["total"]:
        show_table(workspace)
    else:
        st.markdown("No trace has come in yet: the rejects say why.")


def show_views(traces: int, rejects: int) -> str:
    """Traces or rejects, as the address says."""
    labels = {"traces": f"Traces {traces:,}", "rejects": f"Rejects {rejects:,}"}
    asked = st.query_params.get(VIEW, "")
    st.session_state["traces_view"] = asked if asked in labels else "traces"
    return st.segmented_control(
        "Show",
        list(labels),
        required=True,
        format_func=labels.__getitem__,
        key="traces_view",
        label_visibility="collapsed",
        on_change=lambda: show_view(st.session_state["traces_view"]),
    )


def show_nothing_yet(workspace: Workspace) -> None:
    """The empty state."""
    st.markdown("No traces yet. Drop the runs of your agent above, or look around with sample traces first.")
    if st.button("Try it with sample traces", type="primary", disabled=not importing.samples()):
        importing.begin(workspace, importing.samples())
        st.rerun()


def _in_words(counts: dict[str, int]) -> str:
    outcomes = ((True, "success"), (False, "failure"), (None, "unknown"))
    return " · ".join(f"{outcome_text(success)} {counts[name]:,}" for success, name in outcomes if counts[name])


main()
