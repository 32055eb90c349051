"""A megabyte of nothing but bad records costs little time and little memory, and what is good in it comes in."""

import io
import json
import time
import tracemalloc
from pathlib import Path

import pytest

from combee_core.importers import read_path
from combee_core.trace import Trace

GOOD = json.dumps({"messages": [{"role": "user", "content": "How are you?"}]}).encode() + b"\n"
MEGABYTE = 1 << 20
MOST_SECONDS, MOST_TIMES_ITS_SIZE = 2.0, 10
YARDSTICK_SECONDS = 0.06
"""What `yardstick` takes on an ordinary machine, on which the bound of 2 s a MB was set."""


def yardstick() -> float:
    """CPU seconds for work of the same kind: a busy or slow machine takes longer for this and for a flood alike."""
    started = time.process_time()
    for line in io.BytesIO(b"{\n" * (MEGABYTE // 4)):
        if line.strip() in (b"{", b"["):
            line.count(b"{")
    return time.process_time() - started


@pytest.mark.parametrize("line", [b"{\n", b"[\n", b"{x\n", b"x\n", b"{x}\n", b'{"a":1}\n', b'"\n', b"[[\n"])
def test_a_flood_of_bad_lines_after_a_good_one(tmp_path: Path, line: bytes):
    path = tmp_path / "flood.jsonl"
    path.write_bytes(GOOD + line * (MEGABYTE // len(line)) + GOOD)
    slower = max(1.0, yardstick() / YARDSTICK_SECONDS)
    started = time.process_time()
    found = [entry for reading in read_path(path) for entry in reading]
    spent = time.process_time() - started
    slower = max(slower, yardstick() / YARDSTICK_SECONDS)
    assert spent < MOST_SECONDS * slower
    assert sum(isinstance(entry, Trace) for entry in found) >= 1
    assert len(found) <= 10_010


@pytest.mark.parametrize("line", [b"{\n", b'{"a":1}\n'])
def test_a_flood_takes_little_memory(tmp_path: Path, line: bytes):
    path = tmp_path / "flood.jsonl"
    path.write_bytes(GOOD + line * (MEGABYTE // len(line) // 8))
    tracemalloc.start()
    for reading in read_path(path):
        for _ in reading:
            pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * MEGABYTE + MOST_TIMES_ITS_SIZE * path.stat().st_size
