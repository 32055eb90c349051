"""The list of traces: filters, a table of one page, and what can be done with what matches.

Only one page of traces is ever read.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from combee_core.store.traces import TraceFilter
from combee_core.workspace import Workspace
from pages.trace_actions import CHOSEN, show_actions
from pages.trace_filter import OUTCOMES, asked_page, clear_filters, go_to_page, show_filters
from pages.trace_html import outcome_text

PAGE_SIZE = 50
NEIGHBOURS = "traces_on_page"
"""Session key of the ids on the page that was shown last: what "previous" and "next" mean beside a trace."""

# Columns can be selected so that a click on a header does not sort: it would sort one page, and open its first row.
CLICKABLE = ("single-cell", "single-column", "multi-row")
_TABLE = "traces_table_shown"
_COLOURS = {"success": "#2F6FDB", "failure": "#C23B2B", "unknown": "#8C877D"}
_ROW, _ROWS_SHOWN = 35, 12


def show_table(workspace: Workspace) -> None:
    """Draw filters, table and pages."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        which = show_filters(workspace)
    total, rows, page = _read(workspace, which)
    key = f"traces_table:{which}:{page}:{total}"
    if st.session_state.get(_TABLE) != key:
        st.session_state[_TABLE] = key
        st.session_state.pop(CHOSEN, None)
    show_actions(workspace, which, total)
    if not rows:
        st.markdown("No trace matches these filters.")
        st.button("Clear the filters", on_click=clear_filters)
        return
    _show_rows(rows, key)
    _show_pages(total, page, which)


def _read(workspace: Workspace, which: TraceFilter) -> tuple[int, list[dict[str, Any]], int]:
    """Matches, the rows of the asked page, and its number; the last page where the address asks for one beyond."""
    page = asked_page()
    with st.spinner("Searching…"):
        total, rows = workspace.traces(which, PAGE_SIZE, (page - 1) * PAGE_SIZE)
        if total and not rows:
            page = -(-total // PAGE_SIZE)
            total, rows = workspace.traces(which, PAGE_SIZE, (page - 1) * PAGE_SIZE)
    return total, rows, page


def _show_rows(rows: Sequence[Mapping[str, Any]], key: str) -> None:
    ids = [row["id"] for row in rows]

    def picked() -> None:
        selection = st.session_state[key]["selection"]
        st.session_state[CHOSEN] = [ids[row] for row in selection["rows"]]
        if selection["cells"]:
            st.session_state[NEIGHBOURS] = ids
            st.query_params["trace"] = ids[selection["cells"][0][0]]

    st.dataframe(
        pd.DataFrame(
            {
                "Task": [" ".join(row["task"].split()) for row in rows],
                "Outcome": [[outcome_text(row["success"])] for row in rows],
                "Score": [None if row["score"] is None else f"{row['score']:g}" for row in rows],
                "Steps": [row["steps"] for row in rows],
                "Format": [row["format"] for row in rows],
                "File": [row["source"] for row in rows],
            }
        ),
        key=key,
        on_select=picked,
        selection_mode=CLICKABLE,
        hide_index=True,
        height=min(len(rows), _ROWS_SHOWN) * _ROW + _ROW + 3,
        placeholder="",
        column_config={
            "Task": st.column_config.TextColumn(width=500),
            "Outcome": st.column_config.MultiselectColumn(
                options=list(OUTCOMES.values()), color=[_COLOURS[name] for name in OUTCOMES], width=110
            ),
            "Score": st.column_config.TextColumn(width=60, alignment="right"),
            "Steps": st.column_config.NumberColumn(width=60),
            "Format": st.column_config.TextColumn(width=110),
            "File": st.column_config.TextColumn(width=220),
        },
        alt="Traces; a click into a row opens it, a tick chooses it",
    )


def _show_pages(total: int, page: int, which: TraceFilter) -> None:
    first = (page - 1) * PAGE_SIZE + 1
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        shown = f"{first:,}–{min(first + PAGE_SIZE - 1, total):,} of {total:,}."
        st.caption(f"{shown} A click into a row opens the trace; ticks choose several.")
        if total > PAGE_SIZE:
            # A key for each filter: under another filter the pages start anew.
            key = f"traces_page:{which}"
            if st.session_state.get(key, page) != page:
                st.session_state[key] = page
            st.pagination(
                -(-total // PAGE_SIZE), default=page, key=key, on_change=lambda: go_to_page(st.session_state[key])
            )
