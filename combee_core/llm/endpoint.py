"""Any OpenAI-compatible endpoint: requests over the openai client, retries that honour Retry-After, plain errors.

How many requests may be in flight is the engine's business; what an answer means is that of `structured`.
"""

import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from combee_core.llm.answer import completion_of, embedded_of
from combee_core.llm.base import AnswerSchema, CallFailed, ChatMessage, Completion, Embedded, Meter
from combee_core.llm.client import Connection, connect
from combee_core.llm.failures import RequestFailed, failure_of, refused_parameter
from combee_core.llm.prices import cost

OPENAI_URL = "https://api.openai.com/v1"
MAX_BACKOFF_S = 30.0

Answer = TypeVar("Answer")
Counted = TypeVar("Counted", Completion, Embedded)


class Endpoint(BaseModel):
    """Where and how to ask; holds no key, so that it can be stored and shown.

    `timeout_s` is for one request, `max_attempts` how often a request is sent while it fails for reasons that pass,
    `backoff_s` the first wait between attempts (it doubles). `temperature` None leaves it to the endpoint. With an
    `embedding_model` the near-duplicates of a new version are found by its embeddings, else by their wording.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: str = OPENAI_URL
    model: str = Field(min_length=1)
    timeout_s: float = Field(default=300.0, gt=0)
    max_attempts: int = Field(default=6, ge=1, le=20)
    backoff_s: float = Field(default=0.5, ge=0)
    temperature: float | None = 0.2
    max_output_tokens: int | None = Field(default=None, ge=1)
    embedding_model: str | None = Field(default=None, min_length=1)


class OpenAIModel:
    """A ChatModel at an endpoint. What the endpoint refuses (a parameter, a schema) is left out from then on."""

    def __init__(self, endpoint: Endpoint, api_key: str | None) -> None:
        self.name = endpoint.model
        self._endpoint = endpoint
        self._key = (api_key or "").strip()
        self._connection: Connection | None = None
        self._refused: set[str] = set()

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        meter: Meter,
        schema: AnswerSchema | None = None,
        max_tokens: int | None = None,
    ) -> Completion:
        """Send one request, again while it fails for reasons that pass. Raises CallFailed when none was answered."""
        room = max_tokens or self._endpoint.max_output_tokens
        return await self._tried(lambda: self._fitted(messages, meter, schema, room))

    async def embed(self, texts: Sequence[str], meter: Meter) -> list[list[float]]:
        """One vector a text, of the endpoint's `embedding_model`; sent again, counted and refused as `complete` is."""
        return await self._tried(lambda: self._embedded(texts, meter))

    async def _tried(self, send: Callable[[], Awaitable[Answer]]) -> Answer:
        tries = AsyncRetrying(
            stop=stop_after_attempt(self._endpoint.max_attempts),
            wait=self._wait,
            retry=retry_if_exception(lambda error: isinstance(error, RequestFailed) and error.passing),
            reraise=True,
        )
        try:
            async for attempt in tries:
                with attempt:
                    return await send()
        except RequestFailed as failure:
            raise CallFailed(failure.kind, str(failure)) from failure
        raise AssertionError("tenacity ends with a result or an error")

    async def aclose(self) -> None:
        """Close the connections."""
        if self._connection is not None:
            await self._connection.aclose()
            self._connection = None

    def _wait(self, state: RetryCallState) -> float:
        """Seconds until the next attempt: what the endpoint asks for, else doubling with jitter."""
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, RequestFailed) and error.retry_after is not None:
            return error.retry_after
        backoff: float = self._endpoint.backoff_s * 2 ** (state.attempt_number - 1)
        return min(backoff, MAX_BACKOFF_S) * random.uniform(0.5, 1.0)

    async def _fitted(
        self, messages: Sequence[ChatMessage], meter: Meter, schema: AnswerSchema | None, max_tokens: int | None
    ) -> Completion:
        """Send the request without whatever the endpoint refuses; each refusal is remembered, so this ends."""
        while True:
            body = self._body(messages, schema, max_tokens)
            try:
                return await self._send(body, meter)
            except RequestFailed as failure:
                refused = refused_parameter(failure, body)
                if refused is None:
                    raise
                self._refused.add(refused)

    def _body(
        self, messages: Sequence[ChatMessage], schema: AnswerSchema | None, max_tokens: int | None
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._endpoint.model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
        }
        if self._endpoint.temperature is not None and "temperature" not in self._refused:
            body["temperature"] = self._endpoint.temperature
        if schema is not None and "json_schema" not in self._refused:
            described = {"name": schema.name, "schema": schema.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": described}
        elif schema is not None and "json_object" not in self._refused:
            body["response_format"] = {"type": "json_object"}
        if max_tokens is not None and "max_tokens" not in self._refused:
            body["max_tokens"] = max_tokens
        elif max_tokens is not None and "max_completion_tokens" not in self._refused:
            body["max_completion_tokens"] = max_tokens
        return body

    async def _send(self, body: dict[str, Any], meter: Meter) -> Completion:
        chars = sum(len(message["content"]) for message in body["messages"])

        def read(content: bytes) -> Completion:
            return completion_of(content, self._endpoint.base_url, self._key)

        return await self._asked("/chat/completions", body, chars, read, meter)

    async def _embedded(self, texts: Sequence[str], meter: Meter) -> list[list[float]]:
        body = {"model": self._endpoint.embedding_model, "input": list(texts)}

        def read(content: bytes) -> Embedded:
            return embedded_of(content, len(texts), self._endpoint.base_url, self._key)

        return (await self._asked("/embeddings", body, sum(map(len, texts)), read, meter)).vectors

    async def _asked(
        self, path: str, body: dict[str, Any], chars: int, read: Callable[[bytes], Counted], meter: Meter
    ) -> Counted:
        """One request, counted: what `read` makes of its answer. Raises RequestFailed."""
        import openai

        connection, model = self.connect(), body["model"]
        permit, answer = await meter.begin(chars), None
        try:
            answer = read(await connection.post(path, body))
        except openai.OpenAIError as error:
            failure = failure_of(error, self._endpoint.base_url, model, self._key)
            meter.fail(failure.kind)
            raise failure from error
        except RequestFailed as failure:
            meter.fail(failure.kind)
            raise
        finally:
            permit.settle(answer)
        used = (answer.input_tokens, answer.output_tokens)
        price = cost(model, self._endpoint.base_url, *used) if any(used) else None
        meter.spend(*used, price, chars)
        return answer

    def connect(self) -> Connection:
        """The connection, made when it is first needed. Raises CallFailed when no request can be sent at all."""
        if self._connection is None:
            self._connection = connect(self._endpoint.base_url, self._key, self._endpoint.timeout_s)
            # The price list is large: read it now, not when the first answer waits to be counted.
            cost(self._endpoint.model, self._endpoint.base_url, 0, 0)
        return self._connection
