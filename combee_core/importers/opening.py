"""A blob to its records, whatever its bytes are: JSON, JSON Lines, a table, an event stream, a log in Markdown.

It knows the shapes of files, and no trace format.
"""

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from combee_core.importers.base import Record
from combee_core.importers.blob import Blob, as_utf8, peek, unpacked
from combee_core.importers.detect import Detector, Match
from combee_core.importers.protobuf import LARGEST, may_be_otlp, otlp_requests
from combee_core.importers.records import records_of
from combee_core.importers.refusal import known_junk
from combee_core.importers.salvage import BadText
from combee_core.importers.streams import interactions, streamed_messages
from combee_core.importers.tables import delimited_rows, parquet_rows

Found = tuple[Record, Match | None] | BadText


@dataclass
class Opened:
    """An open blob: its records, or what it is when it can have none (`looks`). Close `reader` when done."""

    reader: io.BufferedReader
    records: Iterable[Record | BadText] = ()
    looks: str = ""
    is_table: bool = False


def open_records(blob: Blob) -> Opened:
    """The records of a blob by what its bytes are. Raises OSError when the file cannot be opened."""
    reader = unpacked(blob)
    if (rows := parquet_rows(reader, blob)) is not None:
        return Opened(reader, rows, is_table=True)
    if may_be_otlp(peek(reader, 64)):
        with unpacked(blob) as again:
            if requests := otlp_requests(again.read(LARGEST)):
                return Opened(reader, requests)
    reader = as_utf8(reader)
    if (looks := known_junk(peek(reader))) is not None:
        return Opened(reader, looks=looks)
    for other in (streamed_messages, interactions, delimited_rows):
        if (found := other(reader)) is not None:
            return Opened(reader, found, is_table=other is delimited_rows)
    return Opened(reader, records_of(reader))


def matched(records: Iterable[Record | BadText], detector: Detector) -> Iterator[Found]:
    """Each record with the importer that recognises it; lists and wrappers are opened."""
    for record in records:
        if isinstance(record, BadText):
            yield record
        else:
            yield from detector.split(record)
