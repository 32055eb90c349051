"""The workspace behind the pages of one test."""

import sys
from collections.abc import Iterator

import pytest

from combee_core.workspace import Workspace, close_workspaces, open_workspace


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    """The one that pages open too: an empty one in the test's own data folder, closed at the end."""
    yield open_workspace()
    close_workspaces()


@pytest.fixture(autouse=True)
def _main_module_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page under test takes the place of `__main__`, which processes that later tests start would then import."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
