"""The versions of one prompt: the line to choose from, one version in a line of words, and all of them as a table."""

from collections.abc import Mapping
from datetime import datetime
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from pages import address
from pages.evidence_view import page_link
from pages.numbers import counted

EMPTY = "empty"
"""How the address names the empty playbook, from which a first version starts."""

RECENT = 6
"""Versions in the line; the table has them all."""

Versions = Mapping[str, Mapping[str, Any]]
"""Stored versions by their full name, newest first."""


def choose_versions(versions: Versions, name: str, against: str) -> None:
    """Draw the line of versions, newest first, and the choice of what the open one is compared with."""
    recent = list(versions)[:RECENT]
    st.session_state["prompts_version"], st.session_state["prompts_against"] = name, against
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        st.segmented_control(
            "Version",
            recent if name in recent else [*recent, name],
            format_func=lambda key: f"@{versions[key]['version']}{' ✓' if is_approved(versions[key]) else ''}",
            key="prompts_version",
            required=True,
            help="Newest first; ✓ is approved. Older ones are under History.",
            on_change=lambda: address.move(version=st.session_state["prompts_version"], against=None),
        )
        st.selectbox(
            "Compared with",
            [*(key for key in versions if key != name), EMPTY],
            format_func=lambda key: "the empty playbook" if key == EMPTY else f"{key} · {versions[key]['status']}",
            key="prompts_against",
            width=320,
            on_change=lambda: address.move(version=name, against=st.session_state["prompts_against"]),
        )
    st.html(_in_words(name, versions[name]))


def show_history(versions: Versions) -> None:
    """Draw all versions as a table; a click on a row opens that version."""
    names = list(versions)

    def opened() -> None:
        cells = st.session_state["prompts_history"].selection.cells
        if cells:
            address.move(version=names[cells[0][0]], against=None)

    rows = list(versions.values())
    st.dataframe(
        pd.DataFrame(
            {
                "Version": names,
                "Status": [row["status"] for row in rows],
                "Bullets": [row["bullets"] for row in rows],
                "Run": [row["run"] or "" for row in rows],
                "Made": [when(row["created_at"]) for row in rows],
                "Approved by": [row["approved_by"] or "" for row in rows],
                "Approved": [when(row["approved_at"]) for row in rows],
                "Note": [row["note"] or "" for row in rows],
            }
        ),
        key="prompts_history",
        hide_index=True,
        on_select=opened,
        selection_mode="single-cell",
        alt="All versions of the prompt; choose one to open it",
    )


def is_approved(version: Mapping[str, Any]) -> bool:
    """Whether a stored version has been approved."""
    return bool(version["status"] == "approved")


def when(time: datetime | None) -> str:
    """A time as people write it, in this machine's zone."""
    return f"{time.day} {time:%b %Y, %H:%M}" if time else ""


def _in_words(name: str, version: Mapping[str, Any]) -> str:
    status = version["status"]
    parts = [
        f'<span class="cb-badge cb-{status}">{status.capitalize()}</span>',
        f"<strong>{escape(name)}</strong>",
        f"<span>{counted(version['bullets'], 'bullet')}</span>",
    ]
    if version["run"] and version["iteration"] is not None:
        parts.append(f"<span>by {page_link('merges', version['run'], run=version['run'])}</span>")
    elif version["parent"]:
        parts.append(f"<span>from the review of @{version['parent']}</span>")
    parts.append(f"<span>{when(version['created_at'])}</span>")
    if is_approved(version):
        parts.append(f"<span>approved by {escape(version['approved_by'])}, {when(version['approved_at'])}</span>")
    if version["note"]:
        parts.append(f"<span>“{escape(version['note'])}”</span>")
    return f'<div class="cb-line">{"".join(parts)}</div>'
