"""Prompts: the versions of a prompt, what changed between any two, a decision on each, and the text that ships."""

from collections.abc import Collection, Sequence
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st

from combee_core.playbook import Playbook
from combee_core.store.versions import Version
from combee_core.workspace import Workspace
from pages import address
from pages.common import get_workspace
from pages.diff_view import diff_rows
from pages.next_step import only_compared
from pages.numbers import counted
from pages.prompt_text import show_text
from pages.review_offers import show_offers
from pages.review_view import Reading, show_changes
from pages.version_view import EMPTY, Versions, choose_versions, is_approved, show_history

TABS = ("Changes", "Prompt text", "History")
OFFERS = "Proposals"
"""The tab that is there when the review offers something beyond the changes."""


def main() -> None:
    """Draw what the address asks for."""
    st.html(Path(__file__).with_name("prompts.css"))
    workspace = get_workspace()
    prompts = workspace.prompts()
    names = [row["prompt"] for row in prompts]
    place = address.read("prompt", "version", "against")
    prompt = (
        place.get("prompt") or place.get("version", "").partition("@")[0] or (names[0] if len(names) == 1 else None)
    )
    if prompt in names:
        show_prompt(workspace, prompt, place, several=len(names) > 1)
        return
    st.title("Prompts", anchor=False)
    if prompt is not None:
        st.warning(f"There is no prompt “{prompt}”.")
    if prompts:
        show_prompts(prompts, only_compared(workspace.runs()))
    else:
        show_nothing_yet()


def show_nothing_yet() -> None:
    """The empty state."""
    st.markdown("No prompt yet: a learning run writes the first version from your traces.")
    if st.button("Learn a first version", type="primary"):
        st.switch_page("learn.py")


def show_prompts(prompts: Sequence[dict[str, Any]], compared: Collection[str]) -> None:
    """One line a prompt, with what is approved and what waits; those that are but there to compare come last."""
    for row in sorted(prompts, key=lambda row: row["prompt"] in compared):
        name, approved = row["prompt"], row["approved"]
        waits = row["latest"] != approved and row["prompt"] not in compared
        parts = [counted(row["versions"], "version"), f"@{approved} approved" if approved else "none approved yet"]
        if name in compared:
            parts.append("learnt to compare strategies")
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            waiting = f'<span class="cb-badge cb-candidate">@{row["latest"]} waits for review</span>' if waits else ""
            line = "".join(f"<span>{part}</span>" for part in parts)
            st.html(f'<strong>{escape(name)}</strong><div class="cb-line">{line}{waiting}</div>')
            st.button("Review" if waits else "Open", key=f"prompts_open:{name}", on_click=open_prompt, args=(name,))


def open_prompt(prompt: str | None) -> None:
    """Go to a prompt, or (None) to the list of all."""
    address.move(prompt=prompt, version=None, against=None)


def show_prompt(workspace: Workspace, prompt: str, place: dict[str, str], several: bool) -> None:
    """One prompt: its versions in a line, and the chosen one as changes, text and history."""
    versions = {f"{prompt}@{row['version']}": row for row in workspace.versions(prompt)}
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.title(prompt, anchor=False, width="content")
        if several:
            st.button("All prompts", icon=":material/arrow_back:", type="tertiary", on_click=open_prompt, args=(None,))
    version = workspace.version(known(place.get("version"), versions, next(iter(versions))))
    before = workspace.review.before(version)
    reviewed_against = before.name if before else EMPTY
    against = known(place.get("against"), (*versions, EMPTY), reviewed_against)
    choose_versions(versions, version.name, against)
    if said := st.session_state.pop("prompts_said", None):
        st.success(said, icon=":material/check_circle:")
    first = TABS[1] if version.status == "approved" else TABS[0]
    key = f"prompts_tab:{version.name}:{version.status}"
    offers = workspace.review.proposals(version)
    tabs = (TABS[0], f"{OFFERS} ({len(offers):,})", *TABS[1:]) if offers else TABS
    changes, *offered, text, history = st.tabs(tabs, default=first, key=key, on_change="rerun")
    with changes:
        if changes.open:
            compare(workspace, version, versions, against, reviewed_against)
    for tab in offered:
        with tab:
            if tab.open:
                show_offers(workspace, version, offers)
    with text:
        if text.open:
            show_text(workspace, version, next((name for name, row in versions.items() if is_approved(row)), None))
    with history:
        if history.open:
            show_history(versions)


def known(wanted: str | None, there_are: Versions | Sequence[str], default: str) -> str:
    """What the address asks for where it exists, else the default, with a word about it."""
    if wanted is None:
        return default
    if wanted in there_are:
        return wanted
    st.warning(f"There is no version {wanted}: this is {default}.")
    return default


def compare(workspace: Workspace, version: Version, versions: Versions, against: str, reviewed_against: str) -> None:
    """The changes: decided where they are what the version's run has made, otherwise only read."""
    base = None if against == EMPTY else workspace.version(against)
    rows = diff_rows(base.playbook if base else Playbook(), version.playbook)
    deciding = version.status != "approved" and against == reviewed_against
    if deciding and (result := review_of(version, versions)):
        st.caption(f"The review of {version.name} has led to {result}; approving it once more makes another version.")
    elif version.status != "approved" and not deciding:
        start = "the empty playbook" if reviewed_against == EMPTY else reviewed_against
        st.caption(f"The changes of {version.name} are decided against {start}.")
    show_changes(Reading(workspace, version, base, rows), deciding)


def review_of(version: Version, versions: Versions) -> str | None:
    """The approved version that a review has made of a candidate, if any."""
    made = (name for name, row in versions.items() if row["parent"] == version.version and row["iteration"] is None)
    return next((name for name in made if is_approved(versions[name])), None)


main()
