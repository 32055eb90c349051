"""How close an import comes to its floor: parse, hash and one Arrow insert of the same text.

    python -m benchmarks.import

Writes 200 MB of made chat traces of about 2 KB each, then prints import time / floor, the time of a second import of
the same file / the first, and the memory that both took above an idle workspace. The floor is `orjson` + SHA-256 +
Arrow batches of 2,000 in one transaction, measured in turn with the import in the same run. Floor and first import end
when the database file is closed, with everything in it.
"""

import hashlib
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import orjson
import pyarrow as pa

TRACES = 92_500
ROUNDS = 3
GOAL = 1.3
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


def floor(path: Path, database: Path) -> float:
    """Seconds of the least that any importer has to do."""
    started = time.perf_counter()
    connection = duckdb.connect(str(database), config={"threads": "2", "memory_limit": "1GB"})
    connection.execute("create table texts (hash varchar, text varchar)")
    connection.execute("begin")
    rows: list[dict[str, str]] = []
    with path.open("rb") as file:
        for line in file:
            orjson.loads(line)
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
    """Print the rounds, then the median ratio beside its goal."""
    ratios, again, memories = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chats.jsonl"
        write_traces(path)
        print(f"{TRACES:,} traces, {path.stat().st_size / 1e6:.0f} MB")
        for number in range(ROUNDS):
            least = floor(path, Path(folder) / f"floor{number}.duckdb")
            first, second, memory = product(path, Path(folder) / f"combee{number}.duckdb")
            ratios.append(first / least)
            again.append(second / first)
            memories.append(memory)
            print(
                f"import {first:.1f} s, floor {least:.1f} s: ratio {ratios[-1]:.2f}; again {second:.2f} s: "
                f"{again[-1]:.2f} of the first; {memory:.0f} MB above idle"
            )
    print(f"median ratio {statistics.median(ratios):.2f} (goal {GOAL})")
    print(f"median ratio of a second import {statistics.median(again):.2f} (goal {GOAL_AGAIN:.2f})")
    print(f"most memory {max(memories):.0f} MB (goal {GOAL_MB})")


if __name__ == "__main__":
    main()
