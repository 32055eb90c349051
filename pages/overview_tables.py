"""Recent runs, and prompts with their approved version, as small tables that lead further."""

import pandas as pd
import streamlit as st

from combee_core.workspace import Workspace
from pages.next_step import Standing
from pages.numbers import money
from pages.trace_table import CLICKABLE

RECENT = 5


def show_runs(workspace: Workspace, now: Standing) -> None:
    """The newest runs; choosing one opens it."""
    if not now.runs:
        return
    runs = [workspace.run(row["id"]) for row in now.runs[:RECENT]]
    st.subheader("Recent runs", anchor=False)
    chosen = st.dataframe(
        pd.DataFrame(
            {
                "Run": [run["run"] for run in runs],
                "Prompt": [run["prompt"] for run in runs],
                "State": [run["state"] for run in runs],
                "Traces": [run["traces"] for run in runs],
                "Lessons": [run["lessons"] for run in runs],
                "Dropped": [run["dropped_lessons"] for run in runs],
                "Version": [run["version"] or "" for run in runs],
                "Cost": [money(run["cost_usd"]) for run in runs],
                "Started": [run["created_at"] for run in runs],
            }
        ),
        key="overview_runs",
        on_select="rerun",
        selection_mode=CLICKABLE,
        column_config={"Started": st.column_config.DatetimeColumn(format="distance")},
        hide_index=True,
        alt="The newest runs; choose one to open it",
    )
    if chosen.selection.cells:
        st.switch_page("learn.py", query_params={"run": runs[chosen.selection.cells[0][0]]["run"]})


def show_prompts(now: Standing) -> None:
    """All prompts; choosing one opens it."""
    if not now.prompts:
        return
    st.subheader("Prompts", anchor=False)
    waiting = now.waiting
    chosen = st.dataframe(
        pd.DataFrame(
            {
                "Prompt": [row["prompt"] for row in now.prompts],
                "Approved": [
                    f"{row['prompt']}@{row['approved']}" if row["approved"] else "none" for row in now.prompts
                ],
                "To review": [
                    name if (name := f"{row['prompt']}@{row['latest']}") in waiting else "" for row in now.prompts
                ],
                "Versions": [row["versions"] for row in now.prompts],
                "Last version": [row["created_at"] for row in now.prompts],
            }
        ),
        key="overview_prompts",
        on_select="rerun",
        selection_mode=CLICKABLE,
        column_config={"Last version": st.column_config.DatetimeColumn(format="distance")},
        hide_index=True,
        alt="Prompts with their approved version; choose one to open it",
    )
    if chosen.selection.cells:
        st.switch_page("prompts.py", query_params={"prompt": now.prompts[chosen.selection.cells[0][0]]["prompt"]})
