"""How close an import comes to its floors: parse, hash and one Arrow insert of the same text.

    python -m benchmarks.import

Writes 200 MB of made chat traces of about 2 KB each, then prints import time / floor, the time of a second import of
the same file / the first, and the memory that both took above an idle workspace. A floor is a parser (`orjson`, and the
standard `json`) + SHA-256 + Arrow batches of 2,000 in one transaction, measured in turn with the import in the same
run. Floors and first import end when the database file is closed, with everything in it.
"""

import hashlib
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pyarrow as pa

TRACES = 92_500
ROUNDS = 3
FLOORS: dict[str, tuple[Callable[[bytes], Any], float]] = {"orjson": (orjson.loads, 1.3), "json": (json.loads, 2.0)}
"""The parser of each floor, and how many times that floor an import may take at most."""
GOAL_AGAIN = 1 / 3
GOAL_MB = 300


def write_traces(path: Path) -> None:
    """Chats with a tool call, 2 KB each, from a vocabulary of 5,000 made words."""
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(3, 9))) for _ in range(5_000)]

    def text(length: int) -> str:
        return " ".join(draw.choices(words, k=length))

    with path.open("w") as file:
        for number in range(TRACES):
            call = {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": "find", "arguments": f'{{"id": {number}}}'},
            }
            messages = [
                {"role": "system", "content": "You are the agent of a shop."},
                {"role": "user", "content": text(60)},
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": f"call_{number}", "content": text(90)},
                {"role": "assistant", "content": text(80)},
            ]
            file.write(json.dumps({"messages": messages, "score": draw.random(), "feedback": text(20)}) + "\n")


def floor(path: Path, database: Path, parse: Callable[[bytes], Any]) -> float:
    """Seconds of the least that any importer with this parser has to do."""
    started = time.perf_counter()
    connection = duckdb.connect(str(database), config={"threads": "2", "memory_limit": "1GB"})
    connection.execute("create table texts (hash varchar, text varchar)")
    connection.execute("begin")
    rows: list[dict[str, str]] = []
    with path.open("rb") as file:
        for line in file:
            parse(line)
            rows.append({"hash": hashlib.sha256(line).hexdigest(), "text": line.decode()})
            if len(rows) == 2_000:
                connection.register("batch", pa.Table.from_pylist(rows))
                connection.execute("insert into texts select * from batch")
                rows = []
    if rows:
        connection.register("batch", pa.Table.from_pylist(rows))
        connection.execute("insert into texts select * from batch")
    connection.execute("commit")
    connection.close()
    return time.perf_counter() - started


IMPORT = """
import sys, time
import pandas, pyarrow
from combee_core.workspace import Workspace
workspace = Workspace(sys.argv[1])
def memory(which):
    line = next(line for line in open('/proc/self/status') if line.startswith(which))
    return int(line.split()[1]) / 1024
idle = memory('VmRSS')
started = time.perf_counter()
report = workspace.import_paths([sys.argv[2]])
assert report.new == int(sys.argv[3]), report
workspace.close()
first = time.perf_counter() - started
workspace = Workspace(sys.argv[1])
started = time.perf_counter()
report = workspace.import_paths([sys.argv[2]])
assert report.duplicates == int(sys.argv[3]), report
workspace.close()
print(first, time.perf_counter() - started, memory('VmHWM') - idle)
"""


def product(path: Path, database: Path) -> tuple[float, float, float]:
    """Seconds of a first and of a second import in a process of its own, and its peak memory above idle in MB."""
    told = subprocess.run(
        [sys.executable, "-c", IMPORT, str(database), str(path), str(TRACES)],
        capture_output=True,
        text=True,
        check=True,
    )
    first, second, memory = map(float, told.stdout.split())
    return first, second, memory


def main() -> None:
    """Print the rounds, then the median ratios beside their goals."""
    ratios: dict[str, list[float]] = {name: [] for name in FLOORS}
    again, memories = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chats.jsonl"
        write_traces(path)
        print(f"{TRACES:,} traces, {path.stat().st_size / 1e6:.0f} MB")
        for number in range(ROUNDS):
            first, second, memory = product(path, Path(folder) / f"combee{number}.duckdb")
            again.append(second / first)
            memories.append(memory)
            print(f"import {first:.1f} s; again {second:.2f} s: {again[-1]:.2f} of it; {memory:.0f} MB above idle")
            for name, (parse, _) in FLOORS.items():
                least = floor(path, Path(folder) / f"{name}{number}.duckdb", parse)
                ratios[name].append(first / least)
                print(f"    floor with {name} {least:.1f} s: ratio {ratios[name][-1]:.2f}")
    for name, (_, goal) in FLOORS.items():
        print(f"median ratio to the floor with {name} {statistics.median(ratios[name]):.2f} (goal {goal})")
    print(f"median ratio of a second import {statistics.median(again):.2f} (goal {GOAL_AGAIN:.2f})")
    print(f"most memory {max(memories):.0f} MB (goal {GOAL_MB})")


if __name__ == "__main__":
    main()
