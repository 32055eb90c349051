"""The tables beneath the merge tree: its lessons, and its calls. Choosing a row opens it in the inspector."""

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from combee_core.engine.fates import LessonFate
from pages.fate_style import LOOKS
from pages.merge_view import MergeView, notes
from pages.numbers import counted

Go = Callable[[str], None]


def lesson_rows(view: MergeView, lessons: Sequence[LessonFate]) -> pd.DataFrame:
    """One row a lesson."""
    return pd.DataFrame(
        {
            "Lesson": [lesson.text for lesson in lessons],
            "What became of it": [LOOKS[lesson.fate].words for lesson in lessons],
            "Bullets": [", ".join(lesson.bullets) for lesson in lessons],
            "Reflection": [view.nodes[lesson.reflection]["place"] + 1 for lesson in lessons],
            "Groups": [_groups(view, lesson.reflection) for lesson in lessons],
            "Trace": [lesson.trace for lesson in lessons],
        }
    )


def call_rows(view: MergeView, nodes: Sequence[str]) -> pd.DataFrame:
    """One row a call of the tree, from the final merge down to the reflections."""
    rows = [view.nodes[name] for name in nodes]
    return pd.DataFrame(
        {
            "Call": [view.name(name) for name in nodes],
            "State": [row["state"] for row in rows],
            "In": [len(view.came_in(row["id"])) if row["kind"] != "reflection" else None for row in rows],
            "Out": [len(row["output"].get("lessons", row["output"].get("operations", ()))) for row in rows],
            "In the prompt": [_kept(view, name) for name in nodes],
            "Notes": [", ".join(notes(row)) for row in rows],
            "Groups": [_groups(view, name) if view.nodes[name]["kind"] == "reflection" else "" for name in nodes],
            "Trace": [row["trace"] or "" for row in rows],
            "Seconds": [round(row["seconds"], 2) for row in rows],
            "Requests": [row["attempts"] for row in rows],
            "Tokens in": [row["input_tokens"] for row in rows],
            "Tokens out": [row["output_tokens"] for row in rows],
            "Error": [row["error"] or "" for row in rows],
        }
    )


def lesson_table(view: MergeView, found: Sequence[LessonFate] | None, go: Go, place: str) -> None:
    """The lessons that a search has found, or all."""
    lessons = view.lessons if found is None else found
    if not view.lessons:
        st.caption("No lesson yet.")
        return
    if not lessons:
        st.caption("No lesson matches: search for fewer words, or show all of them.")
        return
    st.caption(counted(len(lessons), "lesson") + ("" if found is None else f" of {len(view.lessons):,}"))
    columns = {
        "Lesson": st.column_config.TextColumn(width="large"),
        "Reflection": st.column_config.NumberColumn(width="small"),
    }
    nodes = [lesson.reflection for lesson in lessons]
    _table(lesson_rows(view, lessons), nodes, go, f"merges_lessons:{place}", columns, "Lessons and what became of each")


def call_table(view: MergeView, found: Sequence[LessonFate] | None, go: Go, place: str) -> None:
    """Every call, from the final merge down; a search keeps the merges and the reflections of the lessons it found."""
    merges = [merge["id"] for merge in reversed(view.merges)]
    wanted = None if found is None else {lesson.reflection for lesson in found}
    reflections = [
        name for name, row in view.nodes.items() if row["kind"] == "reflection" and (wanted is None or name in wanted)
    ]
    nodes = [*merges, *reflections]
    columns = {"Seconds": st.column_config.NumberColumn(format="%.2f")}
    _table(call_rows(view, nodes), nodes, go, f"merges_calls:{place}", columns, "Calls of the merge tree")


def _table(frame: pd.DataFrame, nodes: Sequence[str], go: Go, key: str, columns: dict[str, Any], alt: str) -> None:
    def chosen() -> None:
        cells = st.session_state[key]["selection"]["cells"]
        if cells:
            go(nodes[cells[0][0]])

    st.dataframe(
        frame,
        key=key,
        on_select=chosen,
        selection_mode="single-cell",
        column_config=columns,
        hide_index=True,
        height=min(420, 36 * (len(frame) + 1) + 3),
        alt=alt,
    )


def _groups(view: MergeView, reflection: str) -> str:
    return ", ".join(
        "final" if view.nodes[merge]["kind"] == "final" else str(view.nodes[merge]["place"] + 1)
        for merge in view.readers(reflection)
    )


def _kept(view: MergeView, name: str) -> int:
    row = view.nodes[name]
    if row["kind"] == "reflection":
        return sum(lesson.fate == "in_prompt" for lesson in view.of_reflection.get(name, ()))
    return view.through(name)
