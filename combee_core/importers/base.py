"""What every importer is made of: records in, traces or rejects out. It knows no format and opens no file."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from combee_core.errors import CombeeError
from combee_core.importers.json_text import excerpt_of
from combee_core.trace import Source, Trace

MISFITS = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What Python raises where a value does not have the structure that code expects."""


class RecordError(CombeeError):
    """A record cannot become a trace; the message says why, in words for the person who has the file."""


@dataclass(slots=True)
class Record:
    """One parsed value of a file: `line` counts from 1 in text, `index` from 0 in a list, `raw` is its text.

    `offset` and `length` say in bytes where it lies, an item of a list where that list lies; None where nobody knows.
    """

    value: Any
    line: int | None = None
    index: int | None = None
    raw: bytes | None = None
    offset: int | None = None
    length: int | None = None

    @property
    def excerpt(self) -> str:
        """The first 500 characters of the record as the file has it."""
        if self.raw is not None:
            return excerpt_of(self.raw)
        try:
            return excerpt_of(orjson.dumps(self.value))
        except (TypeError, ValueError):
            return repr(self.value)[:500]


@dataclass(frozen=True, slots=True)
class Reject:
    """A record that could not be read: `line` counts from 1, `index` from 0; `excerpt` has at most 500 characters."""

    file: str
    line: int | None
    index: int | None
    reason: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class Context:
    """Where records come from, so that an importer can say it in each trace."""

    file: str
    format: str
    member: str = ""

    def source(self, record: Record) -> Source:
        """The source of a trace that starts at this record."""
        return Source(self.file, self.format, record.line, record.index, self.member, record.offset, record.length)

    def reject(self, record: Record, reason: str) -> Reject:
        """The note that this record could not be read."""
        shown = f"{self.file}!{self.member}" if self.member else self.file
        return Reject(shown, record.line, record.index, reason, record.excerpt)


class Importer(Protocol):
    """One trace format.

    `name` is what the command line calls it, `title` what people read. `gathers` says that records of one file belong
    together: `read` then gets all of them at once, otherwise one at a time.
    """

    name: str
    title: str
    gathers: bool

    def recognise(self, record: object) -> str | None:
        """Why a record is of this format ('has "messages", …'), or None. Looks at content only, and never raises."""

    def read(self, records: Sequence[Record], context: Context) -> Iterable[Trace | Reject]:
        """Traces of the records. Raises RecordError when a record that was given alone is no trace."""
