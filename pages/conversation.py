"""One trace as a conversation: who said what, tools with their arguments and answers, long text folded, errors marked.

All text of a trace is drawn as plain text or as code, never as Markdown or HTML.
"""

import json
from collections.abc import Callable, Mapping

import orjson
import streamlit as st

from combee_core.trace import Message, ToolCall, ToolResult, Trace
from pages.diff_view import visible
from pages.folding import MOST_SHOWN, fold

PAGE_SIZE = 30
ONE_LINE = 100
"""Characters of tool arguments that are not laid out over several lines."""

_SPEAKERS = {
    "system": ("System", ":material/settings:"),
    "user": ("User", ":material/person:"),
    "assistant": ("Agent", ":material/smart_toy:"),
    "tool": ("Tool", ":material/build:"),
}


@st.fragment
def show_conversation(trace_id: str, trace: Trace) -> None:
    """Draw the messages, a page at a time when there are many."""
    pages = -(-len(trace.messages) // PAGE_SIZE)
    place = st.container(gap="xxsmall")
    page = 1
    if pages > 1:
        with st.container(horizontal_alignment="center"):
            page = st.pagination(pages, key=f"messages_{trace_id}")
    first = (page - 1) * PAGE_SIZE
    tools = {call.id: call.name for message in trace.messages for call in message.tool_calls if call.id}
    with place:
        for number, message in enumerate(trace.messages[first : first + PAGE_SIZE], first + 1):
            _show_message(f"{trace_id}.{number}", number, message, tools)


def prose(text: str) -> None:
    """Draw plain text as it is, with hidden characters shown by their code."""
    st.html(f'<div class="cb-prose" dir="auto">{visible(text)}</div>')


def show_text(key: str, text: str, draw: Callable[[str], object] = prose) -> None:
    """Draw a text of any length: a long one by its beginning and end, with a button for the whole."""
    folded = fold(text)
    if folded is None:
        draw(text)
        return
    opened = f"open_{key}"
    if st.session_state.get(opened):
        draw(text[:MOST_SHOWN])
        if len(text) > MOST_SHOWN:
            st.caption(f"The first {MOST_SHOWN:,} of {len(text):,} characters; the downloaded trace has them all.")
        st.button(
            "Fold", key=f"fold_{key}", type="tertiary", icon=":material/unfold_less:", on_click=_toggle, args=(opened,)
        )
        return
    draw(f"{folded.head}\n⋯\n{folded.tail}")
    st.button(
        f"Show all {folded.size}",
        key=f"unfold_{key}",
        type="tertiary",
        icon=":material/unfold_more:",
        on_click=_toggle,
        args=(opened,),
    )


def _toggle(key: str) -> None:
    st.session_state[key] = not st.session_state.get(key, False)


def _show_message(key: str, number: int, message: Message, tools: Mapping[str, str]) -> None:
    """`tools` gives the name of the tool that a call's id stands for: not every file repeats it with the result."""
    label, icon = _SPEAKERS[message.role]
    with st.chat_message(message.role, avatar=icon), st.container(gap="xsmall"):
        st.html(f'<div class="cb-speaker">{label}<span>{number}</span></div>')
        if message.reasoning:
            with st.expander("Reasoning", type="compact"):
                show_text(f"{key}.reasoning", message.reasoning)
        if message.text:
            show_text(f"{key}.text", message.text)
        for place, call in enumerate(message.tool_calls):
            _show_call(f"{key}.call{place}", call)
        for place, result in enumerate(message.tool_results):
            _show_result(f"{key}.result{place}", result, result.name or tools.get(result.call_id, ""))
        if not (message.text or message.reasoning or message.tool_calls or message.tool_results):
            st.caption("No text")


def _show_call(key: str, call: ToolCall) -> None:
    st.html(f'<div class="cb-call">Calls <code>{visible(call.name)}</code></div>')
    text, language = _as_code(call.arguments)
    if text:
        show_text(key, text, lambda shown: st.code(shown, language=language, wrap_lines=True))


def _show_result(key: str, result: ToolResult, tool: str) -> None:
    name = f" of <code>{visible(tool)}</code>" if tool else ""
    if result.error:
        st.html(f'<div class="cb-call cb-error">✕ Error{name}</div>')
    else:
        st.html(f'<div class="cb-call">Result{name}</div>')
    show_text(key, result.text or "(empty)", lambda shown: st.code(shown, language=None, wrap_lines=True))


def _as_code(arguments: str) -> tuple[str, str | None]:
    """Arguments laid out over lines where they are JSON, and the language to colour them in."""
    try:
        value = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return arguments, None
    if isinstance(value, dict) and len(value) == 1 and isinstance(next(iter(value.values())), str):
        name, text = next(iter(value.items()))
        return (text, None) if "\n" in text else (f"{name}: {text}", None)
    short = json.dumps(value, ensure_ascii=False)
    return (short if len(short) <= ONE_LINE else orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()), "json"
