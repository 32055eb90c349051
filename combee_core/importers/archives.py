"""Zip and tar archives: their members as blobs, read where they are, never written out under their own names.

An archive may lie: names that leave it are refused, sizes and numbers have limits, and a damaged member costs only
itself. Zip members may be compressed with zstd (method 93), which Python's own reader does not know.
"""

import io
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

from combee_core.importers.blob import Blob, chunks_of, from_chunks, peek, unpacked, unzstd

MOST_MEMBERS = 100_000
LARGEST_MEMBER = 4 << 30
LARGEST_TOTAL = 16 << 30
MOST_RATIO, RATIO_FROM = 250, 64 << 20
DEEPEST = 3
_CHUNK = 1 << 20
_ZSTD_METHOD = 93
_LOCAL_HEADER = struct.Struct("<26xHH")
_JUNK = ("__MACOSX/", ".DS_Store", "Thumbs.db", "desktop.ini")
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, tarfile.TarError)


class _Budget:
    """What may still be unpacked from one archive, over all its members."""

    def __init__(self) -> None:
        self.left = LARGEST_TOTAL


def members_of(blob: Blob, place: str = "", depth: int = 0) -> list[Blob] | None:
    """The files in an archive, archives inside it opened too; None when the blob is no archive.

    `place` is where the archive lies among the files that it was given with: its members lie below.
    """
    if blob.problem:
        return None
    reader = unpacked(blob)
    head = peek(reader, 512)
    is_zip = head.startswith((b"PK\x03\x04", b"PK\x05\x06"))
    if not is_zip and head[257:262] != b"ustar":
        reader.close()
        return None
    if depth == DEEPEST:
        reader.close()
        return [_refused(blob, "", f"it lies more than {DEEPEST} archives deep")]
    file = _seekable(reader, blob)
    try:
        found = list(_zip_members(blob, file, place) if is_zip else _tar_members(blob, file, place))
    except _DAMAGE as error:
        return [_refused(blob, blob.member, f"the archive is damaged ({_said(error)})")]
    members: list[Blob] = []
    for member in found:
        members += members_of(member, member.path, depth + 1) or [member]
    return members


def _seekable(reader: io.BufferedReader, blob: Blob) -> BinaryIO:
    """The bytes in a form in which one can jump: the file itself when it lies on disk, else a temporary copy."""
    raw = reader.raw
    if raw.seekable():
        reader.seek(0)
        return reader
    spooled = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the members that read from it)
    for chunk in _limited(chunks_of(reader), None, _Budget(), blob):
        spooled.write(chunk)
    spooled.seek(0)
    return spooled


def _zip_members(blob: Blob, file: BinaryIO, place: str) -> Iterator[Blob]:
    archive, budget = zipfile.ZipFile(file), _Budget()
    for number, info in enumerate(archive.infolist()):
        if info.is_dir() or _is_junk(info.filename):
            continue
        if number >= MOST_MEMBERS:
            yield _refused(blob, info.filename, f"the archive has more than {MOST_MEMBERS:,} files")
            return
        yield _member(blob, place, info.filename, _zip_opener(archive, file, info, budget))


def _zip_opener(archive: zipfile.ZipFile, file: BinaryIO, info: zipfile.ZipInfo, budget: _Budget) -> "_Opener":
    def chunks(member: Blob) -> Iterator[bytes]:
        if info.compress_type == _ZSTD_METHOD:
            yield from unzstd(from_chunks(_raw_member(file, info)), member)
        else:
            with archive.open(info) as stream:
                while chunk := stream.read(_CHUNK):
                    yield chunk

    return lambda member: _limited(chunks(member), info.compress_size, budget, member)


def _raw_member(file: BinaryIO, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """The packed bytes of a member. The file is shared between members, so each read says where it starts."""
    file.seek(info.header_offset)
    name_size, extra_size = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    position = info.header_offset + _LOCAL_HEADER.size + name_size + extra_size
    end = position + info.compress_size
    while position < end:
        file.seek(position)
        chunk = file.read(min(_CHUNK, end - position))
        if not chunk:
            return
        position += len(chunk)
        yield chunk


def _tar_members(blob: Blob, file: BinaryIO, place: str) -> Iterator[Blob]:
    archive, budget = tarfile.open(fileobj=file), _Budget()  # noqa: SIM115 (its members read from it later)
    for number, info in enumerate(archive):
        if not info.isfile() or _is_junk(info.name):
            continue
        if number >= MOST_MEMBERS:
            yield _refused(blob, info.name, f"the archive has more than {MOST_MEMBERS:,} files")
            return
        yield _member(blob, place, info.name, _tar_opener(archive, info, budget))


def _tar_opener(archive: tarfile.TarFile, info: tarfile.TarInfo, budget: _Budget) -> "_Opener":
    def chunks() -> Iterator[bytes]:
        stream = archive.extractfile(info)
        while stream is not None and (chunk := stream.read(_CHUNK)):
            yield chunk

    return lambda member: _limited(chunks(), None, budget, member)


_Opener = Callable[[Blob], Iterator[bytes]]


def _member(blob: Blob, place: str, name: str, chunks: _Opener) -> Blob:
    name = name.replace("\\", "/")
    if name.startswith("/") or ".." in name.split("/") or name[1:2] == ":":
        return _refused(blob, name, "its name points outside of the archive")
    inner = f"{blob.member}!{name}" if blob.member else name
    path = f"{place}/{name}" if place else name
    member = Blob(blob.name, lambda: from_chunks(chunks(member)), inner, path=path)
    return member


def _refused(blob: Blob, name: str, problem: str) -> Blob:
    return Blob(blob.name, lambda: from_chunks(iter(())), name, path=name, problem=problem)


def _limited(chunks: Iterator[bytes], packed: int | None, budget: _Budget, member: Blob) -> Iterator[bytes]:
    """The pieces up to the limits; damage and limits end the member with a note and leave the others alone."""
    size = 0
    try:
        for chunk in chunks:
            size += len(chunk)
            budget.left -= len(chunk)
            if size > LARGEST_MEMBER or budget.left < 0:
                member.notes.append("it unpacks to more than Combee takes")
                return
            if packed is not None and size > RATIO_FROM and size > MOST_RATIO * packed:
                member.notes.append(f"it unpacks to more than {MOST_RATIO} times its size, as an archive bomb does")
                return
            yield chunk
    except _DAMAGE as error:
        member.notes.append(f"it is damaged ({_said(error)})")


def _is_junk(name: str) -> bool:
    last = name.rsplit("/", 1)[-1]
    return name.startswith(_JUNK) or "/__MACOSX/" in name or last in _JUNK or last.startswith("._")


def _said(error: BaseException) -> str:
    return str(error).splitlines()[0][:120] if str(error) else type(error).__name__
