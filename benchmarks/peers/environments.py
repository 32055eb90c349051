"""A virtual environment for each peer, made when it is first needed, and kept."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / ".environments"


@dataclass(frozen=True)
class Peer:
    """A package to compare with, what it needs beside itself, and the least Python it runs on."""

    name: str
    needs: tuple[str, ...]
    python: tuple[int, int]


GEPA = Peer("gepa", ("gepa==0.1.4", "litellm"), (3, 11))
KAYBA = Peer("kayba", ("ace-framework==0.13.0", "pydantic-ai-slim[openai]"), (3, 12))


class Missing(Exception):
    """A peer cannot be run here; the message says why and what to do."""


def environment(peer: Peer, named: str | None = None) -> Path:
    """The Python of a peer's environment. `named` is a Python to make it with. Raises Missing."""
    folder = FOLDER / peer.name
    python, ready = folder / "bin" / "python", folder / ".ready"
    if ready.exists():
        return python
    made_with = _python_for(peer, named)
    print(f"(making an environment for {peer.name}, once)", flush=True)
    _run([made_with, "-m", "venv", "--clear", str(folder)], peer)
    _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *peer.needs], peer)
    ready.touch()
    return python


def _python_for(peer: Peer, named: str | None) -> str:
    candidates = [named] if named else [sys.executable, *(f"python3.{minor}" for minor in range(peer.python[1], 20))]
    for candidate in candidates:
        if shutil.which(candidate) and _version(candidate) >= peer.python:
            return candidate
    wanted = ".".join(map(str, peer.python))
    raise Missing(f"{peer.name} needs Python {wanted}, and there is none here: name one with --python PATH.")


def _version(python: str) -> tuple[int, ...]:
    told = subprocess.run(
        [python, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True, check=False
    )
    return tuple(map(int, told.stdout.split()))


def _run(command: list[str], peer: Peer) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise Missing(f"{peer.name} cannot be installed here: {''.join(last)}")
