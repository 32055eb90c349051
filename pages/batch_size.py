"""Batch size: how many traces each iteration took and why, the fitted curve behind it, and what would be chosen."""

from pathlib import Path
from typing import Any

import streamlit as st

from combee_core.batch_size import largest_worth
from combee_core.engine.batch_sizes import BatchSizes
from combee_core.store.database import Row
from combee_core.workspace import Workspace
from pages import address
from pages.batch_size_figures import curve_figure, trajectory_figure
from pages.batch_size_table import comparison_rows
from pages.batch_size_what_if import ask_what_if
from pages.common import get_workspace
from pages.liveness import is_live
from pages.numbers import counted, duration
from pages.run_facts import Fact, facts_html

POLL_SECONDS = 2.0


def main() -> None:
    """Choose a run, then draw its batch sizes."""
    st.html(Path(__file__).with_name("merges.css"))
    workspace = get_workspace()
    st.title("Batch size", anchor=False)
    runs = workspace.runs()
    if not runs:
        nothing_yet()
        return
    names = [row["id"] for row in runs]
    asked = address.read("run").get("run")
    latest = next((row["id"] for row in runs if row["settings"]["batch"] == "auto"), names[0])
    run = asked if asked in names else latest
    if asked is not None and asked not in names:
        st.warning(f"There is no run {asked[:40]}: this is {run}.")
    if run != asked:
        address.move(run=run)
    choose(runs, run)
    row = next(row for row in runs if row["id"] == run)
    live = is_live(workspace, run, row["state"])
    st.fragment(_panel, run_every=POLL_SECONDS if live else None)(workspace, run, live)


def nothing_yet() -> None:
    """The empty state."""
    st.markdown(
        "No run yet: with *Automatic* as its batch size, a run measures what each size takes and shows it here."
    )
    if st.button("Start learning", type="primary"):
        st.switch_page("learn.py")


def choose(runs: list[Row], run: str) -> None:
    """The selector of the run; it follows the address and changes it."""
    by_name = {row["id"]: row for row in runs}
    st.session_state["batch_size_run"] = run
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Run",
            list(by_name),
            key="batch_size_run",
            format_func=lambda name: _described(by_name[name]),
            on_change=lambda: address.move(run=st.session_state["batch_size_run"]),
            width=460,
        )
        st.page_link("learn.py", label="Progress of this run", icon=":material/monitoring:", query_params={"run": run})


def _described(row: Row) -> str:
    size = "automatic" if row["settings"]["batch"] == "auto" else f"batch size {row['settings']['batch']:,}"
    return f"{row['id']} · {row['prompt']} · {row['traces']:,} traces · {size} · {row['state']}"


def _panel(workspace: Workspace, run: str, live: bool) -> None:
    sizes = workspace.batch_sizes(run)
    if live and not is_live(workspace, run, sizes.state):
        st.rerun()
    if not sizes.choices:
        st.markdown("Waiting for the first iteration")
        return
    _headline(sizes)
    _facts(sizes)
    ink = "#EFE8DB" if st.context.theme.type == "dark" else "#211C15"
    left, right = st.columns(2, gap="medium")
    with left:
        _curve(workspace, sizes, ink)
    with right:
        st.markdown("**Iteration by iteration**")
        _chart(trajectory_figure(sizes.choices, ink), f"batch_size_trajectory:{run}", "Batch size of each iteration")
    if sizes.curve is not None:
        st.markdown("**What other batch sizes would take**")
        st.dataframe(comparison_rows(sizes, sizes.curve), hide_index=True, width="stretch")
    with st.expander("Every iteration and its reason"):
        st.dataframe(_iteration_rows(sizes), hide_index=True, width="stretch")


def _headline(sizes: BatchSizes) -> None:
    """The batch size that the run has come to, and the reason in words."""
    if (settled := sizes.settled) is not None:
        kind, _, reason = settled.why.partition(": ")
        st.markdown(f"**{settled.batch_size:,}**, {kind}: {reason}.")
    else:
        st.markdown(f"Trying batch sizes: {sizes.choices[-1].why.partition(': ')[2]}.")
    if (moved := moved_to(sizes)) is not None:
        st.caption(f"The curve through all that has been measured by now puts the plateau at {moved:,}.")
    if sizes.settings.batch_from:
        st.caption(f"Started from the delays of {sizes.settings.batch_from} on the same endpoint, without trials.")


def moved_to(sizes: BatchSizes) -> int | None:
    """The plateau by all delays, also those that came after the last choice; None where it is the chosen size."""
    if sizes.settled is None or sizes.curve is None or sizes.curve.alpha <= 0:
        return None
    now = min(sizes.n, largest_worth(sizes.curve, sizes.grid[0], sizes.settings.tau))
    return None if now == sizes.settled.batch_size else now


def _facts(sizes: BatchSizes) -> None:
    facts = [Fact("Iterations", f"{len(sizes.choices):,}", "Finished, and the one at work.")]
    trials = [choice for choice in sizes.choices if choice.trial]
    if sizes.grid:
        learnt = sum(choice.batch_size for choice in trials)
        facts.append(
            Fact("Trials", f"{len(trials)}", f"They learnt from {counted(learnt, 'trace')}, none of them twice.")
        )
    if sizes.curve is not None:
        facts += [
            Fact("α", f"{sizes.curve.alpha:.2f}", "How fast an epoch gets shorter: T = A · batch size^(-α)."),
            Fact("r²", f"{sizes.curve.r2:.2f}", "Share of the differences of epoch times that the curve explains."),
        ]
    if sizes.measured_epoch is not None:
        facts.append(Fact("Epoch, measured", duration(sizes.measured_epoch), "The first one, trials included."))
    if sizes.curve is not None and sizes.settled is not None:
        predicted = sizes.curve.epoch_seconds(sizes.settled.batch_size)
        why = f"By the curve, with {sizes.settled.batch_size:,} traces in every batch."
        facts.append(Fact("Epoch, predicted", duration(predicted), why))
    st.html(facts_html(facts))


def _curve(workspace: Workspace, sizes: BatchSizes, ink: str) -> None:
    st.markdown("**Seconds an epoch**")
    if sizes.curve is None:
        st.caption(
            "A fixed batch size: nothing was tried. A run with *Automatic* measures what each size takes."
            if not sizes.grid
            else "Two batch sizes with a measured delay make a curve; the trials are not that far."
        )
        return
    what_if = ask_what_if(sizes, sizes.curve)
    if what_if is None:
        return
    most = max(sizes.n if sizes.n < 200 else 0, *(point.batch_size for point in sizes.curve.points))
    figure = curve_figure(what_if.curve, what_if.smallest, what_if.tau_share, most, ink)
    _chart(figure, f"batch_size_curve:{sizes.run}", "Epoch time against batch size, fitted")
    what_if.offer(workspace, min(sizes.n, largest_worth(what_if.curve, what_if.smallest, what_if.tau_share)))


def _chart(figure: dict[str, Any], key: str, alt: str) -> None:
    st.plotly_chart(figure, key=key, config={"displayModeBar": False}, alt=alt)


def _iteration_rows(sizes: BatchSizes) -> list[dict[str, Any]]:
    return [
        {
            "Iteration": choice.iteration,
            "Batch size": choice.batch_size,
            "Seconds": None if choice.seconds is None else round(choice.seconds, 2),
            "Why": choice.why,
        }
        for choice in sizes.choices
    ]


main()
