"""What a failed request means: its kind, whether it passes by itself, and one sentence for the person who reads it."""

import email.utils
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from combee_core.errors import CombeeError
from combee_core.llm.base import FailureKind

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAIError

LONGEST_WAIT_S = 120.0
# Too many requests, service unavailable, and what some endpoints answer when overloaded.
OVERLOADED = (429, 503, 529)


class RequestFailed(CombeeError):
    """One request without an answer. `passing`: the same request may work later, `retry_after` seconds from now."""

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        passing: bool = False,
        retry_after: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.passing = passing
        self.retry_after = retry_after
        self.status = status


def failure_of(error: "OpenAIError", base_url: str, model: str, key: str) -> RequestFailed:
    """Translate an error of the openai client. The key never appears in the message."""
    import openai

    if isinstance(error, openai.APITimeoutError) and not _lost_connection(error):
        return RequestFailed("timeout", f"{base_url} did not answer in time.", passing=True)
    if isinstance(error, openai.APIStatusError):
        return _of_status(error, base_url, model, key)
    if isinstance(error, openai.APIConnectionError):
        return RequestFailed("connection", f"No connection to {base_url}: {_why(error, key)}.", passing=True)
    return RequestFailed("connection", f"{base_url}: {said(str(error), key)}", passing=True)


def _of_status(error: "APIStatusError", base_url: str, model: str, key: str) -> RequestFailed:
    status = error.status_code
    told = said(_message(error), key)
    if status in OVERLOADED:
        wait = retry_after(error.response.headers)
        return RequestFailed("rate_limited", f"{base_url} has too many requests ({status}): {told}", True, wait, status)
    if status in (408, 409) or status >= 500:
        wait = retry_after(error.response.headers)
        return RequestFailed("server_error", f"{base_url} answered {status}: {told}", True, wait, status)
    if error.response.history:
        to = said(str(error.response.url).removesuffix("/chat/completions"), key)
        return RequestFailed("auth", f"{base_url} sends requests on to {to}: set that address.", status=status)
    if status in (401, 403):
        return RequestFailed("auth", f"{base_url} refused the key ({status}): {told}", status=status)
    if status == 404:
        return RequestFailed("auth", f"{base_url} knows no model {model}, or is no such address: {told}", status=status)
    return RequestFailed("bad_request", f"{base_url} refused the request ({status}): {told}", status=status)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait as the endpoint asks, at most LONGEST_WAIT_S; None when it does not say."""
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
        elif "retry-after" in headers:
            seconds = _seconds(headers["retry-after"])
        else:
            return None
    except ValueError:
        return None
    return min(max(seconds, 0.0), LONGEST_WAIT_S)


def _seconds(value: str) -> float:
    """A number of seconds, or an HTTP date."""
    try:
        return float(value)
    except ValueError:
        return email.utils.parsedate_to_datetime(value).timestamp() - time.time()


def refused_parameter(failure: RequestFailed, body: Mapping[str, Any]) -> str | None:
    """Which parameter of the request a 400 speaks of, or None: `json_schema`, `json_object`, `temperature`, …"""
    if failure.kind != "bad_request":
        return None
    told = str(failure).lower()
    wanted = body.get("response_format", {}).get("type")
    if wanted is not None and any(word in told for word in ("response_format", "json_schema", "json_object", "schema")):
        return str(wanted)
    if "max_tokens" in body and "max_tokens" in told:
        return "max_tokens"
    for name in ("temperature", "max_completion_tokens"):
        if name in body and name in told:
            return name
    return None


def _message(error: "APIStatusError") -> str:
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error", body)
        found = inner.get("message") if isinstance(inner, dict) else inner
        if found:
            return str(found)
    return error.response.text or error.message


def _lost_connection(error: BaseException) -> bool:
    """Whether a time-out is none: the aiohttp transport calls every refused or dropped connection one."""
    import aiohttp

    causes = list(_causes(error))
    refused = any(isinstance(cause, aiohttp.ClientConnectionError) for cause in causes)
    return refused and not any(isinstance(cause, TimeoutError) for cause in causes)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _why(error: BaseException, key: str) -> str:
    cause = list(_causes(error))[-1]
    told = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(cause)
    return said(told or type(cause).__name__, key).rstrip(".")


def said(text: str, key: str) -> str:
    """What the endpoint said, on one line, shortened, without the key."""
    flat = " ".join((text.replace(key, "…") if key else text).split())
    return flat if len(flat) <= 200 else flat[:199] + "…"
