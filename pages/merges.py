"""Merges: look into the merge tree of a run, from the final merge down to each copy of a reflection."""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from combee_core.store.database import Row
from pages import address
from pages.common import get_workspace
from pages.liveness import is_live
from pages.merge_panel import Shown, show_panel


def main() -> None:
    """Choose run and iteration, then draw them."""
    st.html(Path(__file__).with_name("merges.css"))
    workspace = get_workspace()
    st.title("Merges", anchor=False)
    runs = workspace.runs()
    if not runs:
        nothing_yet()
        return
    place = address.read("run", "iteration", "node")
    names = [row["id"] for row in runs]
    run = place.get("run", names[0])
    if run not in names:
        st.warning(f"There is no run {run[:40]}: this is {names[0]}.")
        run = names[0]
    if run != place.get("run"):
        address.move(run=run)
    row = runs[names.index(run)]
    iterations = list(range(1, workspace.iteration_reached(run) + 1))
    iteration = (
        int(asked) if (asked := place.get("iteration", "")).isdecimal() and int(asked) in iterations else iterations[-1]
    )
    choose(runs, row, iterations, iteration, workspace.iterations_in_all(run))
    show_panel(Shown(workspace, run, iteration, is_live(workspace, run, row["state"]), row["prompt"]))


def nothing_yet() -> None:
    """The empty state."""
    st.markdown("No merges yet: every learning run leaves its merge tree here.")
    if st.button("Start learning", type="primary"):
        st.switch_page("learn.py")


def choose(runs: Sequence[Row], row: Row, iterations: Sequence[int], iteration: int, total: int) -> None:
    """The two selectors; they follow the address and change it."""
    by_name = {each["id"]: each for each in runs}
    st.session_state["merges_run"] = row["id"]
    st.session_state["merges_iteration"] = iteration
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Run",
            list(by_name),
            key="merges_run",
            format_func=lambda name: described(by_name[name]),
            on_change=lambda: address.move(run=st.session_state["merges_run"]),
            width=420,
        )
        st.selectbox(
            "Iteration",
            iterations,
            key="merges_iteration",
            format_func=lambda number: f"{number} of {total}",
            on_change=lambda: address.move(iteration=str(st.session_state["merges_iteration"])),
            disabled=len(iterations) == 1,
            width=140,
        )
        st.page_link(
            "learn.py", label="Progress of this run", icon=":material/monitoring:", query_params={"run": row["id"]}
        )


def described(row: Row) -> str:
    """A run in one line."""
    return f"{row['id']} · {row['prompt']} · {row['traces']:,} traces · {row['state']}"


main()
