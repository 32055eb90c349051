"""Real records with random damage: every importer makes a trace of what is left, or says what is missing."""

import contextlib
import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

from combee_core.importers.base import Context, Importer, Record, RecordError
from combee_core.importers.blob import file_blob
from combee_core.importers.detect import Detector
from combee_core.importers.json_text import clean
from combee_core.importers.opening import matched, open_records
from combee_core.importers.registry import FORMATS
from combee_core.importers.salvage import BadText
from combee_core.trace import Trace
from tests.importers.reading import SHARED, needs_shared

pytestmark = needs_shared
_JUNK = [None, True, 0, -1, 1.5, 10**25, "", "x", "{", "[1]", '{"a":1}', [], [None], ["x"], [[1]], [{}], {},
         {"a": None}, {"type": None}, {"role": []}, [{"type": ["x"]}], "\x00", "<think>",
         {"content": {"a": 1}}]  # fmt: skip
_SMALL, _RECORDS, _ROUNDS = 60_000, 30, 6


def files() -> list[Path]:
    left = {".md", ".txt", ".log", ".zip", ".eval"}
    return sorted(
        path
        for path in SHARED.rglob("*")
        if path.is_file() and path.suffix not in left and path.stat().st_size < _SMALL
    )


def damaged(value: Any, chance: random.Random) -> Any:
    value = json.loads(json.dumps(value))
    for _ in range(chance.choice([1, 1, 2, 4])):
        places = list(_places(value))
        if not places:
            return value
        place, key = chance.choice(places)
        what = chance.random()
        if what < 0.2 and isinstance(place, dict):
            del place[key]
        elif what < 0.4:
            place[key] = [place[key]] if what < 0.3 else json.dumps(place[key])
        else:
            place[key] = copy.deepcopy(chance.choice(_JUNK))
    return clean(value)


def _places(value: Any) -> Any:
    keys = list(value) if isinstance(value, dict) else range(min(len(value), 6)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def records(path: Path) -> list[tuple[Importer, list[Record]]]:
    by_importer: dict[str, tuple[Importer, list[Record]]] = {}
    opened = open_records(file_blob(path))
    with opened.reader:
        for found in matched(opened.records, Detector(list(FORMATS.values()))):
            if not isinstance(found, BadText) and found[1] is not None:
                known = by_importer.setdefault(found[1][0].name, (found[1][0], []))[1]
                if len(known) < _RECORDS:
                    known.append(found[0])
    return list(by_importer.values())


@pytest.mark.parametrize("seed", range(_ROUNDS))
def test_damaged_records_never_make_an_importer_stumble(seed: int) -> None:
    chance = random.Random(seed)
    for path in files():
        for importer, found in records(path):
            chosen = found if importer.gathers else [chance.choice(found)]
            hit = chance.randrange(len(chosen))
            for number, record in enumerate(chosen):
                if number == hit or chance.random() < 0.2:
                    chosen[number] = Record(damaged(record.value, chance), record.line, record.index)
            for other in FORMATS.values():
                other.recognise(chosen[hit].value)
            kept = [record for record in chosen if importer.recognise(record.value)]
            entries: list[object] = []
            with contextlib.suppress(RecordError):
                entries = list(importer.read(kept, Context("f", importer.name))) if kept else []
            for entry in entries:
                if isinstance(entry, Trace):
                    assert entry.id
                    assert entry.messages
                    assert entry.model_dump_json()
