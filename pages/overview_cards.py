"""The three cards of the Overview: bring traces, learn, review and ship; each with its one next action."""

from collections.abc import Mapping
from html import escape
from typing import Any

import streamlit as st

from combee_core.workspace import Workspace
from pages import address
from pages.next_step import STOPPED, Standing
from pages.numbers import counted


def _card(step: int, title: str, number: str, lines: list[str]) -> None:
    """The upper part of a card; `lines` are HTML."""
    facts = "".join(f"<div>{line}</div>" for line in lines)
    st.html(
        f'<div class="cb-label">{step} · {title}</div><div class="cb-number">{number}</div>'
        f'<div class="cb-card">{facts}</div>'
    )
    st.space("stretch")


def show_bring(now: Standing) -> None:
    """Traces: how many, how many of them succeeded, what came last."""
    counts = now.traces
    lines = ["The runs of your agent, in any of the formats that Combee reads."]
    if counts["total"]:
        known = counts["success"] + counts["failure"]
        lines = [
            f"{counts['success'] / known:.0%} of {known:,} with a known outcome succeeded"
            if known
            else "No outcome known"
        ]
        last = now.imports[0]
        lines.append(f"Last import: {escape(_file_name(last['file']))}, {counted(last['new_traces'], 'new trace')}")
    _card(1, "Bring traces", counted(counts["total"], "trace"), lines)
    if st.button("Add traces", width="stretch", key="overview_bring"):
        st.switch_page("traces.py")


def show_learn(workspace: Workspace, now: Standing) -> None:
    """The live run or the last one, and what it yielded."""
    last = now.live or now.last_run
    if last is None:
        _card(2, "Learn", "No run yet", ["A run reflects on every trace and merges the lessons into a prompt."])
    else:
        _card(2, "Learn", f"{escape(last['id'])} {last['state']}", _yield_of(workspace.run(last["id"])))
        if workspace.is_live(last["id"]):
            _show_live(workspace, last["id"])
    label, run = "Start learning", None
    if now.live:
        label, run = f"Watch {now.live['id']}", now.live["id"]
    elif last is not None and last["state"] in STOPPED:
        label, run = f"Go on with {last['id']}", last["id"]
    elif last is not None:
        label = "Learn again"
    wanted = now.next in ("learn", "watch", "resume")
    if st.button(
        label,
        width="stretch",
        key="overview_learn",
        type="primary" if wanted else "secondary",
        disabled=not now.traces["total"],
    ):
        address.move(run=run)
        st.switch_page("learn.py", query_params={"run": run} if run else None)


@st.fragment(run_every=1.0)
def _show_live(workspace: Workspace, run: str) -> None:
    """How far the current iteration is; when the run has ended, the page is drawn anew."""
    progress = workspace.progress(run)
    if progress is None or not workspace.is_live(run):
        st.rerun()
        return
    total = max(1, progress.total.total())
    finished = min(total, progress.done.total() + progress.failed.total())
    st.progress(
        finished / total,
        text=f"Iteration {progress.iteration} of {progress.iterations}: {finished:,} of {total:,} calls done",
    )


def _yield_of(run: Mapping[str, Any]) -> list[str]:
    lines = [counted(run["traces"], "trace")]
    if run["iterations"]:
        lines[0] += f" → {counted(run['lessons'], 'lesson')}, {run['dropped_lessons']:,} dropped"
    if run["version"]:
        lines.append(f"{escape(run['version'])} with {counted(run['bullets'], 'bullet')}")
    if run["error"]:
        lines.append(escape(run["error"]))
    return lines


def show_ship(now: Standing) -> None:
    """Versions that wait for a review, and those that are approved."""
    waiting, approved = now.waiting, now.approved
    lines = [f"Approved: {escape(', '.join(approved))}" if approved else "Nothing is approved yet."]
    if waiting:
        lines.insert(0, escape(", ".join(waiting)))
    _card(3, "Review and ship", f"{len(waiting)} to review" if waiting or not approved else "All reviewed", lines)
    target = waiting[0] if waiting else approved[0] if approved else None
    label = f"Review {target}" if waiting else f"Get {target}" if target else "Review"
    if st.button(
        label,
        width="stretch",
        key="overview_ship",
        type="primary" if now.next in ("review", "ship") else "secondary",
        disabled=target is None,
    ):
        st.switch_page("prompts.py", query_params={"version": str(target)})


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]
