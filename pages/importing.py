"""Bringing traces in: uploads, a path on this machine, the samples; and the progress while files are read.

The import itself is an ImportJob; it lives in the session, so that it and its receipts outlast a visit to another page.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import streamlit as st
from streamlit.typing import UploadedFile

from combee_core.workspace import FileReport, Workspace
from pages.import_job import ImportJob, SourceFile
from pages.numbers import counted

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


def begin(
    workspace: Workspace,
    files: Sequence[SourceFile],
    spool: TemporaryDirectory[str] | None = None,
    replaces: int | None = None,
) -> None:
    """Start to read files in the background. `replaces` is an import whose rejects they take the place of."""
    put_away()
    st.session_state[_JOB] = ImportJob(workspace, files, spool, replaces)


def read_again(job: ImportJob, source: SourceFile) -> None:
    """Read one file of an import anew, in the background."""
    st.session_state.pop(_RECEIPTS, None)
    st.session_state[_JOB] = job
    job.read_again(source)


def show_sources(workspace: Workspace) -> None:
    """The drop zone, the path field and the samples."""
    drop, path = st.columns([1, 1], gap="medium")
    with drop:
        uploaded = st.file_uploader(
            "Trace files",
            accept_multiple_files=True,
            key=f"traces_upload_{st.session_state.setdefault(_ROUND, 0)}",
            help="Files of any format that Combee reads, and zip or tar archives of them; the format is recognised by "
            "content. Files of one run go in together. Up to 200 MB a file; larger ones by their path.",
            disabled=busy(),
        )
    form = path.form("traces_path_form", border=False, clear_on_submit=True)
    with form, st.container(horizontal=True, vertical_alignment="bottom"):
        typed = st.text_input(
            "Path on this machine",
            placeholder="/data/runs.jsonl",
            help="A file, an archive or a folder, of any size: it is read in place.",
        )
        read = st.form_submit_button("Import", disabled=busy())
        sample = st.form_submit_button("Import samples", type="tertiary", disabled=busy() or not samples())
    if uploaded:
        begin_uploads(workspace, uploaded)
        st.session_state[_ROUND] += 1
        st.rerun()
    elif sample:
        begin(workspace, samples())
    elif read and typed.strip():
        path = Path(typed.strip().strip("\"'")).expanduser()
        begin(workspace, [SourceFile(path, str(path))])


def begin_uploads(workspace: Workspace, uploaded: Sequence[UploadedFile], replaces: int | None = None) -> None:
    """Copy uploads to disk and let the widget go: it holds them in memory, a second time at each rerun."""
    spool = TemporaryDirectory(prefix="combee-upload-", ignore_cleanup_errors=True)
    files = []
    for number, upload in enumerate(uploaded):
        copy = Path(spool.name) / str(number)
        with copy.open("wb") as target:
            shutil.copyfileobj(upload, target)
        files.append(SourceFile(copy, upload.name))
    begin(workspace, files, spool, replaces)


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
        st.status(f"Reading file {max(1, job.begun):,}: {job.records:,} records so far")


def last_import() -> ImportJob | None:
    """The import that has ended last in this session, until its receipts are put away."""
    return st.session_state.get(_RECEIPTS)


def asks_for_columns() -> bool:
    """Whether a table of the last import waits for its columns to be named: that is what to do next."""
    job = last_import()
    return job is not None and any(table.format is None for table in job.tables())


def put_away() -> None:
    """Forget the receipts of the last import, and the copies that it may still hold."""
    job: ImportJob | None = st.session_state.pop(_RECEIPTS, None)
    if job is not None:
        job.let_go()


def in_one_line(reports: Sequence[FileReport]) -> str:
    """ "7 new traces, 2 duplicates from 3 files"; files that hold no traces by their nature are not counted."""
    parts = [counted(sum(file.new for file in reports), "new trace")]
    duplicates, rejected = sum(file.duplicates for file in reports), sum(file.rejected for file in reports)
    if duplicates:
        parts.append(counted(duplicates, "duplicate"))
    if rejected:
        parts.append(f"{rejected:,} rejected")
    read = sum(file.skipped is None for file in reports)
    return f"{', '.join(parts)} from {counted(read, 'file')}"
