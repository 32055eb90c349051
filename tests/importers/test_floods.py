"""A megabyte of nothing but bad records costs little time and little memory, and what is good in it comes in."""

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


@pytest.mark.parametrize("line", [b"{\n", b"[\n", b"{x\n", b"x\n", b"{x}\n", b'{"a":1}\n', b'"\n', b"[[\n"])
def test_a_flood_of_bad_lines_after_a_good_one(tmp_path: Path, line: bytes):
    path = tmp_path / "flood.jsonl"
    path.write_bytes(GOOD + line * (MEGABYTE // len(line)) + GOOD)
    # The best of three, for other processes of a busy machine slow this one down.
    for _ in range(3):
        started = time.process_time()
        found = [entry for reading in read_path(path) for entry in reading]
        spent = time.process_time() - started
        if spent < MOST_SECONDS:
            break
    assert spent < MOST_SECONDS
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
