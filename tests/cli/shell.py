"""Commands run in this process, and what they print."""

import json
from pathlib import Path
from typing import Any

import pytest

from combee_core.cli.main import run


class Shell:
    """Runs commands on one database in this process."""

    def __init__(self, db: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.db = db
        self._capsys = capsys

    def __call__(self, *arguments: object, code: int = 0) -> tuple[str, str]:
        self._capsys.readouterr()
        name, *rest = map(str, arguments)
        ended = run([name, "--db", str(self.db), *rest])
        out, err = self._capsys.readouterr()
        assert ended == code, err
        assert "Traceback" not in err
        return out, err

    def json(self, *arguments: object, code: int = 0) -> dict[str, Any]:
        out, _ = self(*arguments, "--json", code=code)
        return json.loads(out)
