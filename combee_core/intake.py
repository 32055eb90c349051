"""Bringing files in: reading, storing in batches, keeping the original, and remembering how a table was mapped."""

import gc
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from combee_core.importers import FileReading, read_paths
from combee_core.importers.chosen import table_of
from combee_core.importers.mapping import checked
from combee_core.importers.places import files_below, shown_name
from combee_core.importers.reading import BlobReading, read_blob
from combee_core.store.database import Database, Row
from combee_core.store.frames import Packed
from combee_core.store.gatherings import Gathering, Gatherings, KeptFile
from combee_core.store.originals import Originals
from combee_core.store.preferences import Preferences
from combee_core.store.readings import Given, Readings
from combee_core.store.traces import BATCH, BATCH_BYTES, ImportCounts, RejectRow, Traces
from combee_core.trace import Trace

# Whoever reads better than before changes it, so that files are read again instead of being answered from memory.
_VERSION = "1"

Watch = Callable[[ImportCounts], None]


@dataclass
class FileReport:
    """What became of one file: `reason` says why its format was recognised, or why nothing could be read.

    `skipped` says why a file that belongs to a run is no trace, and `is_part` that others were read with its help;
    `columns` are those of a table that nobody recognised, for which a mapping can be given, or was remembered.
    """

    path: str
    format: str | None
    reason: str
    new: int = 0
    duplicates: int = 0
    rejected: int = 0
    skipped: str | None = None
    import_id: int | None = None
    columns: tuple[str, ...] = ()
    is_part: bool = False

    @property
    def traces(self) -> int:
        """Traces in the file, new or known."""
        return self.new + self.duplicates


@dataclass
class ImportReport:
    """What became of all files of one import; `replaced` counts traces that a better reading has replaced."""

    files: list[FileReport] = field(default_factory=list)
    replaced: int = 0

    @property
    def new(self) -> int:
        """Traces not seen before."""
        return sum(file.new for file in self.files)

    @property
    def duplicates(self) -> int:
        """Traces that were there already."""
        return sum(file.duplicates for file in self.files)

    @property
    def rejected(self) -> int:
        """Records that could not be read."""
        return sum(file.rejected for file in self.files)

    @property
    def traces(self) -> int:
        """Traces in all files, new or known."""
        return self.new + self.duplicates


