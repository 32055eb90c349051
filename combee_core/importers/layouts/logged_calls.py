"""Logged model calls, one a file: a folder of them holds conversations whose calls repeat each other.

Written by OpenHands' completion logs and by proxies. Calls that continue each other become one trace, not twenty. Files
that were chosen one by one are left as they are.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from combee_core.importers.base import Context, Record, Reject
from combee_core.importers.formats.logged_calls import LoggedCalls
from combee_core.importers.runs import Files, Run
from combee_core.trace import Trace


class LoggedCallFiles:
    """Folders with one logged call a file."""

    name = LoggedCalls.name
    title = LoggedCalls.title

    def runs(self, files: Files) -> Iterator[Run]:
        for folder in () if files.chosen else files.folders:
            paths = [path for path in files.in_folder(folder) if path.endswith(".json")]
            if len(paths) > 1 and _is_call(files, paths[0]):
                calls = [path for path in paths if _is_call(files, path)]
                if len(calls) > 1:
                    parts = dict.fromkeys(calls[1:], "logged call, put together with the others of its folder")
                    reason = f"is the first of {len(calls)} files of logged model calls"
                    yield Run(files[calls[0]], self.name, reason, _reader(files, calls), parts)


def _is_call(files: Files, path: str) -> bool:
    return LoggedCalls().recognise(files.json(path)) is not None


def _reader(files: Files, paths: Sequence[str]) -> Callable[[], Iterable[Trace | Reject]]:
    def read() -> Iterable[Trace | Reject]:
        blob = files[paths[0]]
        records = [Record(files.json_object(path), index=number) for number, path in enumerate(paths)]
        return LoggedCalls().read(records, Context(blob.name, LoggedCalls.name, blob.member))

    return read
