"""Langfuse table exports of one project: traces, observations and scores in files of their own, joined by trace id.

Written by Langfuse's table and bucket exports. The tables are found by what is in them; files whose names speak of
scores are looked at first, since traces and observations are read without them just as well.
"""

from collections.abc import Callable, Iterator, Sequence

from combee_core.importers.base import MISFITS, Context, Record, Reject
from combee_core.importers.blob import Blob
from combee_core.importers.detect import Detector
from combee_core.importers.formats.langfuse import Langfuse
from combee_core.importers.opening import matched, open_records
from combee_core.importers.runs import Files, Run
from combee_core.importers.salvage import BadText
from combee_core.trace import Trace

_TABLES = ("score", "observation", "trace")


class LangfuseTables:
    """Tables of one folder that belong together."""

    name = Langfuse.name
    title = Langfuse.title

    def runs(self, files: Files) -> Iterator[Run]:
        for folder in files.folders:
            named = [
                path
                for path in files.in_folder(folder)
                if any(word in path.rpartition("/")[2].lower() for word in _TABLES)
            ]
            if len(named) > 1 and any("score" in path.rpartition("/")[2].lower() for path in named):
                tables = [path for path in named if _is_table(files[path])]
                main = next((path for path in tables if "score" not in path.rpartition("/")[2].lower()), None)
                if main is not None and len(tables) > 1:
                    parts = dict.fromkeys(
                        (path for path in tables if path != main), "table of the same Langfuse project"
                    )
                    reason = f"is joined with {len(tables) - 1} more Langfuse tables by trace id"
                    yield Run(files[main], self.name, reason, _reader([files[path] for path in [main, *parts]]), parts)


def _records(blob: Blob) -> Iterator[Record]:
    """The table rows in a file. Files of other formats have none."""
    opened = open_records(blob)
    with opened.reader:
        for found in matched(opened.records, Detector([Langfuse()])):
            if not isinstance(found, BadText) and found[1] is not None:
                yield found[0]


def _is_table(blob: Blob) -> bool:
    try:
        first = next(_records(blob), None)
    except (OSError, *MISFITS):
        return False
    return first is not None and "observations" not in first.value


def _reader(blobs: Sequence[Blob]) -> Callable[[], Iterator[Trace | Reject]]:
    def read() -> Iterator[Trace | Reject]:
        records = [record for blob in blobs for record in _records(blob)]
        yield from Langfuse().read(records, Context(blobs[0].name, Langfuse.name, blobs[0].member))

    return read
