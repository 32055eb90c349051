"""Overview: what there is, what is happening, and the one thing to do next."""

from html import escape
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st

from combee_core.workspace import Workspace
from pages import importing
from pages.common import get_workspace
from pages.next_step import standing
from pages.overview_cards import show_bring, show_learn, show_ship
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
        show_bring(now)
    with learn.container(border=True, height="stretch"):
        show_learn(workspace, now)
    with ship.container(border=True, height="stretch"):
        show_ship(now)
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


main()
