"""Starts the web app: opens the data, serves the pages, stops the engine at the end.

A launcher and no page: a script beside `pages/` that is asked for `/some_page` first would be left out by Streamlit,
and with it navigation and settings. The entry of every page is `pages/entry.py`.
"""

import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from combee_core.errors import CombeeError  # noqa: E402  (found only once the root is on the path)
from combee_core.workspace import Workspace, close_workspaces, open_workspace  # noqa: E402


@asynccontextmanager
async def lifespan(served: st.App) -> AsyncIterator[None]:
    """The data is open while the app serves; a run that is under way at the end can be resumed."""
    workspace = _open()
    address = f"http://{st.get_option('server.address')}:{st.get_option('server.port')}"
    print(f"Combee is at {address} and keeps its data in {workspace.path}. Ctrl-C stops it.", flush=True)
    try:
        yield
    finally:
        close_workspaces()


def _open() -> Workspace:
    """The workspace; the process ends with one sentence when it cannot be had."""
    try:
        return open_workspace()
    except CombeeError as error:
        print(error, file=sys.stderr, flush=True)
        # The server would print a traceback of its own around any exception.
        os._exit(1)


app = st.App(ROOT / "pages" / "entry.py", lifespan=lifespan)


def main() -> None:
    """Serve on the port that the environment's PORT names, 8501 without one, until Ctrl-C or SIGTERM."""
    port = _free_port(os.environ.get("PORT") or "8501")
    _open()  # before the server says that all is well
    try:
        app.run(config={"server.port": port})
    except KeyboardInterrupt:
        print("Combee has stopped.", flush=True)


def _free_port(text: str) -> int:
    """The port that `text` names; the process ends with one sentence when it cannot be served on."""
    try:
        port = int(text)
        socket.create_server(("127.0.0.1", port)).close()
    except (ValueError, OverflowError):
        sys.exit(f"PORT must be a number from 0 to 65535, not {text!r}.")
    except OSError as error:
        sys.exit(
            f"Combee cannot serve on port {text}: {error.strerror}. If it runs already, it is at "
            f"http://127.0.0.1:{text}; otherwise name a free port, for example `make app PORT=8600`."
        )
    return port


if __name__ == "__main__":
    main()
