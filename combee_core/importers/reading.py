"""One file being read: its format, why, and its traces and rejects as they come."""

import io
from collections.abc import Iterator
from itertools import chain
from types import TracebackType
from typing import Self

from combee_core.importers.base import MISFITS, Context, Importer, Record, RecordError, Reject
from combee_core.importers.blob import Blob, as_utf8, peek, unpacked
from combee_core.importers.detect import Detector, Match
from combee_core.importers.openai_chat import what_is_missing
from combee_core.importers.records import records_of
from combee_core.importers.refusal import describe, known_junk, refusal
from combee_core.importers.registry import FORMATS
from combee_core.importers.salvage import BadText
from combee_core.trace import Trace

LOOK_AHEAD = 200

Found = tuple[Record, Match | None] | BadText


class FileReading:
    """A file, or a member of an archive. Iterate it once for its traces and rejects.

    `format` is None when nothing was recognised, and `refusal` then says why in one sentence. `formats` may grow while
    reading, for a file can hold several. `skipped` says why a file that belongs to a run is no trace.
    """

    def __init__(self, blob: Blob, importer: Importer | None = None) -> None:
        self.name, self.member, self.shown = blob.name, blob.member, blob.shown
        self.formats: list[str] = []
        self.reason = ""
        self.refusal = ""
        self.skipped: str | None = None
        self._blob = blob
        self._detector = Detector([importer] if importer else list(FORMATS.values()), forced=importer is not None)
        self._reader: io.BufferedReader | None = None
        self._found: Iterator[Found] = iter(())
        try:
            self._open()
        except OSError as error:
            self.refusal = f"{self.shown} cannot be read: {error.strerror or error}."

    @property
    def format(self) -> str | None:
        """The format of the first record that was recognised."""
        return self.formats[0] if self.formats else None

    def __iter__(self) -> Iterator[Trace | Reject]:
        gathered: dict[str, tuple[Importer, list[Record]]] = {}
        with self:
            for found in self._found:
                if isinstance(found, BadText):
                    yield Reject(self.shown, found.line, found.index, found.reason, found.excerpt)
                    continue
                record, match = found
                if match is None:
                    yield self._unknown(record)
                    continue
                importer, reason = match
                self._note(importer, reason, record)
                if importer.gathers:
                    gathered.setdefault(importer.name, (importer, []))[1].append(record)
                else:
                    yield from self._read(importer, [record])
            for importer, records in gathered.values():
                yield from self._read(importer, records)
            for note in self._blob.notes if self.formats else ():
                yield Reject(self.shown, None, None, f"Not the whole file was read: {note}.", "")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; reading to the end does so too."""
        if self._reader is not None:
            self._reader.close()

    def _open(self) -> None:
        self._reader = as_utf8(unpacked(self._blob))
        looks = known_junk(peek(self._reader))
        if looks is not None:
            self._refuse(looks)
            return
        coming = self._search(self._reader)
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
            self._refuse(_looks_like(ahead))

    def _search(self, reader: io.BufferedReader) -> Iterator[Found]:
        for record in records_of(reader):
            if isinstance(record, BadText):
                yield record
            elif isinstance(record.value, dict) and (match := self._detector.match(record.value)):
                yield record, match
            else:
                yield from self._detector.split(record)

    def _refuse(self, looks: str) -> None:
        notes = "".join(f"; {note}" for note in self._blob.notes)
        self.refusal = refusal(self.shown, looks + notes, (importer.title for importer in FORMATS.values()))
        self.close()

    def _note(self, importer: Importer, reason: str, record: Record) -> None:
        if importer.name in self.formats:
            return
        self.formats.append(importer.name)
        if not self.reason:
            where = f"line {record.line}" if record.line else f"record {(record.index or 0) + 1}"
            self.reason = f"{where} {reason}"

    def _unknown(self, record: Record) -> Reject:
        near = what_is_missing(record.value) if isinstance(record.value, dict) else None
        reason = near or f"It is {describe(record.value)}: no trace format that Combee knows."
        return Reject(self.shown, record.line, record.index, reason, record.excerpt)

    def _read(self, importer: Importer, records: list[Record]) -> Iterator[Trace | Reject]:
        context = Context(self.name, importer.name, self.member)
        try:
            yield from importer.read(records, context)
        except RecordError as error:
            yield context.reject(records[0], str(error))
        except MISFITS as error:
            reason = f"Its structure does not fit the format {importer.name} ({type(error).__name__}: {error})."
            yield context.reject(records[0], reason)


def _looks_like(ahead: list[Found]) -> str:
    """What a file without a known record looks like, by its first records."""
    for found in ahead:
        if not isinstance(found, BadText) and isinstance(found[0].value, dict | list):
            return f"its first record is {describe(found[0].value)}"
    bad = next((found for found in ahead if isinstance(found, BadText)), None)
    if bad is not None and bad.excerpt.lstrip()[:1] in ("{", "["):
        return f"it starts like JSON, but {bad.reason[:1].lower()}{bad.reason[1:].rstrip('.')}"
    return "it is text without JSON"
