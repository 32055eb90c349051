"""What can be done with many traces at once: learn from them, tag them, delete them, and undo that.

Meant are the rows chosen by hand, else all that the filters leave.
"""

from collections.abc import Sequence

import streamlit as st

from combee_core.store.traces import TraceFilter
from combee_core.workspace import Workspace
from pages import address, importing
from pages.diff_view import visible
from pages.numbers import counted
from pages.run_form import plan_from

CHOSEN = "traces_chosen"
"""Session key of the ids of the rows that are chosen by hand."""

_DELETED = "traces_deleted"
LONGEST_TAG = 60


def show_actions(workspace: Workspace, which: TraceFilter, total: int) -> None:
    """Draw the row of buttons, with the way back from the last deletion at its end."""
    chosen: Sequence[str] = st.session_state.get(CHOSEN, ())
    meant, number = (TraceFilter(ids=tuple(chosen)), len(chosen)) if chosen else (which, total)
    some = which != TraceFilter() or bool(chosen)
    with st.container(horizontal=True, vertical_alignment="center", key="traces_actions"):
        type_ = "secondary" if importing.asks_for_columns() else "primary"
        if st.button(f"Learn from {counted(number, 'trace')}", type=type_, disabled=not number):
            plan_from(meant)
            address.move(run=None)
            st.switch_page("learn.py")
        with st.popover("Tag …", icon=":material/sell:", disabled=not number, key="traces_tagging"):
            _show_tagging(workspace, meant, number)
        label = f"Delete {number:,}" if some else f"Delete all {number:,}"
        if st.button(label, icon=":material/delete:", disabled=not number, key="traces_delete"):
            _delete(workspace, meant)
        if chosen:
            st.caption(f"{len(chosen)} chosen on this page of {counted(total, 'match', 'matches')}", width="content")
        show_undo(workspace)


def show_undo(workspace: Workspace) -> None:
    """The way back from the last deletion of this session."""
    deleted: list[str] = st.session_state.get(_DELETED, [])
    if not deleted:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="traces_undo"):
        st.caption(f"{counted(len(deleted), 'trace')} deleted.", width="content")
        if st.button("Undo", icon=":material/undo:", key="traces_undo_delete"):
            with st.spinner("Bringing them back…"):
                workspace.undelete(TraceFilter(ids=tuple(deleted)))
            del st.session_state[_DELETED]
            st.rerun()


def _show_tagging(workspace: Workspace, meant: TraceFilter, number: int) -> None:
    """A tag to put on or to take off."""
    known = [visible(row["tag"]) for row in workspace.tags()]
    with st.form("traces_tagging_form", border=False, clear_on_submit=True):
        typed = st.text_input(f"Tag for {counted(number, 'trace')}", max_chars=LONGEST_TAG, key="traces_tag_typed")
        if known:
            st.html(f'<div class="cb-why">Tags so far: {", ".join(known)}</div>')
        with st.container(horizontal=True):
            put_on = st.form_submit_button("Put it on")
            take_off = st.form_submit_button("Take it off", type="tertiary", disabled=not known)
    tag = typed.strip()
    if tag and put_on:
        st.toast(f"{counted(workspace.tag(meant, tag), 'trace')} tagged.", icon=":material/check:")
        st.rerun()
    elif tag and take_off:
        number = workspace.tag(meant, tag, remove=True)
        st.toast(f"The tag is off {counted(number, 'trace')}.", icon=":material/check:")
        st.rerun()


def _delete(workspace: Workspace, meant: TraceFilter) -> None:
    with st.spinner("Deleting…"):
        ids = workspace.trace_ids(meant)
        if ids:
            workspace.delete(TraceFilter(ids=tuple(ids)))
            st.session_state[_DELETED] = ids
    st.session_state.pop(CHOSEN, None)
    st.rerun()
