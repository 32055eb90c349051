"""Benches for whole runs."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.engine.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Callable[[int], Bench]]:
    made: list[Bench] = []

    def make(n: int) -> Bench:
        made.append(Bench(tmp_path / f"{len(made)}.duckdb", n))
        return made[-1]

    yield make
    for one in made:
        one.close()
