"""The filters of the list of traces, in one row; they and the page are in the address, so that a link can be sent.

Menu links drop the address, so the session remembers the last one.
"""

import math

import streamlit as st

from combee_core.store.traces import TraceFilter
from combee_core.workspace import Workspace

ANY = "any"
OUTCOMES = {"success": "✓ success", "failure": "✕ failure", "unknown": "– unknown"}

_SCORES = ("min_score", "max_score")
_NAMES = ("format", "outcome", "text", "tag", *_SCORES, "page")
_MEMORY = "traces_place"


def show_filters(workspace: Workspace) -> TraceFilter:
    """Draw the row and give what it says."""
    place = _place()
    formats, tags = workspace.trace_formats(), [row["tag"] for row in workspace.tags()]
    for name, known in (("format", formats), ("outcome", list(OUTCOMES)), ("tag", tags)):
        st.session_state[f"traces_{name}"] = place[name] if place.get(name) in known else ANY
    st.session_state["traces_text"] = place.get("text", "")
    for name in _SCORES:
        st.session_state[f"traces_{name}"] = _number(place.get(name, ""))
    format_ = _one_of("Format", "format", formats)
    outcome = st.segmented_control(
        "Outcome",
        [ANY, *OUTCOMES],
        required=True,
        format_func=lambda name: OUTCOMES.get(name, name),
        key="traces_outcome",
        on_change=_changed,
        args=("outcome",),
    )
    least, most = _score("Score from", "min_score"), _score("to", "max_score")
    tag = _one_of("Tag", "tag", tags) if tags else None
    text = st.text_input(
        "Text",
        key="traces_text",
        type="search",
        placeholder="In task, messages or feedback",
        on_change=_changed,
        args=("text",),
    )
    return TraceFilter(
        format=format_,
        outcome=None if outcome == ANY else outcome,
        text=text.strip(),
        tag=tag,
        min_score=least,
        max_score=most,
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


def _one_of(label: str, name: str, options: list[str]) -> str | None:
    chosen = st.selectbox(label, [ANY, *options], key=f"traces_{name}", on_change=_changed, args=(name,), width=160)
    return None if chosen == ANY else chosen


def _score(label: str, name: str) -> float | None:
    return st.number_input(
        label,
        key=f"traces_{name}",
        placeholder="any",
        step=0.1,
        format="%g",
        on_change=_changed,
        args=(name,),
        width=110,
        value=None,
    )


def _number(text: str) -> float | None:
    """What an address gives as a score; None for what is no number."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _place() -> dict[str, str]:
    """What the address says, or said when this page was shown last."""
    given = {name: st.query_params[name] for name in _NAMES if name in st.query_params}
    if not given:
        given = st.session_state.get(_MEMORY, {})
        st.query_params.update(given)
    st.session_state[_MEMORY] = given
    return given


def _changed(name: str) -> None:
    value = st.session_state[f"traces_{name}"]
    text = f"{value:g}" if isinstance(value, float) else value or ""
    _remember(name, "" if text == ANY else text)
    _remember("page", "")


def _remember(name: str, value: str) -> None:
    memory = st.session_state.setdefault(_MEMORY, {})
    memory.pop(name, None)
    st.query_params.pop(name, None)
    if value:
        memory[name] = st.query_params[name] = value
