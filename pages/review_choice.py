"""One thing to decide: what it is, the answers beside it, and an editor for a text of the reviewer's own."""

from collections.abc import Mapping

import streamlit as st

from pages.diff_view import diff_html
from pages.review_desk import Desk


def show_choice(desk: Desk, name: str, shown: str, choices: Mapping[str, str], start: str) -> None:
    """Draw `shown` (HTML) and the control; `choices` gives the label of each answer, an edit begins with `start`."""
    decision, editing = desk.decisions.get(name), name in desk.open_edits
    text, control = st.columns([4, 1.4])
    text.html(shown)
    with control:
        key = f"prompts_choice:{desk.version.name}:{name}"
        st.session_state[key] = "edit" if editing else decision and decision.choice
        st.segmented_control(
            f"Decision on {name}",
            list(choices),
            format_func=choices.__getitem__,
            key=key,
            required=True,
            label_visibility="collapsed",
            on_change=desk.choose,
            args=(name, key),
        )
    if editing:
        _show_editor(desk, name, decision.content if decision and decision.content else start)
    elif decision and decision.choice == "edit":
        edited = diff_html(start, decision.content or "")
        text.html(f'<div class="cb-head">Your edit</div><div class="cb-text" dir="auto">{edited}</div>')
        control.button(
            "Change the edit", key=f"prompts_reopen:{name}", type="tertiary", on_click=desk.reopen, args=(name,)
        )


def _show_editor(desk: Desk, name: str, start: str) -> None:
    key = f"prompts_edit:{desk.version.name}:{name}"
    with st.form(f"form:{key}", border=False):
        st.text_area(f"New text of {name}", start, key=key, height="content")
        with st.container(horizontal=True):
            st.form_submit_button("Save edit", on_click=desk.save_edit, args=(name, key))
            st.form_submit_button("Cancel", type="tertiary", on_click=desk.close_edit, args=(name,))
