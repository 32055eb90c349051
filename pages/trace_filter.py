"""The filters of the list of traces, in one row; they and the page are in the address, so that a link can be sent.

Menu links drop the address, so the session remembers the last one.
"""

import streamlit as st

from combee_core.store.traces import TraceFilter
from combee_core.workspace import Workspace

ANY = "any"
OUTCOMES = {"success": "✓ success", "failure": "✕ failure", "unknown": "– unknown"}

_NAMES = ("format", "outcome", "text", "page")
_MEMORY = "traces_place"


def show_filters(workspace: Workspace) -> TraceFilter:
    """Draw the row and give what it says."""
    place = _place()
    formats = workspace.trace_formats()
    for name, known in (("format", formats), ("outcome", list(OUTCOMES))):
        st.session_state[f"traces_{name}"] = place[name] if place.get(name) in known else ANY
    st.session_state["traces_text"] = place.get("text", "")
    format_ = st.selectbox(
        "Format", [ANY, *formats], key="traces_format", on_change=_changed, args=("format",), width=180
    )
    outcome = st.segmented_control(
        "Outcome",
        [ANY, *OUTCOMES],
        required=True,
        format_func=lambda name: OUTCOMES.get(name, name),
        key="traces_outcome",
        on_change=_changed,
        args=("outcome",),
    )
    text = st.text_input(
        "Text",
        key="traces_text",
        type="search",
        placeholder="In task, messages or feedback",
        on_change=_changed,
        args=("text",),
    )
    return TraceFilter(
        format=None if format_ == ANY else format_, outcome=None if outcome == ANY else outcome, text=text.strip()
    )


def asked_page() -> int:
    """The page that the address asks for, from 1."""
    page = st.query_params.get("page", "")
    return max(1, int(page)) if page.isdecimal() and len(page) < 9 else 1


def go_to_page(page: int) -> None:
    """Put a page into the address."""
    _remember("page", str(page) if page > 1 else "")


def clear_filters() -> None:
    """Show all traces again."""
    for name in _NAMES:
        _remember(name, "")


def _place() -> dict[str, str]:
    """What the address says, or said when this page was shown last."""
    given = {name: st.query_params[name] for name in _NAMES if name in st.query_params}
    if not given:
        given = st.session_state.get(_MEMORY, {})
        st.query_params.update(given)
    st.session_state[_MEMORY] = given
    return given


def _changed(name: str) -> None:
    value = st.session_state[f"traces_{name}"] or ""
    _remember(name, "" if value == ANY else value)
    _remember("page", "")


def _remember(name: str, value: str) -> None:
    memory = st.session_state.setdefault(_MEMORY, {})
    memory.pop(name, None)
    st.query_params.pop(name, None)
    if value:
        memory[name] = st.query_params[name] = value
