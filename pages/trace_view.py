"""One trace: task, outcome, feedback and reference, what was learnt from it, then the conversation."""

from collections.abc import Callable

import orjson
import streamlit as st

from combee_core.errors import CombeeError
from combee_core.trace import Trace
from combee_core.workspace import Workspace
from pages.conversation import prose, show_conversation, show_text
from pages.diff_view import visible
from pages.numbers import counted
from pages.trace_html import facts_html, lessons_html
from pages.trace_table import NEIGHBOURS

SHORT_TASK = 300
"""Characters up to which the task serves as the heading of its trace."""


def show_trace(workspace: Workspace, trace_id: str) -> None:
    """Draw the trace of that id, or one sentence when there is none."""
    _show_way_back(trace_id)
    try:
        trace = workspace.trace(trace_id)
    except CombeeError:
        st.html(f"There is no trace <code>{visible(trace_id[:100])}</code> here: it may belong to another data folder.")
        return
    if len(trace.task) <= SHORT_TASK:
        st.html(f'<div class="cb-task" dir="auto">{visible(trace.task)}</div>')
    else:
        _labelled("Task", f"{trace_id}.task", trace.task)
    st.html(facts_html(trace, workspace.tags_of(trace_id)))
    _show_verdict(trace_id, trace)
    _show_lessons(workspace, trace_id)
    st.subheader("Conversation", anchor=False)
    show_conversation(trace_id, trace)
    _show_source(workspace, trace_id, trace)
    _show_rest(trace_id, trace)


def _show_way_back(trace_id: str) -> None:
    page: list[str] = st.session_state.get(NEIGHBOURS, [])
    at = page.index(trace_id) if trace_id in page else None
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("All traces", icon=":material/arrow_back:", on_click=_go, args=(None,))
        if at is not None:
            _step("Previous", ":material/chevron_left:", page[at - 1] if at else None)
            _step("Next", ":material/chevron_right:", page[at + 1] if at + 1 < len(page) else None)


def _step(label: str, icon: str, to: str | None) -> None:
    st.button(label, icon=icon, type="tertiary", disabled=to is None, on_click=_go, args=(to,))


def _go(trace_id: str | None) -> None:
    if trace_id is None:
        st.query_params.pop("trace", None)
    else:
        st.query_params["trace"] = trace_id


def _labelled(label: str, key: str, text: str, draw: Callable[[str], object] = prose) -> None:
    with st.container(gap="xxsmall"):
        st.html(f'<div class="cb-label">{label}</div>')
        show_text(key, text, draw)


def _show_verdict(trace_id: str, trace: Trace) -> None:
    """Feedback and reference side by side, where there are any."""
    parts = [(label, text) for label, text in (("Feedback", trace.feedback), ("Reference", trace.reference)) if text]
    if not parts:
        return
    for column, (label, text) in zip(st.columns(len(parts)), parts, strict=True):
        with column.container(border=True, height="stretch"):
            _labelled(label, f"{trace_id}.{label}", text)


def _show_lessons(workspace: Workspace, trace_id: str) -> None:
    lessons = workspace.lessons_of(trace_id)
    if not lessons:
        return
    with st.expander(f"{counted(len(lessons), 'lesson')} learnt from this trace", expanded=len(lessons) <= 4):
        st.html(lessons_html(lessons))


def _show_source(workspace: Workspace, trace_id: str, trace: Trace) -> None:
    """The line that the trace was read from, as it stands in the file; it is looked up only when it is asked for."""
    if trace.source.line is None or trace.source.member:
        return
    if not st.toggle("Show the source line", key=f"traces_source:{trace_id}"):
        return
    try:
        line = workspace.source_line(trace_id)
    except CombeeError as error:
        st.html(f'<div class="cb-why">✕ {visible(str(error))}</div>')
        return
    st.caption("The copy that was kept of the file has no such line." if line is None else str(trace.source))
    if line is not None:
        st.code(line, language=None, wrap_lines=True, height=240)


def _show_rest(trace_id: str, trace: Trace) -> None:
    """What no other field holds, and the whole trace as a file."""
    with st.container(horizontal=True):
        st.download_button(
            "Download this trace",
            data=lambda: orjson.dumps(trace.model_dump(mode="json"), option=orjson.OPT_INDENT_2),
            file_name=f"{trace_id}.json",
            mime="application/json",
            on_click="ignore",
            icon=":material/download:",
        )
    if trace.metadata:
        with st.expander("Metadata"):
            text = orjson.dumps(trace.metadata, option=orjson.OPT_INDENT_2, default=str).decode()
            show_text(f"{trace_id}.metadata", text, lambda shown: st.code(shown, language="json", wrap_lines=True))
