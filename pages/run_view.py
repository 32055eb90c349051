"""A learning run while it works and after: what it is doing, what came of it, and what can be done next."""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from combee_core.engine.outlook import iteration_count
from combee_core.engine.progress import KINDS, Progress
from combee_core.errors import CombeeError
from combee_core.store.database import Row
from combee_core.workspace import Workspace
from pages import address
from pages.endpoint_form import API_KEY
from pages.merge_html import fresh_html
from pages.next_step import LIVE
from pages.numbers import compact, counted, duration, money
from pages.run_pace import Pace

SEEN_END = "learn_seen_end"
"""Session key of the last run whose end the reader has seen."""
POLL_SECONDS = 1.0
BARS = {"reflection": "Reflections", "merge": "Group merges", "final": "Final merge"}
PHASES = {"reflection": "reflecting", "merge": "merging in groups", "final": "the final merge"}


@dataclass(frozen=True)
class Tally:
    """Nodes of one kind in the current iteration."""

    done: int
    failed: int
    total: int


def show_run(workspace: Workspace, run: str) -> None:
    """Draw a run; while it works the drawing renews itself every second."""
    try:
        row = workspace.run(run)
    except CombeeError:
        st.warning(f"There is no run {run[:40]}: choose one below, or plan a new one.")
        st.button("Plan a run", on_click=_leave)
        return
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.subheader(f"{run} · {row['prompt']}", anchor=False, width="content")
        st.button("Plan another run", icon=":material/add:", type="tertiary", on_click=_leave)
    live = row["state"] in LIVE
    st.fragment(_body, run_every=POLL_SECONDS if live else None)(workspace, run, live)


def _leave() -> None:
    address.move(run=None)


def _body(workspace: Workspace, run: str, live: bool) -> None:
    row = workspace.run(run)
    if live and row["state"] not in LIVE:
        st.rerun()
    progress = workspace.progress(run)
    if failure := st.session_state.pop("learn_failure", None):
        st.error(failure)
    if row["state"] not in LIVE:
        st.session_state[SEEN_END] = run
    if row["state"] == "done":
        _done(workspace, row)
    elif live:
        _working(workspace, row, progress)
    else:
        _stopped(workspace, row)


def _working(workspace: Workspace, row: Row, progress: Progress | None) -> None:
    run = row["run"]
    if progress is None or not progress.iterations:
        st.markdown("Waiting to start")
        progress = progress or Progress()
    else:
        which = f"Iteration {progress.iteration:,} of {progress.iterations:,}"
        st.markdown(f"{which}, {counted(progress.batch_size, 'trace')}: **{PHASES[progress.phase]}**")
    _bars({kind: Tally(progress.done[kind], progress.failed[kind], progress.total[kind]) for kind in KINDS})
    pace: Pace = st.session_state.setdefault(f"learn_pace:{run}", Pace())
    left = pace.seconds_left(progress)
    with st.grid(5, min_column_width=110, gap="xsmall"):
        st.metric("In flight", f"{progress.in_flight} / {progress.limit}", help="Calls at work now, and at most.")
        st.metric("Time left", "measuring" if left is None else duration(left), help="At the pace seen so far.")
        if row["settings"]["endpoint"]:
            _spent(progress.calls, progress.input_tokens, progress.output_tokens, progress.cost_usd)
    if progress.failed_calls:
        kinds = ", ".join(f"{kind.replace('_', ' ')} {number}" for kind, number in progress.failures.most_common())
        st.caption(
            f"{counted(progress.failed_calls, 'call')} without a usable answer" + (f": {kinds}" if kinds else "")
        )
    with st.container(horizontal=True):
        st.button("Cancel", icon=":material/stop:", key="learn_cancel", on_click=workspace.cancel, args=(run,))
        _look_into(run, row)
    _fresh(list(progress.latest))


