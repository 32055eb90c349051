"""Learn: plan a learning run, start it, watch it, and go on to what it made."""

from pathlib import Path

import pandas as pd
import streamlit as st

from combee_core.workspace import Workspace
from pages import address
from pages.common import get_workspace
from pages.numbers import duration
from pages.run_form import run_form
from pages.run_plan import show_plan
from pages.run_view import SEEN_END, show_run

MOST_RUNS = 50


def main() -> None:
    """A run when the address names one, else the plan of a new one; earlier runs beneath."""
    st.html(Path(__file__).with_name("merges.css"))
    workspace = get_workspace()
    st.title("Learn", anchor=False)
    run = asked()
    if run:
        show_run(workspace, run)
    elif workspace.trace_counts()["total"]:
        form, plan = st.columns(2, gap="large")
        with form:
            planned = run_form(workspace)
        with plan:
            show_plan(workspace, planned)
    else:
        nothing_yet()
    recent(workspace, run)


def asked() -> str | None:
    """The run that the address names; without one, the run that was watched last, until its end has been seen."""
    if "run" not in st.query_params and address.remembered("run") == st.session_state.get(SEEN_END):
        return None
    return address.read("run").get("run")


def nothing_yet() -> None:
    """The empty state."""
    st.markdown("No traces yet: bring the runs of your agent first, then learn from them here.")
    if st.button("Bring traces", type="primary", icon=":material/upload:", key="learn_bring"):
        st.switch_page("traces.py")


def recent(workspace: Workspace, shown: str | None) -> None:
    """The other runs; choosing a row opens one."""
    runs = [row for row in workspace.runs() if row["id"] != shown][:MOST_RUNS]
    if not runs:
        return

    def chosen() -> None:
        cells = st.session_state["learn_runs"]["selection"]["cells"]
        if cells:
            address.move(run=runs[cells[0][0]]["id"])

    st.subheader("Other runs" if shown else "Runs", anchor=False)
    st.dataframe(
        pd.DataFrame(
            {
                "Run": [row["id"] for row in runs],
                "Prompt": [row["prompt"] for row in runs],
                "Strategy": [row["settings"].get("strategy", "combee") for row in runs],
                "State": [row["state"] for row in runs],
                "Traces": [row["traces"] for row in runs],
                "Batch size": [row["settings"]["batch"] for row in runs],
                "Version": [f"{row['prompt']}@{row['version']}" if row["version"] else "" for row in runs],
                "Time": [duration(row["wall_s"]) if row["wall_s"] else "" for row in runs],
                "Started": [row["created_at"] for row in runs],
            }
        ),
        key="learn_runs",
        on_select=chosen,
        selection_mode="single-cell",
        column_config={"Started": st.column_config.DatetimeColumn(format="distance")},
        hide_index=True,
        alt="Runs, newest first; choose one to open it",
    )


main()
