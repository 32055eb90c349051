"""The field for an endpoint's key: it stays in this browser session, as that of Settings does, and is never stored."""

import os

import streamlit as st

from pages.endpoint_form import API_KEY


def session_key() -> str | None:
    """The key typed in this session; None leaves it to the environment."""
    return st.session_state.get(API_KEY) or None


def ask_key(again: bool = False) -> None:
    """Draw the field unless there is a key already; `again` draws it also beside one that may be wrong."""
    if os.environ.get("OPENAI_API_KEY") or (session_key() and not again):
        return

    def typed() -> None:
        st.session_state[API_KEY] = st.session_state["learn_key"]

    st.text_input(
        "Key for this session",
        type="password",
        key="learn_key",
        on_change=typed,
        placeholder="Only if the endpoint asks for one",
        help="Kept in this browser session only, never stored.",
        width=420,
    )