class Intake:
    """Reads files into the database and keeps a compressed copy of each beside it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._traces = Traces(database)
        self._originals, self._readings = Originals(database), Readings(database)
        self._gatherings = Gatherings(database, self._originals)
        self._preferences = Preferences(database)

    def take_in(
        self,
        paths: Sequence[Path],
        format: str | None,
        names: Mapping[Path, str],
        mapping: Mapping[str, str] | None,
        watch: Watch,
        seen: set[str] | None = None,
        replaces: int | None = None,
    ) -> ImportReport:
        """Read files, folders and archives together; ids of all their traces, new or known, are added to `seen`.

        The rejects of the import `replaces` are dropped once these files have been read in its place. Without `seen`
        and `replaces`, files that were read before in the same way are not read again: all of them is known.
        Raises CombeeError for a format or a field that does not exist.
        """
        way = (_VERSION, format, mapping, [names.get(path, str(path)) for path in paths])
        files = _files(paths, names)
        given = [(file.shown, file.path) for file in files]
        if seen is None and replaces is None and (known := self._readings.find(given, way)):
            return _all_known(known, watch)
        report = ImportReport()
        with ThreadPoolExecutor(1, "combee-originals") as keeper, self._database.little_memory():
            # Compressing and hashing leave the interpreter to others, so that the copy costs no time of its own.
            packing = [(file, keeper.submit(self._originals.keep, file.path, file.shown)) for file in files]
            for reading in read_paths(paths, names, format, mapping):
                report.files.append(self._store(self._mapped(reading, mapping), watch, seen))
            packed = [(file, future.result()) for file, future in packing]
        self._settle(packed, Gathering((), format, dict(mapping) if mapping else None), report)
        if mapping and report.traces:
            for columns in _unknown_tables(paths, names):
                self.set_mapping(columns, mapping)
        if replaces is not None and any(file.format for file in report.files):
            self._traces.drop_rejects(replaces)
        if report.traces and all(copy for _, copy in packed):
            read = [Given(file.shown, copy.sha256, copy.size) for file, copy in packed if copy]
            self._readings.note(read, way, report.files)
        return report

    def take_in_again(self, watch: Watch) -> ImportReport:
        """Read every kept file with the importers of today, together with those that it came with.

        Traces that are in none of them any longer are deleted, and the rejects of files that were read are replaced.
        """
        report = ImportReport()
        self._readings.forget()
        seen: set[str] = set()
        before: set[str] = set()
        told: set[int] = set()
        for gathering in self._gatherings.all():
            known = {id_ for file in gathering.files for id_ in self._traces.ids_of_original(file.sha256)}
            imports = {id_ for file in gathering.files for id_ in self._traces.imports_of_original(file.sha256)}
            found: set[str] = set()
            with self._gatherings.laid_out(gathering) as names:
                again = self.take_in(list(names), gathering.format, names, gathering.mapping, watch, found)
            report.files += again.files
            seen |= found
            if found:
                before |= known
                told |= imports - {file.import_id for file in again.files}
        report.replaced = self._traces.delete(sorted(before - seen))
        for import_id in told:
            self._traces.drop_rejects(import_id)
        return report

    def mapping_for(self, columns: Sequence[str]) -> dict[str, str] | None:
        """The mapping that was last used for a table of these columns, or None."""
        found = self._preferences.get(_mapping_name(columns))
        return dict(found) if found else None

    def set_mapping(self, columns: Sequence[str], mapping: Mapping[str, str]) -> None:
        """Remember a mapping for tables of these columns. Raises CombeeError for one that cannot be used."""
        mapping = checked(mapping)
        if self.mapping_for(columns) != mapping:
            self._preferences.set(_mapping_name(columns), mapping)
            self._readings.forget()

    def _mapped(self, reading: FileReading, mapping: Mapping[str, str] | None) -> FileReading:
        """A table that nobody recognises is read with the mapping remembered for its columns."""
        remembered = self.mapping_for(reading.columns) if reading.columns and not mapping else None
        if remembered and isinstance(reading, BlobReading):
            mapped = read_blob(reading.blob, None, table_of(reading.blob, remembered))
            mapped.columns = reading.columns
            return mapped
        return reading

    def _settle(self, packed: Sequence[tuple["_File", Packed | None]], way: Gathering, report: ImportReport) -> None:
        """Tie the kept copies to their imports and to each other, and drop those of files that nothing came from."""
        read: dict[str, list[FileReport]] = {}
        for report_on_file in report.files:
            read.setdefault(report_on_file.path.partition("!")[0], []).append(report_on_file)
        kept: list[KeptFile] = []
        for file, copy in packed:
            reports = read.get(file.shown, [])
            imports = [found.import_id for found in reports if found.import_id is not None and found.format]
            if copy and imports:
                self._traces.set_original(imports, copy.sha256)
            if copy and (imports or (report.traces and any(found.is_part for found in reports))):
                kept.append(KeptFile(copy.sha256, file.given, file.place))
        if kept:
            self._gatherings.add(replace(way, files=tuple(kept)))
        names = {file.sha256 for file in kept}
        for _, copy in packed:
            if copy and copy.sha256 not in names:
                self._originals.drop_unused(copy.sha256)

    def _store(self, reading: FileReading, watch: Watch, seen: set[str] | None) -> FileReport:
        counts = ImportCounts()
        watch(counts)
        import_id: int | None = None
        with _quiet_collector():
            for traces, rejects in _in_batches(reading):
                if import_id is None:
                    import_id = self._traces.begin_import(reading.shown, reading.format, reading.reason)
                if seen is not None:
                    seen.update(trace.id for trace in traces)
                # Not on a thread of its own: waiting for the interpreter at every step costs it more than it wins.
                self._traces.add(import_id, traces, rejects, counts)
        reason = reading.refusal or reading.reason
        if import_id is None and reading.refusal:
            import_id = self._traces.begin_import(reading.shown, None, reason)
            self._traces.add(import_id, [], [RejectRow(reading.shown, None, None, reason, "")], counts)
        return FileReport(
            reading.shown,
            reading.format,
            reason,
            counts.new,
            counts.duplicates,
            counts.rejected,
            reading.skipped,
            import_id,
            reading.columns,
            reading.is_part,
        )


def _all_known(reports: Sequence[Row], watch: Watch) -> ImportReport:
    """The report on files that were read before: every trace of them is a duplicate now."""
    report = ImportReport()
    for row in reports:
        traces = row["new"] + row["duplicates"]
        report.files.append(FileReport(**row | {"new": 0, "duplicates": traces, "columns": tuple(row["columns"])}))
        watch(ImportCounts(0, traces, row["rejected"]))
    return report


@dataclass(frozen=True, slots=True)
class _File:
    """A file that was given, or that lies at `place` in a folder that was given; `given` is the name of either."""

    path: Path
    given: str
    place: str = ""

    @property
    def shown(self) -> str:
        return shown_name(self.given, self.place)


def _files(paths: Sequence[Path], names: Mapping[Path, str]) -> list[_File]:
    """The files among paths, and those in folders; what does not exist is the reader's to tell."""
    found: list[_File] = []
    for path in paths:
        given = names.get(path, str(path))
        if path.is_dir():
            found += [_File(file, given, place) for file, place in files_below(path)]
        elif path.is_file():
            found.append(_File(path, given))
    return found


def _unknown_tables(paths: Sequence[Path], names: Mapping[Path, str]) -> set[tuple[str, ...]]:
    """Columns of the tables that nobody recognises without a mapping."""
    found = set()
    for reading in read_paths(paths, names):
        if isinstance(reading, BlobReading):
            reading.close()
        if reading.columns:
            found.add(reading.columns)
    return found


def _mapping_name(columns: Sequence[str]) -> str:
    """Under which name the mapping of a table is remembered: its columns in any order."""
    return "mapping:" + hashlib.sha256("\0".join(sorted(columns)).encode()).hexdigest()[:16]


@contextmanager
def _quiet_collector() -> Iterator[None]:
    """Put off garbage collection: an import makes millions of objects, no cycles, and scanning them costs a third."""
    thresholds = gc.get_threshold()
    gc.set_threshold(1_000_000, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def _in_batches(reading: FileReading) -> Iterator[tuple[list[Trace], list[RejectRow]]]:
    traces: list[Trace] = []
    rejects: list[RejectRow] = []
    size = 0
    for entry in reading:
        if isinstance(entry, Trace):
            traces.append(entry)
            # An item of a list may only know how long the whole list is.
            size += (entry.source.length or 0) if entry.source.index is None else 0
        else:
            rejects.append(RejectRow(entry.file, entry.line, entry.index, entry.reason, entry.excerpt.rstrip()))
        if len(traces) + len(rejects) >= BATCH or size >= BATCH_BYTES:
            yield traces, rejects
            traces, rejects, size = [], [], 0
    if traces or rejects:
        yield traces, rejects
