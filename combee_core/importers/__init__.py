"""Files to traces: every format behind one door. It opens files and knows formats; it stores nothing."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from combee_core.errors import CombeeError
from combee_core.importers.base import Context, Importer, Record, RecordError, Reject
from combee_core.importers.chosen import table_of
from combee_core.importers.layouts import LAYOUTS
from combee_core.importers.mapping import FIELDS, checked, guess_mapping, parse_mapping
from combee_core.importers.places import Collection, collections_in
from combee_core.importers.reading import BlobReading, FileReading, RunReading, SkippedReading, read_blob
from combee_core.importers.registry import FORMATS
from combee_core.importers.runs import Files, find_runs

__all__ = [
    "FIELDS",
    "FORMATS",
    "LAYOUTS",
    "Context",
    "FileReading",
    "Importer",
    "Record",
    "RecordError",
    "Reject",
    "guess_mapping",
    "parse_mapping",
    "read_path",
    "read_paths",
]


def read_path(
    path: Path, name: str | None = None, format: str | None = None, mapping: Mapping[str, str] | None = None
) -> Iterator[FileReading]:
    """Read a file, a folder or an archive: see `read_paths`. `name` is the name to show for it."""
    return read_paths([path], {path: name} if name else {}, format, mapping)


def read_paths(
    paths: Sequence[Path],
    names: Mapping[Path, str] | None = None,
    format: str | None = None,
    mapping: Mapping[str, str] | None = None,
) -> Iterator[FileReading]:
    """Read files, folders and archives: one reading for each file in them, in the order of their names.

    Runs that are spread over several files are put together first; their parts are readings that are skipped. What
    cannot be read is said in its reading, so that other files go on. `names` gives names to show for paths, `format`
    the format to take instead of recognising one, `mapping` which column of a table is which field (see `mapping`).
    Raises CombeeError for a format or a field that does not exist.
    """
    if format is not None and format not in FORMATS and format not in LAYOUTS:
        raise CombeeError(f"There is no format {format}: choose one of {', '.join([*FORMATS, *LAYOUTS])}.")
    mapping = checked(mapping) if mapping else None
    for collection in collections_in(paths, names or {}):
        yield from _read_collection(collection, format, mapping)


def _read_collection(
    collection: Collection, format: str | None, mapping: Mapping[str, str] | None
) -> Iterator[FileReading]:
    layouts = {name: layout for name, layout in LAYOUTS.items() if format in (None, name)}
    runs, parts = find_runs(Files(collection.blobs, collection.chosen), layouts)
    by_main = {run.main.path: run for run in runs}
    for blob in collection.blobs:
        run = None if blob.problem else by_main.pop(blob.path, None)
        if run is not None:
            yield RunReading(run.main, run.format, run.reason, run.read())
        elif blob.path in parts:
            yield SkippedReading(blob, parts[blob.path], is_part=True)
        else:
            chosen = table_of(blob, mapping) if mapping else None
            yield _passed_over(read_blob(blob, FORMATS.get(format or ""), chosen), collection)


def _passed_over(reading: BlobReading, collection: Collection) -> FileReading:
    """Files that merely lie beside others and hold no traces are no errors, unless something is wrong with them."""
    if reading.refusal and not reading.is_faulty and not collection.chosen:
        passed_over = SkippedReading(reading.blob, f"It holds no traces: {reading.looks}.")
        passed_over.columns = reading.columns
        return passed_over
    return reading
