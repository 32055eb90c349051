"""A file read with columns that its owner has chosen: its scores are looked at first, for they have one scale."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from combee_core.importers.base import MISFITS
from combee_core.importers.blob import Blob
from combee_core.importers.detect import Detector
from combee_core.importers.mapping import MappedTable
from combee_core.importers.opening import matched, open_records
from combee_core.importers.outcome import number_of
from combee_core.importers.salvage import BadText

LOOKED_AT = 20_000
"""Records from which the scale is told: the preview of a large table is read again at each choice of a column."""


def table_of(blob: Blob, mapping: Mapping[str, str]) -> MappedTable:
    """The importer for this file with these columns. Raises CombeeError for a mapping that cannot be used.

    One score outside 0 to 1 among the first records makes all of them ratings: of 1 to 5 stars, the 1 is no success.
    """
    table = MappedTable(mapping)
    if "score" not in mapping or blob.problem:
        return table
    try:
        is_rating = any(not 0 <= score <= 1 for score in _scores(blob, table, mapping["score"]))
    except (OSError, *MISFITS):
        return table
    return MappedTable(mapping, is_rating)


def _scores(blob: Blob, table: MappedTable, column: str) -> Iterator[float]:
    # Notes on damage are for the reading that follows.
    opened = open_records(replace(blob, notes=[]))
    with opened.reader:
        for found in islice(matched(opened.records, Detector([table])), LOOKED_AT):
            if not isinstance(found, BadText) and found[1] is not None:
                score = number_of(found[0].value.get(column))
                if score is not None:
                    yield score
