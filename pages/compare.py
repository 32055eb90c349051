"""Compare: several strategies over the same traces side by side, or runs that exist; the address holds which."""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from combee_core.store.database import Row
from combee_core.workspace import Workspace
from pages import address
from pages.common import get_workspace
from pages.compare_figure import panels_figure, trade_figure
from pages.compare_form import FAILURES, show_form
from pages.compare_table import headline, show_table
from pages.liveness import is_live
from pages.run_pace import share_done
from pages.run_view import PHASES

POLL_SECONDS = 1.0
MOST = 12
"""Runs in one comparison: more bars than that nobody reads."""


def main() -> None:
    """Choose runs, then see them side by side; with none chosen, the form of a new comparison."""
    st.html(Path(__file__).with_name("merges.css"))
    workspace = get_workspace()
    st.title("Compare", anchor=False)
    runs = workspace.runs()
    if not runs and not workspace.trace_counts()["total"]:
        nothing_yet()
        return
    chosen = choose(runs)
    for failure in st.session_state.pop(FAILURES, ()):
        st.error(failure)
    if chosen:
        live = any(is_live(workspace, row["id"], row["state"]) for row in chosen)
        names = [row["id"] for row in chosen]
        st.fragment(show_comparison, run_every=POLL_SECONDS if live else None)(workspace, names, live)
    else:
        show_form(workspace)


def nothing_yet() -> None:
    """The empty state."""
    st.markdown("Nothing to compare yet: bring the runs of your agent, then let several strategies learn from them.")
    if st.button("Bring traces", type="primary", icon=":material/upload:", key="compare_bring"):
        st.switch_page("traces.py")


def choose(runs: Sequence[Row]) -> list[Row]:
    """The runs that the address names, and the field that changes them."""
    by_name = {row["id"]: row for row in runs}
    asked = list(dict.fromkeys(filter(None, address.read("runs").get("runs", "").split(","))))
    found = [name for name in asked if name in by_name][:MOST]
    if missing := [name[:40] for name in asked if name not in by_name]:
        instead = "the others are shown" if found else "choose some below, or plan a new comparison"
        st.warning(f"There is no run {', '.join(missing[:5])}: {instead}.")
    st.session_state["compare_runs"] = found
    if by_name:
        st.multiselect(
            "Runs side by side",
            list(by_name),
            key="compare_runs",
            format_func=lambda name: described(by_name[name]),
            on_change=lambda: address.move(runs=",".join(st.session_state["compare_runs"]) or None),
            max_selections=MOST,
            placeholder="Choose runs, or plan a new comparison below",
        )
    return [by_name[name] for name in found]


def described(row: Row) -> str:
    """A run in one line."""
    strategy = row["settings"].get("strategy", "combee")
    return f"{row['id']} · {strategy} · {row['prompt']} · {row['traces']:,} traces"


def show_comparison(workspace: Workspace, names: Sequence[str], live: bool) -> None:
    """Figures and table of what there is, and how far the runs are that still work."""
    stamp = tuple((row["id"], row["state"], row["version"]) for row in workspace.runs() if row["id"] in names)
    comparison = _compared(str(workspace.path), tuple(names), stamp, workspace)
    rows: list[Row] = comparison["strategies"]
    working = [row for row in rows if is_live(workspace, row["run"], row["state"])]
    if live and not working:
        st.rerun()
    show_state(workspace, rows, working)
    if not comparison["same_traces"]:
        st.info("These runs did not learn from the same traces: their numbers tell of the traces as well.")
    finished = [row for row in rows if row["iterations"]]
    if finished:
        show_figures(finished)
    st.button("Plan a new comparison", icon=":material/add:", key="compare_new", on_click=_leave)


@st.cache_resource(max_entries=8, show_spinner=False)
def _compared(path: str, names: tuple[str, ...], stamp: object, _workspace: Workspace) -> Row:
    """The comparison, counted anew only when one of its runs has finished an iteration or come to its end."""
    return _workspace.compare_runs(names)


def _leave() -> None:
    address.move(runs=None)


def show_state(workspace: Workspace, rows: Sequence[Row], working: Sequence[Row]) -> None:
    """A bar for each run that is at work, a sentence for each that stopped before its end."""
    for row in working:
        progress = workspace.progress(row["run"])
        if progress is None or not progress.iterations:
            st.progress(0.0, text=f"{row['label']}: waiting for its turn")
        else:
            which = f"iteration {progress.iteration:,} of {progress.iterations:,}"
            st.progress(min(1.0, share_done(progress)), text=f"{row['label']}: {which}, {PHASES[progress.phase]}")
    for row in rows:
        if row["state"] == "done" or row in working:
            continue
        with st.container(horizontal=True, vertical_alignment="center"):
            st.warning(f"{row['label']} ({row['run']}) {row['state']}: {row['error'] or 'it has not come to its end.'}")
            st.page_link("learn.py", label="Go on with it", query_params={"run": row["run"]})
    if working:
        st.button("Cancel", icon=":material/stop:", key="compare_cancel", on_click=_cancel, args=(workspace, working))


def _cancel(workspace: Workspace, working: Sequence[Row]) -> None:
    for row in working:
        workspace.cancel(row["run"])


def show_figures(rows: Sequence[Row]) -> None:
    """The sentence, the panels, the table they were drawn from, and what was kept against the time."""
    ink = "#EFE8DB" if st.context.theme.type == "dark" else "#211C15"
    config = {"displayModeBar": False, "doubleClick": False}
    st.text(headline(rows))
    st.plotly_chart(
        panels_figure(rows, ink),
        key="compare_panels",
        config=config,
        alt="Bullets, tokens, lessons, traces, specifics, calls, cost and time of each run; the table holds the same",
    )
    show_table(rows)
    if any(row["strategy"] in ("summary", "hierarchical-summary") for row in rows):
        st.caption(
            "A summary stands for every lesson that it was written from: none of them counts as dropped, and all their "
            "traces stand behind it. What its text still says shows in the numbers, identifiers and names kept."
        )
    st.markdown("**What was kept, against the time it took**")
    st.plotly_chart(
        trade_figure(rows, ink),
        key="compare_trade",
        config=config,
        alt="Share of numbers, identifiers and names kept against minutes; the table holds the same",
    )


main()
