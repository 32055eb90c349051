"""Runs that are spread over several files of one folder: what a layout is, and how it looks into the files beside.

It knows no layout by itself; each format that has one brings its own.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from combee_core.importers.base import Reject
from combee_core.importers.blob import Blob, as_utf8, unpacked
from combee_core.importers.json_text import TextError, clean_text, decode, parse
from combee_core.trace import Trace

LARGEST_PART = 128 << 20


@dataclass
class Run:
    """One or several traces that are read from files together: `main` is the file that they are shown under.

    `parts` are the other files that belong to it, each with a word on what it is.
    """

    main: Blob
    format: str
    reason: str
    read: Callable[[], Iterable[Trace | Reject]]
    parts: dict[str, str] = field(default_factory=dict)


class Layout(Protocol):
    """A way of spreading runs over folders. `name` is the format that the command line calls it by."""

    name: str
    title: str

    def runs(self, files: "Files") -> Iterator[Run]:
        """The runs among these files, each with all of its parts."""


class Files:
    """The files of one collection by their paths, and the folders that they make.

    `chosen` says that the user named each file, instead of a folder or an archive that holds them.
    """

    def __init__(self, blobs: Iterable[Blob], chosen: bool = False) -> None:
        self.chosen = chosen
        self._by_path: dict[str, Blob] = {}
        self._folders: dict[str, list[str]] = {}
        for blob in blobs:
            if not blob.problem:
                self._by_path.setdefault(blob.path, blob)
        for path in self._by_path:
            folder = parent(path)
            self._folders.setdefault(folder, []).append(path)
            while folder and (folder := parent(folder)) not in self._folders:
                self._folders[folder] = []

    def __contains__(self, path: str) -> bool:
        return path in self._by_path

    def __getitem__(self, path: str) -> Blob:
        return self._by_path[path]

    @property
    def folders(self) -> list[str]:
        """All folders, sorted; the top one is the empty text."""
        return sorted(self._folders)

    def in_folder(self, folder: str) -> list[str]:
        """Paths of the files that lie directly in a folder, sorted."""
        return sorted(self._folders.get(folder, ()))

    def below(self, folder: str) -> list[str]:
        """Paths of all files in a folder and its subfolders, sorted."""
        return sorted(path for path in self._by_path if not folder or path.startswith(folder + "/"))

    def text(self, path: str) -> str:
        """A file's text, empty when it is not there or too large to be a part."""
        if path not in self._by_path:
            return ""
        with as_utf8(unpacked(self._by_path[path])) as reader:
            data = reader.read(LARGEST_PART + 1)
        return "" if len(data) > LARGEST_PART else clean_text(decode(data))

    def json(self, path: str) -> Any:
        """The JSON value in a file; None when there is none."""
        text = self.text(path)
        try:
            return parse(text) if text else None
        except TextError:
            return None

    def json_object(self, path: str) -> dict[str, Any]:
        """The JSON object in a file; empty when it holds none."""
        value = self.json(path)
        return value if isinstance(value, dict) else {}


def parent(path: str) -> str:
    """The folder of a path, empty at the top."""
    return path.rpartition("/")[0]


def join(folder: str, name: str) -> str:
    """A path in a folder; the top folder is the empty text."""
    return f"{folder}/{name}" if folder else name


def find_runs(files: Files, layouts: Mapping[str, Layout]) -> tuple[list[Run], dict[str, str]]:
    """All runs, and for each file that is a part of one, what it is. A file belongs to the first run that claims it."""
    runs: list[Run] = []
    parts: dict[str, str] = {}
    taken: set[str] = set()
    for layout in layouts.values():
        for run in layout.runs(files):
            if run.main.path not in taken:
                runs.append(run)
                taken.update((run.main.path, *run.parts))
                parts = {**run.parts, **parts}
    return runs, {path: what for path, what in parts.items() if path not in {run.main.path for run in runs}}
