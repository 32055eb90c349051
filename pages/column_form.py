"""A table that no format fits: its owner says which column is what, and sees the first traces that come of it."""

from collections.abc import Mapping
from itertools import islice

import pandas as pd
import streamlit as st

from combee_core.errors import CombeeError
from combee_core.importers import FIELDS, guess_mapping, read_paths
from combee_core.trace import Trace
from combee_core.workspace import FileReport, Workspace
from pages import importing
from pages.diff_view import visible
from pages.import_job import ImportJob
from pages.trace_html import outcome_text

PREVIEWED = 5
NO_COLUMN = ""
_A_ROW = 4


def show_column_form(workspace: Workspace, job: ImportJob, table: FileReport) -> None:
    """A choice of column for each field, the first traces, and the button that brings them in."""
    known = table.format is not None
    with st.expander("Change the columns" if known else "Say what the columns mean", expanded=not known):
        st.html(f'<div class="cb-why">{_word(table, known)}</div>')
        _form(workspace, job, table)


def _word(table: FileReport, known: bool) -> str:
    name = visible(table.path)
    if known:
        return f"{name} was read with the columns that you chose before. Traces that came of them stay until deleted."
    return f"{name} is a table with {len(table.columns)} columns. Choose at least the task or the messages."


@st.fragment
def _form(workspace: Workspace, job: ImportJob, table: FileReport) -> None:
    mapping = _chosen(workspace, table)
    try:
        traces, problem = _preview(job, table, mapping)
    except CombeeError as error:
        traces, problem = [], str(error)
    if problem:
        st.html(f'<div class="cb-why">✕ {visible(problem)}</div>')
    if traces:
        st.dataframe(_as_table(traces), hide_index=True, placeholder="", alt="The first traces of this table")
    label, type_ = "Import with these columns", "primary" if table.format is None else "secondary"
    if st.button(label, type=type_, disabled=not traces, key=f"columns_import:{table.path}"):
        _bring_in(workspace, job, table, mapping)


def _chosen(workspace: Workspace, table: FileReport) -> dict[str, str]:
    """Which field is which column, at first as remembered or as the names suggest."""
    first = workspace.mapping_for(table.columns) or guess_mapping(table.columns)
    options = [NO_COLUMN, *table.columns]
    mapping: dict[str, str] = {}
    fields = list(FIELDS)
    for start in range(0, len(fields), _A_ROW):
        for field, column in zip(fields[start : start + _A_ROW], st.columns(_A_ROW), strict=True):
            picked = column.selectbox(
                field.capitalize(),
                options,
                index=options.index(first.get(field, NO_COLUMN)) if first.get(field) in options else 0,
                format_func=lambda name: name or "no column",
                key=f"columns_{field}:{table.path}:{'|'.join(table.columns)}",
                help=f"{FIELDS[field].capitalize()}.",
            )
            if picked:
                mapping[field] = picked
    return mapping


def _preview(job: ImportJob, table: FileReport, mapping: Mapping[str, str]) -> tuple[list[Trace], str]:
    """The first traces, and why there are none."""
    if not mapping:
        return [], "No column is chosen yet."
    source = job.source_of(table)
    for reading in read_paths([source.path], {source.path: source.name}, mapping=mapping):
        if reading.shown == table.path:
            entries = list(islice(reading, PREVIEWED))
            traces = [entry for entry in entries if isinstance(entry, Trace)]
            reasons = [entry.reason for entry in entries if not isinstance(entry, Trace)]
            return traces, "" if traces else next(iter(reasons), "No row has anything in these columns.")
    return [], "The file is gone: upload it again."


def _as_table(traces: list[Trace]) -> pd.DataFrame:
    rows = [
        {
            "Task": trace.task[:400],
            "Answer": next((each.text[:400] for each in reversed(trace.messages) if each.role == "assistant"), ""),
            "Outcome": outcome_text(trace.outcome.success, trace.outcome.score),
            "Reference": trace.reference[:400],
            "Feedback": trace.feedback[:400],
        }
        for trace in traces
    ]
    return pd.DataFrame(rows)


def _bring_in(workspace: Workspace, job: ImportJob, table: FileReport, mapping: Mapping[str, str]) -> None:
    """Remember the columns, and read the file with them; that it could not be read before is no reject any more."""
    workspace.set_mapping(table.columns, mapping)
    if table.format is None and table.import_id is not None:
        workspace.drop_rejects(table.import_id)
    importing.read_again(job, job.source_of(table))
    st.rerun()
