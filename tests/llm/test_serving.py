"""Serving a model file: what is wrong with a file, a port or an installation is said in one sentence."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from combee_core.cli.main import run
from combee_core.errors import CombeeError
from combee_core.llm.serving import serve_model


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A file that begins as a model does."""
    path = tmp_path / "tiny.gguf"
    path.write_bytes(b"GGUF" + bytes(100))
    return path


class FakeLlama(ModuleType):
    """Stands in for the extra: the tests never need it."""

    def __init__(self) -> None:
        super().__init__("xllamacpp")
        self.asked: SimpleNamespace | None = None
        self.broken = False

    def CommonParams(self) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace(model=SimpleNamespace(path=""), cpuparams=SimpleNamespace(n_threads=-1))

    def Server(self, params: SimpleNamespace) -> SimpleNamespace:  # noqa: N802
        if self.broken:
            raise RuntimeError("Failed to init server, please check the input params.")
        self.asked = params
        return SimpleNamespace(listening_address=f"http://127.0.0.1:{params.port}")


@pytest.fixture
def llama(monkeypatch: pytest.MonkeyPatch) -> FakeLlama:
    fake = FakeLlama()
    monkeypatch.setitem(sys.modules, "xllamacpp", fake)
    return fake


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert run(["serve-model", *map(str, arguments)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    return err.strip().splitlines()[-1]


def test_a_file_that_is_not_there_is_named(capsys, tmp_path):
    assert f"There is no file {tmp_path / 'no.gguf'}" in refused(capsys, tmp_path / "no.gguf")


def test_a_folder_is_no_model(capsys, tmp_path):
    assert "There is no file" in refused(capsys, tmp_path)


def test_a_file_of_another_kind_is_no_model(capsys, tmp_path):
    other = tmp_path / "model.safetensors"
    other.write_bytes(b"{}")
    assert "is no GGUF file" in refused(capsys, other)


def test_without_the_extra_it_says_how_to_install_it(capsys, model, monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    assert f"{sys.executable} -m pip install xllamacpp" in refused(capsys, model)


def test_a_model_that_llama_cannot_load_is_named(capsys, model, llama):
    llama.broken = True
    assert f"{model} starts like a GGUF file, but llama.cpp cannot load it" in refused(capsys, model, "--port", 0)


def test_a_port_in_use_is_named(capsys, model, llama):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"Port {port} cannot be had" in refused(capsys, model, "--port", port)


def test_slots_share_one_context_and_nobody_else_on_the_network_is_served(model, llama):
    served = serve_model(model, port=0, context=4096, slots=3, threads=2)
    assert served.model == "tiny"
    assert served.base_url.endswith("/v1")
    assert llama.asked is not None
    assert (llama.asked.n_ctx, llama.asked.n_parallel) == (3 * 4096, 3)
    assert llama.asked.cpuparams.n_threads == 2
    assert llama.asked.hostnames == ["127.0.0.1"]
    assert llama.asked.model_alias == {"tiny"}
    assert llama.asked.offline


def test_waiting_threads_are_passive_unless_the_user_has_chosen(model, llama, monkeypatch):
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    serve_model(model, port=0, context=512, slots=1)
    assert os.environ["OMP_WAIT_POLICY"] == "active"
    del os.environ["OMP_WAIT_POLICY"]
    serve_model(model, port=0, context=512, slots=1)
    assert os.environ["OMP_WAIT_POLICY"] == "passive"


def test_a_file_that_may_not_be_read_is_said_in_one_sentence(model, monkeypatch):
    def no(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", no)
    with pytest.raises(CombeeError, match="cannot be read: Permission denied"):
        serve_model(model, port=0, context=512, slots=1)


FAKE = """
class CommonParams:
    class model: path = ""
    class cpuparams: n_threads = -1

class Server:
    def __init__(self, params):
        self.listening_address = f"http://127.0.0.1:{params.port}"

    def __del__(self):
        import time
        time.sleep(1000)  # as llama.cpp does: it waits for the answers that are being written
"""


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_the_base_url_and_stops_when_told_to(model, tmp_path, stop):
    (tmp_path / "xllamacpp.py").write_text(FAKE)
    command = [sys.executable, "-m", "combee_core.cli", "serve-model", str(model), "--port", "0"]
    paths = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": paths}
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "http://127.0.0.1:0/v1\n"
        server.send_signal(stop)
        out, err = server.communicate()
    assert server.returncode == 0
    assert out == ""
    assert err.splitlines()[-1] == "Stopped."
