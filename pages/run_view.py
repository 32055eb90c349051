"""A learning run while it works and after: what it is doing, what came of it, and what can be done next."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from combee_core.engine.progress import KINDS, Progress, counted_as
from combee_core.errors import CombeeError
from combee_core.store.database import Row
from combee_core.workspace import Workspace
from pages import address
from pages.liveness import is_live
from pages.merge_html import fresh_html
from pages.numbers import compact, counted, duration, money
from pages.run_facts import Fact, facts_html
from pages.run_pace import Pace
from pages.session_key import ask_key, session_key

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
    live = is_live(workspace, run, row["state"])
    st.fragment(_body, run_every=POLL_SECONDS if live else None)(workspace, run, live)


def _leave() -> None:
    address.move(run=None)


def _body(workspace: Workspace, run: str, live: bool) -> None:
    row = workspace.run(run)
    if live and not is_live(workspace, run, row["state"]):
        st.rerun()
    progress = workspace.progress(run)
    if failure := st.session_state.pop("learn_failure", None):
        st.error(failure)
    if live:
        _working(workspace, row, progress)
        return
    st.session_state[SEEN_END] = run
    if row["state"] == "done":
        _done(workspace, row)
    else:
        _stopped(workspace, row)


def _working(workspace: Workspace, row: Row, progress: Progress | None) -> None:
    run = row["run"]
    if progress is None or not progress.iterations:
        st.markdown("Waiting to start")
        progress = progress or Progress()
    else:
        about = "about " if row["settings"]["batch"] == "auto" else ""
        which = f"Iteration {progress.iteration:,} of {about}{progress.iterations:,}"
        st.markdown(f"{which}, {counted(progress.batch_size, 'trace')}: **{PHASES[progress.phase]}**")
    _bars({kind: Tally(progress.done[kind], progress.failed[kind], progress.total[kind]) for kind in KINDS})
    pace: Pace = st.session_state.setdefault(f"learn_pace:{run}", Pace())
    left = pace.seconds_left(progress)
    facts = [
        Fact("In flight", f"{progress.in_flight} / {progress.limit}", "Calls at work now, and at most."),
        Fact("Time left", "measuring" if left is None else duration(left), "At the pace seen so far."),
    ]
    st.html(facts_html([*facts, *(_spent(progress) if row["settings"]["endpoint"] else ())]))
    if progress.held_back:
        st.caption(held_line(progress, row["settings"]))
    if progress.failed_calls:
        kinds = ", ".join(f"{kind.replace('_', ' ')} {number}" for kind, number in progress.failures.most_common())
        st.caption(
            f"{counted(progress.failed_calls, 'call')} without a usable answer" + (f": {kinds}" if kinds else "")
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        stopping = workspace.is_stopping(run)
        st.button(
            "Stopping …" if stopping else "Cancel",
            icon=":material/stop:",
            key="learn_cancel",
            on_click=workspace.cancel,
            args=(run,),
            disabled=stopping,
        )
        _look_into(workspace, run)
    _fresh(list(progress.latest))


def held_line(progress: Progress, settings: Mapping[str, Any]) -> str:
    """That a cap a minute holds calls back, and which."""
    what = {"rpm": "requests", "tpm": "tokens"}[progress.held_by]
    return (
        f"{counted(progress.held_back, 'call')} held back by the cap of {settings[progress.held_by]:,} {what} a minute"
    )


def failures_line(calls: int, kinds: Mapping[str, int]) -> str:
    """How many calls gave no usable answer, and why."""
    ranked = sorted(kinds.items(), key=lambda kind: -kind[1])
    why = ", ".join(f"{kind.replace('_', ' ')} {number:,}" for kind, number in ranked)
    return f"{counted(calls, 'call')} without a usable answer" + (f": {why}" if why else "")


def _spent(progress: Progress) -> list[Fact]:
    tokens = f"{compact(progress.input_tokens)} in, {compact(progress.output_tokens)} out"
    return [
        Fact("Calls", f"{progress.calls:,}", "Requests sent so far, retries included."),
        Fact("Tokens", compact(progress.input_tokens + progress.output_tokens), tokens),
        Fact("Cost", money(progress.cost_usd), "Unknown when no price of this model is known."),
    ]


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
    if row["failed_calls"]:
        st.caption(failures_line(row["failed_calls"], row["failures"]))
    if row["upkeep"]["note"]:
        # Plain: some of it is what the endpoint said.
        st.text(f"Near-duplicates in the review go by wording, not by embeddings: {row['upkeep']['note']}")
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Review the changes", type="primary", icon=":material/rate_review:", key="learn_review"):
            st.switch_page("prompts.py", query_params={"version": row["version"]})
        _look_into(workspace, row["run"])


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
        st.error(f"{run} failed. What had finished is kept: it can go on from there.", icon=":material/error:")
    elif row["stopped_by"]:
        st.info(f"{run} stopped at its budget. What had finished is kept: plan another run with a larger one.")
    elif row["state"] == "cancelled":
        st.info(f"{run} was cancelled. What had finished is kept: it can go on from there.")
    else:
        st.info(f"{run} was interrupted, as Combee stopped while it worked. It can go on without repeating a call.")
    if row["error"]:
        st.text(row["error"])
    nodes = workspace.planned_nodes(run, workspace.iteration_reached(run))
    _bars({kind: _tally([node for node in nodes if counted_as(node["kind"]) == kind]) for kind in KINDS})
    if row["iterations"]:
        st.caption(f"{counted(row['iterations'], 'iteration')} had finished before and made {row['version']}.")

    def resume() -> None:
        try:
            workspace.resume(run, session_key())
        except CombeeError as error:
            st.session_state["learn_failure"] = str(error)

    if row["settings"]["endpoint"] and not row["stopped_by"]:
        ask_key(again=True)
    with st.container(horizontal=True, vertical_alignment="center"):
        if not row["stopped_by"] and st.button(
            "Resume", type="primary", icon=":material/play_arrow:", key="learn_resume", on_click=resume
        ):
            st.rerun()
        _look_into(workspace, run)


def _tally(nodes: list[Row]) -> Tally:
    done = sum(node["state"] in ("done", "carried") for node in nodes)
    return Tally(done, sum(node["state"] == "failed" for node in nodes), len(nodes))


def _look_into(workspace: Workspace, run: str) -> None:
    query = {"run": run, "iteration": str(workspace.iteration_reached(run))}
    st.page_link("merges.py", label="Look into merges", icon=":material/account_tree:", query_params=query)
