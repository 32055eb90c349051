"""How many requests a session of a run has sent, kept in a file of its own so that not even a kill loses count of one.

Nodes are on record only once their calls have ended; what was in flight when the process died was sent, and paid for.
"""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from combee_core.store.database import Database


class Session(NamedTuple):
    """A session that ended without a word: the run's calls and seconds by its end, earlier sessions included."""

    run: str
    calls: int
    wall_s: float


class Ledger:
    """One session of a run; `calls` and `wall_s` are what earlier ones have come to. The file begins with a request."""

    def __init__(self, database: Database, run: str, calls: int, wall_s: float) -> None:
        self._path = _folder(database) / run
        self._before = f"{calls} {wall_s:.3f}"
        self._began = time.time()
        self._file: int | None = None

    def sent(self) -> None:
        """Count a request that is about to be sent."""
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
            self._write(f"{self._before} {self._began:.3f}")
        self._write(f"{time.time():.3f}")

    def close(self) -> None:
        """Forget the session: all that it has sent is on record."""
        if self._file is not None:
            os.close(self._file)
            self._path.unlink(missing_ok=True)
            with suppress(OSError):
                self._path.parent.rmdir()

    def _write(self, line: str) -> None:
        assert self._file is not None
        os.write(self._file, f"{line}\n".encode())


def left_behind(database: Database) -> Iterator[Session]:
    """The sessions whose process has died. Each is forgotten once the caller has gone on to the next."""
    folder = _folder(database)
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        with suppress(ValueError):
            yield _read(path)
        path.unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def _read(path: Path) -> Session:
    """Raises ValueError for a file that was cut off before its first request."""
    head, *sent = path.read_text(errors="replace").splitlines()
    calls, wall_s, began = head.split()
    last = float(sent[-1]) if sent else float(began)
    return Session(path.name, int(calls) + len(sent), float(wall_s) + last - float(began))


def _folder(database: Database) -> Path:
    return database.path.parent / f"{database.path.stem}-requests"
