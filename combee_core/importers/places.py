"""Paths that people give: files, folders and archives, as one collection of blobs each. It reads no records."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from combee_core.importers.archives import members_of
from combee_core.importers.blob import Blob, file_blob

_HIDDEN = (".", "__MACOSX")


@dataclass
class Collection:
    """Files that were given together, so that parts of one run may lie side by side.

    `chosen` says that each file was named by the user, who then wants to hear why one holds no traces; files that
    merely lie in a folder or an archive are passed over with a word.
    """

    blobs: list[Blob]
    chosen: bool


def collections_in(paths: Sequence[Path], names: Mapping[Path, str]) -> Iterator[Collection]:
    """One collection for each folder and archive, and one for all single files together."""
    single: list[Blob] = []
    for path in paths:
        if path.is_dir():
            yield Collection(list(_files_in(path, names.get(path, str(path)))), chosen=False)
            continue
        blob = file_blob(path, names.get(path))
        members = _members(blob) if path.is_file() else None
        if members:
            yield Collection(members, chosen=False)
        else:
            single.append(blob)
    if single:
        yield Collection(single, chosen=True)


def _files_in(folder: Path, shown: str) -> Iterator[Blob]:
    """The files of a folder and below, and what archives among them hold."""
    for path, place in files_below(folder):
        blob = file_blob(path, shown_name(shown, place), place)
        yield from _members(blob, place) or [blob]


def files_below(folder: Path) -> Iterator[tuple[Path, str]]:
    """Files of a folder and below that are not hidden, each with its path inside, in the order of their names."""
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder).as_posix()
        if path.is_file() and not any(part.startswith(_HIDDEN) for part in place.split("/")):
            yield path, place


def shown_name(given: str, place: str) -> str:
    """The name that people see for what was given, or for a file in it."""
    return f"{given.rstrip('/')}/{place}" if place else given


def _members(blob: Blob, place: str = "") -> list[Blob] | None:
    try:
        return members_of(blob, place)
    except OSError:
        return None
