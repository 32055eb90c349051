"""A model file of the user's own behind an OpenAI-compatible server on this machine: llama.cpp, from the extra `local`.

Slow without an accelerator, and good enough to try everything out without a key, an account or a network.
"""

import os
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from combee_core.errors import CombeeError

GGUF_MAGIC = b"GGUF"
HOST = "127.0.0.1"


@dataclass(frozen=True)
class ServedModel:
    """A server that answers for as long as this object is held: `model` is the name to ask for at `base_url`."""

    base_url: str
    model: str
    server: object


def serve_model(file: Path, port: int, context: int, slots: int, threads: int | None = None) -> ServedModel:
    """Load a GGUF file and answer at `port` of this machine (0: any free one), for this machine alone.

    `slots` calls are answered at once, each with room for `context` tokens, prompt and answer together, by `threads`
    threads (None: one a core). Raises CombeeError for a file that is no model, for a port in use, and where the extra
    `local` is not installed.
    """
    _check_file(file)
    llama = _llama()
    _check_port(port)
    params = llama.CommonParams()
    params.model.path = str(file)
    params.model_alias = {file.stem}
    params.hostnames, params.port = [HOST], port
    params.n_parallel, params.n_ctx = slots, slots * context
    params.cpuparams.n_threads = threads or -1
    # Nothing is fetched, nothing is kept of old prompts, and there is no second web page beside Combee's.
    params.offline, params.ui, params.cache_ram_mib, params.verbosity = True, False, 0, 0
    try:
        server = llama.Server(params)
    except RuntimeError as error:
        raise CombeeError(
            f"{file} starts like a GGUF file, but llama.cpp cannot load it: it is cut short, too large for this "
            "machine's memory, or of a kind that this release does not know. Fetch it again, or try another."
        ) from error
    return ServedModel(f"{server.listening_address}/v1", file.stem, server)


def _check_file(file: Path) -> None:
    if not file.is_file():
        raise CombeeError(f"There is no file {file}: give the path of a model in GGUF form.")
    try:
        with file.open("rb") as opened:
            start = opened.read(len(GGUF_MAGIC))
    except OSError as error:
        raise CombeeError(f"{file} cannot be read: {error.strerror}.") from error
    if start != GGUF_MAGIC:
        raise CombeeError(f"{file} is no GGUF file: a model for llama.cpp is one file that begins with GGUF.")


def _check_port(port: int) -> None:
    """The server would end the whole process over a port in use: ask for it first."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise CombeeError(f"Port {port} cannot be had ({error.strerror}): name another with --port.") from error


def _llama() -> Any:
    # Threads that spin while they wait for each other make a busy machine answer ten times slower; read at the import.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        import xllamacpp
    except ImportError as error:
        raise CombeeError(
            "Serving a model needs llama.cpp, which is Combee's extra `local`: install it with "
            f"{sys.executable} -m pip install xllamacpp"
        ) from error
    return xllamacpp
