"""Which format a record has. It tries the registered formats in order and looks at content only."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from combee_core.importers.base import MISFITS, Importer, Record
from combee_core.importers.json_text import parse_embedded

_LOOK = 20

Match = tuple[Importer, str]


class Detector:
    """Finds the importer of a record; with one importer only, that one takes every record (a format was asked for)."""

    def __init__(self, importers: Sequence[Importer], forced: bool = False) -> None:
        self._importers = importers
        self._forced = forced
        self._last: tuple[tuple[str, ...], Importer] | None = None

    def match(self, value: object) -> Match | None:
        """The importer and why. Rows with the same fields as the row before are tried with its importer first."""
        if not isinstance(value, dict | list) or not value:
            return None
        fields = tuple(value) if isinstance(value, dict) else ()
        if self._last and fields and self._last[0] == fields and (reason := _why(self._last[1], value)):
            return self._last[1], reason
        found = self._first(value)
        if found is not None:
            self._last = fields, found[0]
            return found
        return (self._importers[0], "the format was asked for") if self._forced and isinstance(value, dict) else None

    def _first(self, value: dict[str, object] | list[object]) -> Match | None:
        if isinstance(value, dict) and not any(isinstance(item, str | dict | list) for item in value.values()):
            return None
        importers = iter(self._importers)
        # Most records that are asked about here are of none of them, so that the loop has to be short.
        while True:
            try:
                for importer in importers:
                    if reason := importer.recognise(value):
                        return importer, reason
                return None
            except MISFITS:
                continue

    def split(self, record: Record) -> Iterator[tuple[Record, Match | None]]:
        """The record with its importer, or the records inside it: a list's items, or those of a list in a wrapper."""
        value = record.value
        if isinstance(value, str):
            value = parse_embedded(value)
            record = replace(record, value=value)
        match = self.match(value)
        if isinstance(value, list):
            if match is None or self._rank(value) < self._importers.index(match[0]):
                yield from self._items(record, value)
                return
        elif match is None and isinstance(value, dict) and (inner := self._wrapped(value)) is not None:
            yield from self._items(record, inner)
            return
        yield record, match

    def _items(self, record: Record, items: Iterable[object]) -> Iterator[tuple[Record, Match | None]]:
        for index, item in enumerate(items):
            value = parse_embedded(item) if isinstance(item, str) else item
            yield Record(value, record.line, index, None, record.offset, record.length), self.match(value)

    def _wrapped(self, value: dict[str, object]) -> Iterable[object] | None:
        """The list in a wrapper such as {"data": […]}, or the objects of one that is keyed by id."""
        unknown = len(self._importers)
        inner = [item for item in value.values() if isinstance(item, dict | list)]
        found = next((item for item in inner if isinstance(item, list) and self._rank(item) < unknown), None)
        if found is None and inner and len(inner) == len(value) and self._rank(inner) < unknown:
            found = inner
        return found

    def _rank(self, items: Sequence[object]) -> int:
        """The place of the first importer that recognises one of the first items; past the end when none does."""
        known = (item for item in items[:_LOOK] if isinstance(item, dict | list))
        ranks = (rank for item in known for rank, importer in enumerate(self._importers) if _why(importer, item))
        return next(ranks, len(self._importers))


def _why(importer: Importer, value: object) -> str | None:
    try:
        return importer.recognise(value)
    except MISFITS:
        return None
