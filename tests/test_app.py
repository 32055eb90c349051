"""The launcher: how the app is started, what it says when it cannot start, and how it ends."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.served import ROOT, App, environment, is_served

PYTHON = [sys.executable, "app.py"]
STREAMLIT = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", "0"]
# What is installed already must stay as it is: `-o install` takes that rule for done.
MAKE = ["make", "-o", "install", "app", f"BIN={Path(sys.executable).parent}"]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    served = App(tmp_path_factory.mktemp("combee-home"), MAKE)
    yield served
    served.stop()


def started(command: list[str], home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A start of the app that is expected to end by itself."""
    return subprocess.run(
        command,
        env=environment(home) | variables,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def owner(app: App) -> int:
    """The process that has the data: what `make app` has started."""
    found = re.search(r"process (\d+)", started(PYTHON, app.home, PORT="0").stderr)
    assert found
    return int(found[1])


def test_make_app_prints_its_address_and_where_the_data_is(app: App):
    assert f"Combee is at {app.url} and keeps its data in {app.home / 'combee.duckdb'}" in app.printed()


@pytest.mark.parametrize("command", [PYTHON, STREAMLIT], ids=["python", "streamlit"])
def test_a_second_app_on_the_same_data_ends_with_one_sentence(app: App, command: list[str]):
    told = started(command, app.home, PORT="0")
    assert told.returncode == 1
    assert re.search(rf"{app.home / 'combee.duckdb'}.*process \d+", told.stderr)
    assert "Traceback" not in told.stderr + told.stdout


def test_the_command_line_is_told_who_holds_the_data_while_the_app_runs(app: App):
    data = str(app.home / "combee.duckdb")
    told = started([sys.executable, "-m", "combee_core.cli", "runs", "--db", data], app.home)
    assert told.returncode == 1
    assert told.stdout == ""
    assert f"process {owner(app)}" in told.stderr
    assert "Traceback" not in told.stderr


def test_a_taken_port_is_told_in_one_sentence(app: App, tmp_path: Path):
    told = started(PYTHON, tmp_path, PORT=str(app.port))
    assert told.returncode == 1
    assert told.stderr.count("\n") == 1
    assert f"cannot serve on port {app.port}" in told.stderr


@pytest.mark.parametrize("port", ["http", "70000", "-1", "8501.5"])
def test_an_impossible_port_is_told_in_one_sentence(tmp_path: Path, port: str):
    told = started(PYTHON, tmp_path, PORT=port)
    assert told.returncode == 1
    assert told.stderr == f"PORT must be a number from 0 to 65535, not {port!r}.\n"


def test_sigterm_to_make_ends_the_server_and_frees_the_data(tmp_path: Path):
    served = App(tmp_path, MAKE)
    server = owner(served)
    assert server != served.process.pid
    assert served.stop() == -signal.SIGTERM
    assert not is_served(served.url)
    with pytest.raises(ProcessLookupError):
        os.kill(server, 0)
    again = App(tmp_path, PYTHON)
    assert again.stop() in (0, -signal.SIGTERM)


def test_only_this_machine_reaches_the_app(app: App):
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.2", app.port), timeout=2)


def test_ctrl_c_ends_the_app_without_complaint(tmp_path: Path):
    served = App(tmp_path, MAKE)
    os.killpg(served.process.pid, signal.SIGINT)
    assert served.process.wait(20) in (0, -signal.SIGINT)
    assert not is_served(served.url)
    assert served.printed().endswith("Combee has stopped.\n")
