"""The app in a process of its own, as a person would start it."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


class App:
    """The served app: its address, its data folder, its process, and `stop`.

    `command` starts it (by default `streamlit run app.py`) in a process group of its own; the environment's PORT names
    the port that it is to serve on.
    """

    def __init__(self, home: Path, command: Sequence[str] | None = None) -> None:
        self.home = home
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = home / "app.log"
        self._output = self.log.open("w")
        self.process = subprocess.Popen(
            command or [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(self.port)],
            cwd=ROOT,
            env=environment(home) | {"PORT": str(self.port)},
            stdout=self._output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            wait_until(self.ready, 60, "the app to answer")
        except AssertionError:
            self.stop()
            raise

    def ready(self) -> bool:
        """Whether it answers; AssertionError with what it printed when it has ended instead."""
        if self.process.poll() is not None:
            raise AssertionError(f"the app has ended: {self.printed()[-2000:]}")
        return is_served(self.url)

    def printed(self) -> str:
        """What it has printed so far."""
        return self.log.read_text()

    def stop(self) -> int:
        """End the app as a person would, with SIGTERM; returns its exit code."""
        self.process.terminate()
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self._output.close()


def environment(home: Path) -> dict[str, str]:
    """The environment of a new process: data in `home`, no key."""
    kept = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
    return kept | {"COMBEE_HOME": str(home)}


def is_served(url: str) -> bool:
    """Whether an app answers there."""
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2) as answer:
            return bool(answer.read() == b"ok")
    except (urllib.error.URLError, OSError):
        return False


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Return as soon as `condition` holds; AssertionError after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.05)
