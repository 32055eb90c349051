"""The merge tree of one iteration with everything that moves with it: legend, search, figure, inspector, tables.

A fragment: a click redraws this part alone, and while the run works it looks for new nodes by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from combee_core.engine.fates import LessonFate
from combee_core.engine.outlook import Stamp
from combee_core.store.database import Row
from combee_core.workspace import Workspace
from pages import address
from pages.liveness import is_live
from pages.merge_figure import Layout, lay_out, merge_figure
from pages.merge_html import legend_html
from pages.merge_inspector import Inspected, show_node
from pages.merge_tables import call_table, lesson_table
from pages.merge_view import MergeView, fates_of

POLL_SECONDS = 2.0
LEAST_HEIGHT = 420

Lessons = Sequence[LessonFate]


@dataclass(frozen=True)
class Shown:
    """What the page has settled on."""

    workspace: Workspace
    run: str
    iteration: int
    live: bool
    prompt: str


def show_panel(shown: Shown) -> None:
    """Draw the iteration."""
    st.fragment(_panel, run_every=POLL_SECONDS if shown.live else None)(shown)


@st.cache_resource(max_entries=8, show_spinner=False)
def _seen(path: str, run: str, iteration: int, stamp: Stamp, _workspace: Workspace) -> tuple[MergeView, Layout]:
    view = MergeView({node["id"]: node for node in _workspace.planned_nodes(run, iteration)})
    return view, lay_out(view)


def _panel(shown: Shown) -> None:
    workspace = shown.workspace
    if shown.live and not is_live(workspace, shown.run, workspace.run(shown.run)["state"]):
        st.rerun()
    stamp = workspace.iteration_stamp(shown.run, shown.iteration)
    view, layout = _seen(str(workspace.path), shown.run, shown.iteration, stamp, workspace)
    st.html(legend_html(view, shown.live))
    text, only_dropped = _search()
    found = view.search(text, only_dropped) if text.strip() or only_dropped else None
    asked = st.query_params.get("node", "")
    node: str = asked if asked in view.nodes else view.final["id"]
    picture, inspector = st.columns([3, 2], gap="medium")
    # The inspector first: its text is there before the browser has drawn the figure again.
    with inspector, st.container(height=max(LEAST_HEIGHT, layout.height), border=True):
        show_node(Inspected(workspace, view, _version_of(shown)), node, _go)
    with picture:
        _figure(shown, view, layout, node, found)
    _tables(shown, view, found)


def _version_of(shown: Shown) -> str | None:
    rows: list[Row] = [row for row in shown.workspace.iterations(shown.run) if row["iteration"] == shown.iteration]
    return f"{shown.prompt}@{rows[0]['version']}" if rows and rows[0]["version"] else None


def _search() -> tuple[str, bool]:
    with st.container(horizontal=True, vertical_alignment="center"):
        text = st.text_input(
            "Search lessons",
            key="merges_search",
            type="search",
            live=True,
            placeholder="Search lessons",
            label_visibility="collapsed",
            persist_state="session",
            width=340,
        )
        only_dropped = st.toggle(
            "Only dropped",
            key="merges_dropped",
            persist_state="session",
            help="Lessons of which no copy reached the prompt: dropped by every group, or lost above.",
        )
    return text or "", only_dropped


def _go(node: str) -> None:
    address.move(node=node)


def _figure(shown: Shown, view: MergeView, layout: Layout, node: str, found: Lessons | None) -> None:
    ink, paper = ("#EFE8DB", "#15130F") if st.context.theme.type == "dark" else ("#211C15", "#FFFDF7")
    key = f"merges_figure:{shown.run}:{shown.iteration}"

    def clicked() -> None:
        points: list[Any] = st.session_state[key]["selection"]["points"]
        if points and "customdata" in points[0]:
            _go(points[0]["customdata"][0])

    st.plotly_chart(
        merge_figure(view, layout, ink, paper, node, None if found is None else fates_of(view, found)),
        key=key,
        on_select=clicked,
        selection_mode="points",
        config={"displayModeBar": False, "doubleClick": False},
        alt=f"Merge tree of iteration {shown.iteration} of {shown.run}; the table beneath holds the same",
    )


def _tables(shown: Shown, view: MergeView, found: Lessons | None) -> None:
    kinds = ("Lessons", "Calls")
    kind = st.segmented_control(
        "Table", kinds, default=kinds[0], key="merges_table", required=True, label_visibility="collapsed"
    )
    table = lesson_table if kind == kinds[0] else call_table
    table(view, found, _go, f"{shown.run}:{shown.iteration}")
