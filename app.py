"""Starts the web app: opens the data, serves the pages, stops the engine at the end.

A launcher and no page: a script beside `pages/` that is asked for `/some_page` first would be left out by Streamlit,
and with it navigation and settings. The entry of every page is `pages/entry.py`.
"""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from combee_core.errors import CombeeError  # noqa: E402  (found only once the root is on the path)
from combee_core.workspace import close_workspaces, open_workspace  # noqa: E402


@asynccontextmanager
async def lifespan(served: st.App) -> AsyncIterator[None]:
    """The data is open while the app serves; a run that is under way at the end can be resumed."""
    try:
        workspace = open_workspace()
    except CombeeError as error:
        print(error, file=sys.stderr, flush=True)
        # The server would print a traceback of its own around any exception.
        os._exit(1)
    print(f"Combee keeps its data in {workspace.path}", flush=True)
    try:
        yield
    finally:
        close_workspaces()


app = st.App(ROOT / "pages" / "entry.py", lifespan=lifespan)

if __name__ == "__main__":
    app.run()
