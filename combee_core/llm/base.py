"""What a chat model is to the rest of Combee: messages in, text out, everything it spends counted as it happens."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from combee_core.errors import CombeeError

FailureKind = Literal[
    "rate_limited",
    "server_error",
    "timeout",
    "connection",
    "auth",
    "bad_request",
    "empty",
    "truncated",
    "not_json",
    "wrong_shape",
    "refusal",
    "unexpected",
]


class CallFailed(CombeeError):
    """No usable answer came, after all retries; `kind` says which failure was the last."""

    def __init__(self, kind: FailureKind, message: str) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind


@dataclass(frozen=True)
class Completion:
    """One answer: its text, why it ended (`length` means cut off), the refusal if the model refused."""

    text: str
    finish_reason: str = "stop"
    refusal: str = ""
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True)
class Embedded:
    """One vector a text, in order, all of one length."""

    vectors: list[list[float]]
    input_tokens: int = 0
    output_tokens: int = 0


class Usage(Protocol):
    """What of an answer is paid for."""

    @property
    def input_tokens(self) -> int:
        """Tokens that were sent, as the endpoint counts them; 0 when it does not say."""
        ...

    @property
    def output_tokens(self) -> int:
        """Tokens of the answer."""
        ...


class Permit(Protocol):
    """Leave to send one request."""

    def settle(self, answer: Usage | None) -> None:
        """Say what came of the request; None: no answer."""
        ...


class _Free:
    """Leave where nothing is kept count of."""

    def settle(self, answer: Usage | None) -> None:
        pass


Admit = Callable[[int], Awaitable[Permit]]
"""Is given the characters of a request that is about to be sent, and returns when it may be."""


@dataclass
class Meter:
    """What one node of the merge tree has spent so far; it survives a call that fails or is cancelled.

    `requests` counts what was sent, whatever came back; `failed` those without a usable answer, by kind in `failures`.
    Tokens are sums of what the endpoint reported, unusable answers included; `input_chars` are the characters of the
    requests that it reported on. `cost_usd` None: a price is unknown. `admit` stands in front of every request.
    """

    requests: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    input_chars: int = 0
    cost_usd: float | None = 0.0
    failures: Counter[str] = field(default_factory=Counter)
    on_failure: Callable[[FailureKind], None] | None = None
    admit: Admit | None = None

    async def begin(self, input_chars: int) -> Permit:
        """Wait until a request of so many characters may be sent, and count it as sent.

        Whoever sends it settles the permit. Raises what `admit` raises when it must not be sent.
        """
        permit = _Free() if self.admit is None else await self.admit(input_chars)
        self.requests += 1
        return permit

    def fail(self, kind: FailureKind) -> None:
        """Count one request without a usable answer, and tell `on_failure` at once."""
        self.failed += 1
        self.failures[kind] += 1
        if self.on_failure is not None:
            self.on_failure(kind)

    def spend(self, input_tokens: int, output_tokens: int, cost_usd: float | None, input_chars: int = 0) -> None:
        """Add the usage of one answer to a request of so many characters."""
        self.input_chars += input_chars if input_tokens else 0
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens
        self.cost_usd = None if self.cost_usd is None or cost_usd is None else self.cost_usd + cost_usd


@dataclass(frozen=True)
class ChatMessage:
    """One message of a request."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class AnswerSchema:
    """The JSON schema that an answer should follow; endpoints that cannot hold to it get the request without."""

    name: str
    schema: dict[str, Any]


class ChatModel(Protocol):
    """A model that answers chat requests, many at once."""

    name: str

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        meter: Meter,
        schema: AnswerSchema | None = None,
        max_tokens: int | None = None,
    ) -> Completion:
        """Send one request, again while it fails for reasons that pass. Raises CallFailed when none was answered."""
        ...

    async def embed(self, texts: Sequence[str], meter: Meter) -> list[list[float]]:
        """One vector a text. Raises CallFailed when the endpoint has none to give."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...
