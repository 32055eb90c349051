"""Archives and folders: all members, one by one; what is wrong with one does not cost the others."""

import io
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

import pytest
import zstandard

from combee_core.importers import archives
from tests.importers.reading import chat, lines, read_all

ROWS = lines(chat("q", "a"), chat("r", "b"))


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def counts(path: Path) -> dict[str, int]:
    return {result.reading.shown: len(result.traces) for result in read_all(path) if result.reading.format}


def test_members_are_read_whatever_they_are_packed_in(tmp_path: Path) -> None:
    inner = zipped(tmp_path / "inner.zip", {"deep/rows.jsonl": ROWS.encode()})
    packed = zstandard.compress(ROWS.encode())
    path = zipped(tmp_path / "all.zip", {"a.jsonl": ROWS.encode(), "b.zst": packed, "c.zip": inner.read_bytes()})
    assert counts(path) == {"all.zip!a.jsonl": 2, "all.zip!b.zst": 2, "all.zip!c.zip!deep/rows.jsonl": 2}


def test_a_packed_tar_is_opened_too(tmp_path: Path) -> None:
    path = tmp_path / "rows.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in ("runs/a.jsonl", "runs/._a.jsonl", "notes.txt"):
            info = tarfile.TarInfo(name)
            content = ROWS.encode() if name.endswith("a.jsonl") else b"just words"
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    results = read_all(path)
    assert [result.reading.shown for result in results] == ["rows.tar.gz!runs/a.jsonl", "rows.tar.gz!notes.txt"]
    assert results[1].reading.skipped == "It holds no traces: it is text without JSON."


def test_members_compressed_with_zstd_are_read(tmp_path: Path) -> None:
    path = zipped(tmp_path / "z.zip", {"a.jsonl": b""})
    content, packed = ROWS.encode(), zstandard.compress(ROWS.encode())
    header = struct.pack(
        "<4sHHHHHIIIHH", b"PK\x03\x04", 63, 0, 93, 0, 33, zlib.crc32(content), len(packed), len(content), 7, 0
    )
    entry = struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\x01\x02", 63, 63, 0, 93, 0, 33, zlib.crc32(content), len(packed),
                        len(content), 7, 0, 0, 0, 0, 0, 0)  # fmt: skip
    body = header + b"a.jsonl" + packed
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 1, 1, len(entry) + 7, len(body), 0)
    path.write_bytes(body + entry + b"a.jsonl" + end)
    assert counts(path) == {"z.zip!a.jsonl": 2}


@pytest.mark.parametrize("name", ["../evil.jsonl", "/etc/evil.jsonl", "a/../../evil.jsonl", "C:/evil.jsonl"])
def test_names_that_leave_the_archive_are_refused_and_the_rest_is_read(tmp_path: Path, name: str) -> None:
    evil, good = read_all(zipped(tmp_path / "a.zip", {name: ROWS.encode(), "good.jsonl": ROWS.encode()}))
    assert evil.reading.refusal.endswith("was not read: its name points outside of the archive.")
    assert (evil.traces, len(good.traces)) == ([], 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip"]


def test_a_damaged_member_does_not_lose_the_others(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"bad.jsonl": ROWS.encode() * 40, "good.jsonl": ROWS.encode()})
    content = bytearray(path.read_bytes())
    content[45:60] = b"\xff" * 15
    path.write_bytes(bytes(content))
    bad, good = read_all(path)
    assert "damaged" in bad.reading.refusal + "".join(reject.reason for reject in bad.rejects)
    assert len(good.traces) == 2


def test_an_archive_bomb_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "RATIO_FROM", 1 << 20)
    bomb = ROWS.encode() + b" " * (8 << 20) + b"\n" + ROWS.encode()
    (result,) = read_all(zipped(tmp_path / "a.zip", {"bomb.jsonl": bomb}))
    assert "archive bomb" in result.rejects[-1].reason
    assert len(result.traces) == 2


def test_archives_inside_archives_are_opened_to_a_limit(tmp_path: Path) -> None:
    content = ROWS.encode()
    for _ in range(6):
        content = zipped(tmp_path / "next.zip", {"in.zip": content}).read_bytes()
    (tmp_path / "deep.zip").write_bytes(content)
    (result,) = read_all(tmp_path / "deep.zip")
    assert "archives deep" in result.reading.refusal


def test_an_empty_archive_says_so(tmp_path: Path) -> None:
    (result,) = read_all(zipped(tmp_path / "none.zip", {}))
    assert "it is an empty zip archive" in result.reading.refusal


def test_a_folder_is_read_file_by_file_in_the_order_of_names(tmp_path: Path) -> None:
    (tmp_path / "runs" / "sub").mkdir(parents=True)
    (tmp_path / "runs" / ".hidden").write_text(ROWS)
    (tmp_path / "runs" / "sub" / "b.jsonl").write_text(ROWS)
    (tmp_path / "runs" / "a.jsonl").write_text(ROWS)
    (tmp_path / "runs" / "cut.json").write_text('{"messages": [{"role"')
    results = read_all(tmp_path / "runs")
    assert [result.reading.shown for result in results] == ["runs/a.jsonl", "runs/cut.json", "runs/sub/b.jsonl"]
    assert "cut off" in results[1].reading.refusal
