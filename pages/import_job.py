"""An import on a thread of its own: it goes on when its page is left or another button is pressed.

Holds what has been read so far; knows no Streamlit.
"""

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from combee_core.errors import CombeeError
from combee_core.workspace import FileReport, ImportCounts, Workspace

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SourceFile:
    """A file to read, under the name that people know it by."""

    path: Path
    name: str


class ImportJob:
    """Reads `files`, at least one, together: a run may be spread over several of them.

    `spool` holds copies that are to be removed: at the end, or by `let_go` where tables wait for their columns to be
    named, at the latest with the job itself. `reports` says what became of each file, those in archives and folders
    too; `problem` why the import broke off. `replaces` is an import whose rejects these files take the place of.
    """

    def __init__(
        self,
        workspace: Workspace,
        files: Sequence[SourceFile],
        spool: TemporaryDirectory[str] | None = None,
        replaces: int | None = None,
    ) -> None:
        self.files = tuple(files)
        self.reports: list[FileReport] = []
        self.problem = ""
        self._workspace, self._spool, self._replaces = workspace, spool, replaces
        self._counts: list[ImportCounts]
        self._thread: threading.Thread
        self._start(self.files)

    @property
    def done(self) -> bool:
        """Whether nothing more will come."""
        return not self._thread.is_alive()

    @property
    def begun(self) -> int:
        """Files that have been read or are being read."""
        return len(self._counts)

    @property
    def records(self) -> int:
        """Records read so far, of all files."""
        return sum(counts.new + counts.duplicates + counts.rejected for counts in self._counts)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end; False when it still reads after so many seconds."""
        self._thread.join(seconds)
        return self.done

    def tables(self) -> list[FileReport]:
        """Tables whose columns somebody has to name, or had named before."""
        return [report for report in self.reports if report.columns]

    def source_of(self, report: FileReport) -> SourceFile:
        """The given file that a report is about, or in which its file lies; of a folder, the file in it."""
        given = max((file for file in self.files if report.path.startswith(file.name)), key=lambda file: len(file.name))
        if not given.path.is_dir():
            return given
        place = report.path[len(given.name) :].partition("!")[0].strip("/")
        return SourceFile(given.path / place, report.path.partition("!")[0])

    def read_again(self, source: SourceFile) -> None:
        """Read one file anew; what became of the others stays as it was."""
        self.reports = [report for report in self.reports if self.source_of(report) != source]
        self._start([source])

    def let_go(self) -> None:
        """Remove the copies."""
        if self._spool is not None:
            self._spool.cleanup()

    def _start(self, files: Sequence[SourceFile]) -> None:
        self._counts = []
        self._thread = threading.Thread(target=self._work, args=(files,), name="combee-import", daemon=True)
        self._thread.start()

    def _work(self, files: Sequence[SourceFile]) -> None:
        names = {file.path: file.name for file in files}
        try:
            found = self._workspace.import_paths(
                list(names), names=names, watch=self._counts.append, replaces=self._replaces
            )
            self.reports = [*self.reports, *found.files]
        except CombeeError as problem:
            self.problem = str(problem)
        except Exception as error:
            log.exception("an import broke")
            self.problem = f"Combee itself broke on this import ({type(error).__name__}: {error}). See the log."
        finally:
            if not self.tables():
                self.let_go()
