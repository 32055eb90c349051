"""Which kept files were given to an import together and in what way, so that they can be read together again.

A run may lie in several files: read alone, its log would lose the outcome that stands in the file beside it.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from combee_core.store.database import Database
from combee_core.store.originals import CHUNK, Originals


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A kept file by its SHA-256: `given` is the name of the file or folder that was given, `place` its path in that
    folder, empty for a file.
    """

    sha256: str
    given: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class Gathering:
    """Files that were given together; `format` and `mapping` are those that were asked for."""

    files: tuple[KeptFile, ...]
    format: str | None = None
    mapping: dict[str, str] | None = None


class Gatherings:
    """The table of the same name."""

    def __init__(self, database: Database, originals: Originals) -> None:
        self._database = database
        self._originals = originals

    def add(self, gathering: Gathering) -> None:
        """Remember a gathering, once."""
        written = orjson.dumps(asdict(gathering), option=orjson.OPT_SORT_KEYS)
        with self._database.write() as cursor:
            cursor.execute(
                "insert or ignore into gatherings (key, gathering) values (?, ?)",
                [hashlib.sha256(written).hexdigest(), written.decode()],
            )

    def all(self) -> list[Gathering]:
        """Every gathering, oldest first, then each file that earlier releases have kept as one of its own."""
        found = [
            _gathering_of(orjson.loads(row["gathering"]))
            for row in self._database.rows("select gathering from gatherings order by number")
        ]
        known = {file.sha256 for gathering in found for file in gathering.files}
        kept = self._originals.all()
        alone = [Gathering((KeptFile(row["sha256"], row["name"]),)) for row in kept if row["sha256"] not in known]
        return [*found, *alone]

    @contextmanager
    def laid_out(self, gathering: Gathering) -> Iterator[dict[Path, str]]:
        """The files where they lay to each other, for as long as the block runs: the path of each file and folder that
        was given, with the name that it had. Raises StoreError when a copy is gone.
        """
        with tempfile.TemporaryDirectory(dir=self._originals.folder) as root:
            paths: dict[str, Path] = {}
            for file in gathering.files:
                name = Path(file.given).name.strip(".") or "file"
                top = paths.setdefault(file.given, Path(root, str(len(paths)), name))
                target = top / file.place
                target.parent.mkdir(parents=True, exist_ok=True)
                with self._originals.open(file.sha256) as source, target.open("wb") as copy:
                    shutil.copyfileobj(source, copy, CHUNK)
            yield {path: given for given, path in paths.items()}


def _gathering_of(plain: dict[str, Any]) -> Gathering:
    return Gathering(tuple(KeptFile(**file) for file in plain["files"]), plain["format"], plain["mapping"])