def _spent(calls: int, tokens_in: int, tokens_out: int, cost: float | None) -> None:
    st.metric("Calls", f"{calls:,}", help="Requests sent so far, retries included.")
    st.metric("Tokens", compact(tokens_in + tokens_out), help=f"{compact(tokens_in)} in, {compact(tokens_out)} out")
    st.metric("Cost", money(cost).replace("$", "\\$"), help="Unknown when no price of this model is known.")


def _bars(tallies: Mapping[str, Tally]) -> None:
    for kind, title in BARS.items():
        tally = tallies[kind]
        ended = tally.done + tally.failed
        failed = f" · {tally.failed:,} failed" if tally.failed else ""
        st.progress(ended / tally.total if tally.total else 0.0, text=f"{title} {ended:,} of {tally.total:,}{failed}")


def _fresh(texts: list[str]) -> None:
    """The newest lessons, in a place of fixed height: nothing beneath moves as they come in."""
    st.markdown("**Lessons as they come in**")
    with st.container(height=260, border=True):
        if texts:
            st.html(fresh_html(texts))
        else:
            st.caption("None yet")


def _done(workspace: Workspace, row: Row) -> None:
    st.success(result_line(row), icon=":material/check_circle:")
    if row["failed_reflections"]:
        failed = counted(row["failed_reflections"], "reflection")
        st.warning(f"{failed} failed after all retries and left out; Merges shows which and why.")
    with st.container(horizontal=True):
        if st.button("Review the changes", type="primary", icon=":material/rate_review:", key="learn_review"):
            st.switch_page("prompts.py", query_params={"version": row["version"]})
        _look_into(row["run"], row)


def result_line(row: Row) -> str:
    """One line on what a finished run came to."""
    lessons = f"{counted(row['lessons'], 'lesson')}, {row['dropped_lessons']:,} dropped"
    parts = [
        f"{counted(row['traces'], 'trace')} → {lessons} → {row['version']} with {counted(row['bullets'], 'bullet')}"
    ]
    if row["settings"]["endpoint"]:
        tokens = compact(row["input_tokens"] + row["output_tokens"])
        parts.append(
            f"{counted(row['calls'], 'call')}, {tokens} tokens, cost {money(row['cost_usd'])}".replace("$", "\\$")
        )
    return " · ".join([*parts, duration(row["wall_s"])])


def _stopped(workspace: Workspace, row: Row) -> None:
    """Failed, cancelled or interrupted: why, how far it came, and how to go on."""
    run = row["run"]
    if row["state"] == "failed":
        st.error(f"{run} failed.", icon=":material/error:")
        if row["error"]:
            st.text(row["error"])
    elif row["state"] == "cancelled":
        st.info(f"{run} was cancelled. What had finished is kept: it can go on from there.")
    else:
        st.info(
            f"{run} was interrupted, as Combee stopped while it worked. It can go on without repeating a finished call."
        )
    nodes = workspace.planned_nodes(run, _reached(row))
    _bars({kind: _tally([node for node in nodes if node["kind"] == kind]) for kind in KINDS})
    if row["iterations"]:
        st.caption(f"Iterations finished before: {row['iterations']:,}. They made {row['version']}.")

    def resume() -> None:
        try:
            workspace.resume(run, st.session_state.get(API_KEY) or None)
        except CombeeError as error:
            st.session_state["learn_failure"] = str(error)

    with st.container(horizontal=True):
        if st.button("Resume", type="primary", icon=":material/play_arrow:", key="learn_resume", on_click=resume):
            st.rerun()
        _look_into(run, row)


def _tally(nodes: list[Row]) -> Tally:
    done = sum(node["state"] in ("done", "carried") for node in nodes)
    return Tally(done, sum(node["state"] == "failed" for node in nodes), len(nodes))


def _look_into(run: str, row: Row) -> None:
    query = {"run": run, "iteration": str(_reached(row))}
    st.page_link("merges.py", label="Look into merges", icon=":material/account_tree:", query_params=query)


def _reached(row: Row) -> int:
    """The iteration that a run is at, or has stopped in; the last one when all are finished."""
    return min(int(row["iterations"]) + 1, iteration_count(row["traces"], row["settings"]))
