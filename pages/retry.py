"""Reading a file again after it was mended: from its place on this machine, or from a new upload."""

from pathlib import Path

import streamlit as st

from combee_core.workspace import Workspace
from pages import importing
from pages.import_job import SourceFile


def show_retry(workspace: Workspace, import_id: int, file: str) -> None:
    """Draw both ways. What the file still has to reject takes the place of the rejects of that import."""
    st.markdown("Traces that are known already count as duplicates: only what is new comes in.")
    uploaded = st.file_uploader("Upload the mended file", key=f"rejects_upload_{import_id}", disabled=importing.busy())
    place = Path(file)
    again = place.is_absolute() and place.exists() and st.button("Read it again from its place", key="rejects_again")
    if not uploaded and not again:
        return
    if uploaded:
        importing.begin_uploads(workspace, [uploaded], import_id)
    else:
        importing.begin(workspace, [SourceFile(place, file)], replaces=import_id)
    st.query_params.clear()
    st.rerun()
