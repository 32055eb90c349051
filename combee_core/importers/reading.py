"""One file being read: its format, why, and its traces and rejects as they come."""

import io
from collections.abc import Iterable, Iterator
from itertools import chain
from types import TracebackType
from typing import Self

from combee_core.importers.base import MISFITS, Context, Importer, Record, RecordError, Reject
from combee_core.importers.blob import Blob
from combee_core.importers.detect import Detector
from combee_core.importers.formats.openai_chat import what_is_missing
from combee_core.importers.not_traces import holds_no_traces
from combee_core.importers.opening import Found, matched, open_records
from combee_core.importers.refusal import describe, is_fault, refusal
from combee_core.importers.registry import FORMATS
from combee_core.importers.salvage import BadText
from combee_core.trace import Trace

LOOK_AHEAD = 200
MOST_NAMED = 10_000


class FileReading:
    """A file, or a member of an archive. Iterate it once for its traces and rejects.

    `format` is None when nothing was recognised, and `refusal` then says why in one sentence. `formats` may grow while
    reading, for a file can hold several. `skipped` says why a file that belongs to a run is no trace, and `is_part`
    that other files were read with the help of this one. `columns` names the columns of a table that nobody recognised:
    a mapping can make traces of it.
    """

    def __init__(self, blob: Blob) -> None:
        self.name, self.member, self.shown = blob.name, blob.member, blob.shown
        self.formats: list[str] = []
        self.reason = ""
        self.refusal = ""
        self.skipped: str | None = None
        self.is_part = False
        self.columns: tuple[str, ...] = ()

    @property
    def format(self) -> str | None:
        """The format of the first record that was recognised."""
        return self.formats[0] if self.formats else None

    def __iter__(self) -> Iterator[Trace | Reject]:
        return iter(())


class SkippedReading(FileReading):
    """A file that is not read by itself, with the reason."""

    def __init__(self, blob: Blob, reason: str, is_part: bool = False) -> None:
        super().__init__(blob)
        self.skipped, self.is_part = reason, is_part


class RunReading(FileReading):
    """A run that is spread over several files, shown under one of them."""

    def __init__(self, blob: Blob, format: str, reason: str, entries: Iterable[Trace | Reject]) -> None:
        super().__init__(blob)
        self.formats, self.reason = [format], reason
        self._entries = entries

    def __iter__(self) -> Iterator[Trace | Reject]:
        try:
            yield from self._entries
        except (RecordError, *MISFITS) as error:
            said = str(error) if isinstance(error, RecordError) else _misfit(self.formats[0], error)
            yield Reject(self.shown, None, None, said, "")


def read_blob(blob: Blob, importer: Importer | None = None, first: Importer | None = None) -> "BlobReading":
    """Open a file by itself and find out its format.

    `importer` takes every record when it is given; `first` is tried before all others.
    """
    if importer is not None:
        return BlobReading(blob, Detector([importer], forced=True))
    return BlobReading(blob, Detector([first, *FORMATS.values()] if first else list(FORMATS.values())))


