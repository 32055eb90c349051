"""A server in a process of its own, for the time of a block."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def address_of(module: str, *options: str) -> Iterator[str]:
    """Start `python -m MODULE OPTIONS`, which prints its address first; end it with the block."""
    server = subprocess.Popen([sys.executable, "-m", module, *options], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait()
