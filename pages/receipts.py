"""Receipts of the last import: what became of each file, and a form for each table whose columns nobody knows."""

from collections.abc import Sequence

import streamlit as st

from combee_core.workspace import FileReport, Workspace
from pages import importing
from pages.column_form import show_column_form
from pages.diff_view import visible
from pages.trace_html import receipts_html
from pages.trace_rejects import show_view


def show_receipts(workspace: Workspace) -> None:
    """Draw them, until they are put away."""
    job = importing.last_import()
    if job is None:
        return
    with st.container(border=True, key="traces_receipts"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{importing.in_one_line(job.reports)}**")
            if any(file.rejected for file in job.reports):
                st.button("Show rejects", key="receipts_rejects", on_click=_show_rejects, args=(job.reports,))
            st.button("Put away", type="tertiary", key="receipts_close", on_click=importing.put_away)
        if job.problem:
            st.html(f'<div class="cb-why">✕ The import broke off: {visible(job.problem)}</div>')
        if job.reports:
            st.html(receipts_html(job.reports))
        elif not job.problem:
            st.html(
                f'<div class="cb-why">✕ {visible(job.files[0].name)} holds no files: there is nothing to read.</div>'
            )
        for table in job.tables():
            show_column_form(workspace, job, table)


def _show_rejects(reports: Sequence[FileReport]) -> None:
    """Rejects of the one file that has any, else of all imports: the newest come first there."""
    numbers = [file.import_id for file in reports if file.rejected]
    show_view("rejects", numbers[0] if len(numbers) == 1 else None)
    importing.put_away()
