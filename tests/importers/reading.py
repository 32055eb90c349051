"""Helpers of these tests: read bytes as a file, and tell traces from rejects."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from combee_core.importers import FileReading, Reject, read_path
from combee_core.trace import Trace

SHARED = Path(__file__).resolve().parents[3] / "shared" / "traces"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason=f"the shared trace files are not there: {SHARED}")


@dataclass
class Result:
    reading: FileReading
    traces: list[Trace]
    rejects: list[Reject]


def read_all(path: Path, format: str | None = None) -> list[Result]:
    results = []
    for reading in read_path(path, path.name, format):
        found = list(reading)
        traces = [entry for entry in found if isinstance(entry, Trace)]
        results.append(Result(reading, traces, [entry for entry in found if isinstance(entry, Reject)]))
    return results


def read(path: Path, format: str | None = None) -> Result:
    (result,) = read_all(path, format)
    return result


def read_text(folder: Path, text: str | bytes, name: str = "file.dat", format: str | None = None) -> Result:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(path, format)


def lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def chat(question: str, answer: str, **fields: object) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": question}, {"role": "assistant", "content": answer}], **fields}
