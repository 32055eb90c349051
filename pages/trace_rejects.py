"""Records that could not be read: where each stands, why, how it begins, and all of them as a file."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import orjson
import streamlit as st

from combee_core.workspace import Workspace
from pages.numbers import counted
from pages.retry import show_retry
from pages.trace_html import rejects_html

PAGE_SIZE = 25
VIEW = "view"
"""Name in the address of what the Traces page lists: traces or rejects."""

_OF_IMPORT = "import"
_ALL_FILES = 0
_DOWNLOADED_AT_ONCE = 5_000


def show_view(view: str, import_id: int | None = None) -> None:
    """Go to the traces or the rejects, the latter of one import where it is given."""
    for name in (VIEW, _OF_IMPORT):
        st.query_params.pop(name, None)
    if view == "rejects":
        st.query_params[VIEW] = view
    if import_id is not None:
        st.query_params[_OF_IMPORT] = str(import_id)


def show_rejects(workspace: Workspace) -> None:
    """Draw the list, of one import where the address names it."""
    asked = st.query_params.get(_OF_IMPORT, "")
    import_id = int(asked) if asked.isdecimal() and len(asked) < 10 else None
    key = f"rejects_page_{import_id}"
    page = st.session_state.get(key, 1)
    total, rows = workspace.rejects(PAGE_SIZE, (page - 1) * PAGE_SIZE, import_id)
    files = {row["import_id"]: row for row in workspace.files_with_rejects()}
    if not total:
        st.markdown("Every record so far could be read." if import_id is None else "This import has no rejects.")
        if import_id is not None:
            st.button("Rejects of all imports", type="tertiary", on_click=show_view, args=("rejects",))
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _show_files(files, import_id)
        st.download_button(
            f"Download {counted(total, 'reject')}",
            data=partial(_as_jsonl, workspace, import_id),
            file_name="rejects.jsonl",
            mime="application/jsonl",
            on_click="ignore",
            icon=":material/download:",
        )
        if import_id is not None:
            with st.popover("Retry", icon=":material/refresh:", key="rejects_retry"):
                show_retry(workspace, import_id, files[import_id]["file"])
            if st.button("Forget these", type="tertiary", key="rejects_forget"):
                workspace.drop_rejects(import_id)
                show_view("rejects")
                st.rerun()
    if import_id is None:
        st.caption("Mended a file? Choose it above to read it again.")
    st.html(rejects_html(rows))
    if total > PAGE_SIZE:
        with st.container(horizontal_alignment="right"):
            st.pagination(-(-total // PAGE_SIZE), key=key)


def _show_files(files: Mapping[int, Mapping[str, Any]], import_id: int | None) -> None:
    """The files that have rejects, to look at those of one."""
    st.session_state["rejects_file"] = import_id or _ALL_FILES
    st.selectbox(
        "Of file",
        [_ALL_FILES, *files],
        format_func=lambda number: (
            f"{files[number]['file']} ({files[number]['rejects']:,})" if number in files else "All files"
        ),
        key="rejects_file",
        on_change=lambda: show_view("rejects", st.session_state["rejects_file"] or None),
        width=420,
    )


def _as_jsonl(workspace: Workspace, import_id: int | None) -> bytes:
    return b"".join(_lines(workspace, import_id))


def _lines(workspace: Workspace, import_id: int | None) -> Iterator[bytes]:
    names = ("file", "line", "record", "reason", "excerpt")
    start = 0
    while rows := workspace.rejects(_DOWNLOADED_AT_ONCE, start, import_id)[1]:
        start += len(rows)
        yield from (orjson.dumps({name: row[name] for name in names}, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
