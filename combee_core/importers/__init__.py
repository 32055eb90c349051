"""Files to traces: every format behind one door. It opens files and knows formats; it stores nothing."""

from collections.abc import Iterator
from pathlib import Path

from combee_core.errors import CombeeError
from combee_core.importers.base import Context, Importer, Record, RecordError, Reject
from combee_core.importers.blob import file_blob
from combee_core.importers.reading import FileReading
from combee_core.importers.registry import FORMATS

__all__ = ["FORMATS", "Context", "FileReading", "Importer", "Record", "RecordError", "Reject", "read_path"]


def read_path(path: Path, name: str | None = None, format: str | None = None) -> Iterator[FileReading]:
    """Read a file; what cannot be read is said in the reading, so that other files go on.

    `name` is the name to show for it, `format` the format to take instead of recognising one. Raises CombeeError for a
    format that does not exist.
    """
    if format is not None and format not in FORMATS:
        raise CombeeError(f"There is no format {format}: choose one of {', '.join(FORMATS)}.")
    yield FileReading(file_blob(path, name), FORMATS[format] if format else None)