class BlobReading(FileReading):
    """A file that is read record by record. `is_faulty` tells a damaged file from one of another kind."""

    def __init__(self, blob: Blob, detector: Detector) -> None:
        super().__init__(blob)
        self.blob = blob
        self.is_faulty, self.looks = False, ""
        self._detector = detector
        self._reader: io.BufferedReader | None = None
        self._found: Iterator[Found] = iter(())
        if blob.problem:
            self.refusal, self.is_faulty = f"{self.shown} was not read: {blob.problem}.", True
            return
        try:
            self._open()
        except OSError as error:
            self.refusal, self.is_faulty = f"{self.shown} cannot be read: {error.strerror or error}.", True

    def __iter__(self) -> Iterator[Trace | Reject]:
        gathered: dict[str, tuple[Importer, list[Record]]] = {}
        unread = 0
        with self:
            for found in self._found:
                if isinstance(found, BadText) or found[1] is None:
                    unread += 1
                    if unread <= MOST_NAMED:
                        yield from self._unread(found)
                    continue
                record, (importer, reason) = found[0], found[1]
                self._note(importer, reason, record)
                if importer.gathers:
                    gathered.setdefault(importer.name, (importer, []))[1].append(record)
                else:
                    yield from self._read(importer, [record])
            for importer, records in gathered.values():
                yield from self._read(importer, records)
            yield from self._closing_words(unread)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; reading to the end does so too."""
        if self._reader is not None:
            self._reader.close()

    def _open(self) -> None:
        opened = open_records(self.blob)
        self._reader = opened.reader
        if opened.looks:
            self._refuse(opened.looks)
            return
        coming = matched(opened.records, self._detector)
        ahead: list[Found] = []
        for found in coming:
            ahead.append(found)
            if not isinstance(found, BadText) and found[1] is not None:
                self._note(*found[1], found[0])
                break
            if len(ahead) == LOOK_AHEAD:
                break
        if self.formats:
            self._found = chain(ahead, coming)
        else:
            self._give_up(ahead, opened.is_table)

    def _give_up(self, ahead: list[Found], is_table: bool) -> None:
        """No record is a trace: say what the file is, where it is known, or what it looks like."""
        values = [found[0].value for found in ahead if not isinstance(found, BadText)]
        self.skipped = next((reason for value in values if (reason := holds_no_traces(value))), None)
        if self.skipped is None and is_table:
            names = dict.fromkeys(str(key) for value in values if isinstance(value, dict) for key in value)
            self.columns = tuple(names)
            self._refuse(
                f"it is a table whose columns are not known ({', '.join(self.columns)[:200]}): say what they mean"
            )
        elif self.skipped is None:
            self._refuse(_looks_like(ahead))
        self.close()

    def _refuse(self, looks: str) -> None:
        notes = "".join(f"; {note}" for note in self.blob.notes)
        self.is_faulty = bool(notes) or is_fault(looks)
        self.looks = looks + notes
        self.refusal = refusal(self.shown, looks + notes)
        self.close()

    def _note(self, importer: Importer, reason: str, record: Record) -> None:
        if importer.name in self.formats:
            return
        self.formats.append(importer.name)
        if not self.reason:
            where = f"line {record.line}" if record.line else f"record {(record.index or 0) + 1}"
            self.reason = f"{where} {reason}"

    def _closing_words(self, unread: int) -> Iterator[Reject]:
        if unread > MOST_NAMED:
            reason = f"{unread - MOST_NAMED:,} more records could not be read: the first {MOST_NAMED:,} are listed."
            yield Reject(self.shown, None, None, reason, "")
        for note in self.blob.notes if self.formats else ():
            yield Reject(self.shown, None, None, f"Not the whole file was read: {note}.", "")

    def _unread(self, found: Found) -> Iterator[Reject]:
        """The note on text that is no record, or on a record of no known format; files beside traces need none."""
        if isinstance(found, BadText):
            yield Reject(self.shown, found.line, found.index, found.reason, found.excerpt)
            return
        record = found[0]
        if holds_no_traces(record.value):
            return
        near = what_is_missing(record.value) if isinstance(record.value, dict) else None
        reason = near or f"It is {describe(record.value)}: no trace format that Combee knows."
        yield Reject(self.shown, record.line, record.index, reason, record.excerpt)

    def _read(self, importer: Importer, records: list[Record]) -> Iterator[Trace | Reject]:
        context = Context(self.name, importer.name, self.member)
        try:
            yield from importer.read(records, context)
        except RecordError as error:
            yield context.reject(records[0], str(error))
        except MISFITS as error:
            is_other = importer.recognise(records[0].value) is None
            reason = f"It is no record of the format {importer.name}." if is_other else _misfit(importer.name, error)
            yield context.reject(records[0], reason)


def _misfit(format: str, error: BaseException) -> str:
    return f"Its structure does not fit the format {format} ({type(error).__name__}: {error})."


def _looks_like(ahead: list[Found]) -> str:
    """What a file without a known record looks like, by its first records."""
    for found in ahead:
        if not isinstance(found, BadText) and isinstance(found[0].value, dict | list):
            return f"its first record is {describe(found[0].value)}"
    bad = next((found for found in ahead if isinstance(found, BadText)), None)
    if bad is not None and bad.excerpt.lstrip()[:1] in ("{", "["):
        return f"it starts like JSON, but {bad.reason[:1].lower()}{bad.reason[1:].rstrip('.')}"
    return "it is text without JSON"
