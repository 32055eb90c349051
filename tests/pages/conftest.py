"""The workspace behind the pages of one test."""

from collections.abc import Iterator

import pytest

from combee_core.workspace import Workspace, close_workspaces, open_workspace


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    """The one that pages open too: an empty one in the test's own data folder, closed at the end."""
    yield open_workspace()
    close_workspaces()
