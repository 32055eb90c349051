"""Bringing traces in: uploads, a path on this machine, the samples; progress while files are read, a receipt after.

The import itself is an ImportJob; it lives in the session, so that it and its receipts outlast a visit to another page.
"""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from streamlit.typing import UploadedFile

from combee_core.workspace import FileReport, Workspace
from pages.diff_view import visible
from pages.import_job import ImportJob, SourceFile
from pages.numbers import counted
from pages.trace_html import receipts_html
from pages.trace_rejects import show_view

SAMPLES = Path(__file__).resolve().parents[1] / "sample_data"
QUICK = 1.0
"""Seconds that a page waits for an import before it shows the progress: most end within them, and nothing flickers."""

_JOB = "import_job"
_RECEIPTS = "import_receipts"
_ROUND = "import_round"


def samples() -> list[SourceFile]:
    """The sample files that come with Combee."""
    return [SourceFile(path, path.name) for path in sorted(SAMPLES.glob("*.jsonl"))]


def busy() -> bool:
    """Whether an import of this session goes on."""
    return _JOB in st.session_state


def begin(workspace: Workspace, files: Sequence[SourceFile], spool: Path | None = None) -> None:
    """Start to read files in the background."""
    st.session_state[_JOB] = ImportJob(workspace, files, spool)
    st.session_state.pop(_RECEIPTS, None)


def show_sources(workspace: Workspace) -> None:
    """The drop zone, the path field and the samples."""
    drop, path = st.columns([1, 1], gap="medium")
    with drop:
        uploaded = st.file_uploader(
            "Trace files",
            accept_multiple_files=True,
            key=f"traces_upload_{st.session_state.setdefault(_ROUND, 0)}",
            help="Chat messages, ACE question files or ATIF trajectories, as JSON or JSONL; the format is recognised "
            "by content. Up to 200 MB a file; larger ones by their path.",
            disabled=busy(),
        )
    form = path.form("traces_path_form", border=False, clear_on_submit=True)
    with form, st.container(horizontal=True, vertical_alignment="bottom"):
        typed = st.text_input(
            "Path on this machine",
            placeholder="/data/runs.jsonl",
            help="For files over 200 MB: they are read in place.",
        )
        read = st.form_submit_button("Import", disabled=busy())
        sample = st.form_submit_button("Import samples", type="tertiary", disabled=busy() or not samples())
    if uploaded:
        _begin_uploads(workspace, uploaded)
    elif sample:
        begin(workspace, samples())
    elif read and typed.strip():
        path = Path(typed.strip().strip("\"'")).expanduser()
        begin(workspace, [SourceFile(path, str(path))])


def _begin_uploads(workspace: Workspace, uploaded: Sequence[UploadedFile]) -> None:
    """Copy uploads to disk and let the widget go: it holds them in memory, a second time at each rerun."""
    spool = Path(tempfile.mkdtemp(prefix="combee-upload-"))
    files = []
    for number, upload in enumerate(uploaded):
        copy = spool / str(number)
        with copy.open("wb") as target:
            shutil.copyfileobj(upload, target)
        files.append(SourceFile(copy, upload.name))
    begin(workspace, files, spool)
    st.session_state[_ROUND] += 1
    st.rerun()


def follow() -> bool:
    """Show the import that is going on, if any; True when one has just ended."""
    job: ImportJob | None = st.session_state.get(_JOB)
    if job is None:
        return False
    if not job.done:
        with st.spinner("Reading…"):
            job.wait(QUICK)
    if not job.done:
        _show_progress()
        return False
    del st.session_state[_JOB]
    st.session_state[_RECEIPTS] = job
    return True


@st.fragment(run_every=0.5)
def _show_progress() -> None:
    job: ImportJob | None = st.session_state.get(_JOB)
    if job is None or job.done:
        st.rerun()
    else:
        at = job.files.index(job.current) + 1
        st.status(f"Reading file {at} of {len(job.files)}: {job.records:,} records so far")


def last_import() -> ImportJob | None:
    """The import that has ended last in this session, until its receipts are put away."""
    return st.session_state.get(_RECEIPTS)


def show_receipts() -> None:
    """What became of each file of the last import."""
    job = last_import()
    if job is None:
        return
    with st.container(border=True, key="traces_receipts"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{in_one_line(job.reports)}**")
            if any(file.rejected for file in job.reports):
                st.button("Show rejects", key="receipts_rejects", on_click=_show_rejects, args=(job.reports,))
            st.button("Put away", type="tertiary", key="receipts_close", on_click=_put_away)
        if job.problem:
            st.html(f'<div class="cb-why">✕ The import broke off: {visible(job.problem)}</div>')
        elif not job.reports:
            st.html(
                f'<div class="cb-why">✕ {visible(job.files[0].name)} holds no files: there is nothing to read.</div>'
            )
        st.html(receipts_html(sorted(job.reports, key=lambda file: (file.format is not None, not file.rejected))))


def _show_rejects(reports: Sequence[FileReport]) -> None:
    """Rejects of the one file that has any, else of all imports: the newest come first there."""
    numbers = [file.import_id for file in reports if file.rejected]
    show_view("rejects", numbers[0] if len(numbers) == 1 else None)
    _put_away()


def _put_away() -> None:
    st.session_state.pop(_RECEIPTS, None)


def in_one_line(reports: Sequence[FileReport]) -> str:
    parts = [counted(sum(file.new for file in reports), "new trace")]
    duplicates, rejected = sum(file.duplicates for file in reports), sum(file.rejected for file in reports)
    if duplicates:
        parts.append(counted(duplicates, "duplicate"))
    if rejected:
        parts.append(f"{rejected:,} rejected")
    return f"{', '.join(parts)} from {counted(len(reports), 'file')}"
