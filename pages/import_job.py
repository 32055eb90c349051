"""An import on a thread of its own: it goes on when its page is left or another button is pressed.

Holds what has been read so far; knows no Streamlit.
"""

import logging
import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from combee_core.errors import CombeeError
from combee_core.workspace import FileReport, ImportCounts, Workspace

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SourceFile:
    """A file to read, under the name that people know it by."""

    path: Path
    name: str


class ImportJob:
    """Reads `files`, at least one, one after the other. `spool` is a folder of copies to remove at the end.

    `current` is the file being read, `reports` what became of those before it, `problem` why the import broke off.
    """

    def __init__(self, workspace: Workspace, files: Sequence[SourceFile], spool: Path | None = None) -> None:
        self.files = tuple(files)
        self.reports: list[FileReport] = []
        self.problem = ""
        self.current = self.files[0]
        self._workspace, self._spool = workspace, spool
        self._counts: list[ImportCounts] = []
        self._thread = threading.Thread(target=self._work, name="combee-import", daemon=True)
        self._thread.start()

    @property
    def done(self) -> bool:
        """Whether nothing more will come."""
        return not self._thread.is_alive()

    @property
    def records(self) -> int:
        """Records read so far, of all files."""
        return sum(counts.new + counts.duplicates + counts.rejected for counts in self._counts)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end; False when it still reads after so many seconds."""
        self._thread.join(seconds)
        return self.done

    def _work(self) -> None:
        try:
            for file in self.files:
                self.current = file
                names = {file.path: file.name}
                self.reports += self._workspace.import_paths([file.path], names=names, watch=self._counts.append).files
        except CombeeError as problem:
            self.problem = str(problem)
        except Exception as error:
            log.exception("an import broke")
            self.problem = f"Combee itself broke on this import ({type(error).__name__}: {error}). See the log."
        finally:
            if self._spool is not None:
                shutil.rmtree(self._spool, ignore_errors=True)
