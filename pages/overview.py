"""Overview: what there is, what is happening, and the one thing to do next."""

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import streamlit as st

from combee_core.workspace import Workspace
from pages import importing
from pages.common import get_workspace
from pages.next_step import STOPPED, Standing, standing
from pages.numbers import counted
from pages.overview_tables import show_prompts, show_runs


def main() -> None:
    """Three steps as cards, then runs and prompts."""
    st.html(Path(__file__).with_name("traces.css"))
    workspace = get_workspace()
    st.title("Overview", anchor=False)
    _show_model(workspace)
    if importing.follow():
        _tell_import()
    now = standing(workspace)
    if now.next == "samples":
        _show_welcome(workspace)
    bring, learn, ship = st.columns(3, gap="medium")
    with bring.container(border=True, height="stretch"):
        _show_bring(now)
    with learn.container(border=True, height="stretch"):
        _show_learn(workspace, now)
    with ship.container(border=True, height="stretch"):
        _show_ship(now)
    show_runs(workspace, now)
    show_prompts(now)


def _show_model(workspace: Workspace) -> None:
    endpoint = workspace.endpoint()
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        if endpoint is None:
            st.markdown("Offline rules engine, no language model –", width="content")
            st.page_link("settings.py", label=":primary[set one in Settings]", icon="")
        else:
            where = urlsplit(endpoint.base_url).hostname or endpoint.base_url
            st.html(f"Model: <strong>{escape(endpoint.model)}</strong> at {escape(where)}", width="content")
            st.page_link("settings.py", label=":primary[Settings]", icon="")


def _tell_import() -> None:
    job = importing.last_import()
    if job is None:
        return
    if job.problem:
        st.html(f"✕ The import broke off: {escape(job.problem)}")
    else:
        st.toast(importing.in_one_line(job.reports), icon=":material/check:")


def _show_welcome(workspace: Workspace) -> None:
    samples = importing.samples()
    with st.container(border=True):
        text, action = st.columns([4, 1], vertical_alignment="center")
        text.markdown(
            "**New here?** Go the whole way, from traces to a prompt that you approve, with sample traces in which "
            "agents make the mistakes that agents make. It needs no model and no key."
        )
        disabled = not samples or importing.busy()
        if action.button("Try it with sample traces", type="primary", disabled=disabled, width="stretch"):
            importing.begin(workspace, samples)
            st.rerun()


def _card(step: int, title: str, number: str, lines: list[str]) -> None:
    """The upper part of a card; `lines` are HTML."""
    facts = "".join(f"<div>{line}</div>" for line in lines)
    st.html(
        f'<div class="cb-label">{step} · {title}</div><div class="cb-number">{number}</div>'
        f'<div class="cb-card">{facts}</div>'
    )
    st.space("stretch")


def _show_bring(now: Standing) -> None:
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


def _show_learn(workspace: Workspace, now: Standing) -> None:
    last = now.live or now.last_run
    if last is None:
        _card(2, "Learn", "No run yet", ["A run reflects on every trace and merges the lessons into a prompt."])
    else:
        _card(2, "Learn", f"{escape(last['id'])} {last['state']}", _yield_of(workspace.run(last["id"])))
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
        st.switch_page("learn.py", query_params={"run": run} if run else None)


def _yield_of(run: Mapping[str, Any]) -> list[str]:
    lines = [
        f"{counted(run['traces'], 'trace')} → {counted(run['lessons'], 'lesson')}, {run['dropped_lessons']:,} dropped"
    ]
    if run["version"]:
        lines.append(f"{escape(run['version'])} with {counted(run['bullets'], 'bullet')}")
    if run["error"]:
        lines.append(escape(run["error"]))
    return lines


def _show_ship(now: Standing) -> None:
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


main()
