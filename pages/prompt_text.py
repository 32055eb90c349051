"""The exact text of a version, as it is copied, downloaded, and read by agents."""

from functools import partial

import streamlit as st

from combee_core.store.versions import Version
from combee_core.workspace import Workspace

_FORMATS = {"markdown": ("Markdown", "md"), "json": ("JSON", "json"), "ace": ("ACE text", "txt")}
_TALL = 560

LONGEST_SHOWN = 250_000
"""Characters that a browser still shows at once; a prompt of this size has some 1,000 bullets."""


def show_text(workspace: Workspace, version: Version, served: str | None) -> None:
    """Draw text, downloads and the commands; `served` is the version that the prompt's name stands for, if any."""
    text, beside = st.columns([5, 2], gap="large")
    with beside:
        _show_downloads(workspace, version)
        _show_where_read(version, served)
    with text:
        shown = st.segmented_control(
            "Format",
            list(_FORMATS),
            format_func=lambda name: _FORMATS[name][0],
            default="markdown",
            required=True,
            key="prompts_format",
            label_visibility="collapsed",
        )
        exported = workspace.export(version.name, shown or "markdown")
        if len(exported) > LONGEST_SHOWN:
            st.caption(f"Too long to be shown here ({len(exported) / 1e6:.1f} MB): download it.")
        elif exported:
            st.code(exported, language=None, wrap_lines=True, height=_TALL if exported.count("\n") > 20 else "content")
        else:
            st.caption("This version holds no bullets.")


def _show_downloads(workspace: Workspace, version: Version) -> None:
    st.html('<div class="cb-section">Download</div>')
    for name, (label, suffix) in _FORMATS.items():
        st.download_button(
            label,
            data=partial(_exported, workspace, version.name, name),
            file_name=f"{version.prompt}-v{version.version}.{suffix}",
            mime="application/json" if name == "json" else "text/plain; charset=utf-8",
            key=f"prompts_download_{name}",
            on_click="ignore",
            icon=":material/download:",
            width="stretch",
        )


def _exported(workspace: Workspace, version: str, name: str) -> bytes:
    return workspace.export(version, name).encode()


def _show_where_read(version: Version, served: str | None) -> None:
    st.html('<div class="cb-section">Where agents read it</div>')
    if served == version.name:
        said, name = f"The name {version.prompt} alone stands for this version.", version.prompt
    elif served:
        said, name = f"By its full name: {version.prompt} alone stands for {served}.", version.name
    else:
        said, name = f"By its full name: {version.prompt} alone stands for nothing until one is approved.", version.name
    st.html(f'<div class="cb-line">{said}</div>')
    st.code(f"combee export {name}", language=None)
