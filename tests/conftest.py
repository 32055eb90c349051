"""Fixtures that every test may use."""

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.stand_in import StandIn

# A busy machine makes single examples slow; how long a test may take is pytest's time-out.
settings.register_profile("combee", deadline=None)
settings.load_profile("combee")


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    """A stand-in OpenAI server of the test's own; no key is set in the environment."""
    with StandIn() as server:
        yield server


@pytest.fixture(autouse=True)
def _no_key_and_no_home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests never read the key or the data of whoever runs them."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("COMBEE_HOME", str(tmp_path_factory.mktemp("home")))


@pytest.fixture(autouse=True, scope="session")
def _heeds_ctrl_c() -> Iterator[None]:
    """Whoever runs the tests in the background has them ignore Ctrl-C, and processes that tests start inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
