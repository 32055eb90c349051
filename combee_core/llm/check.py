"""Is an endpoint there and does it answer? One sentence for the Settings page."""

import time
from dataclasses import dataclass, replace

from combee_core.llm.base import CallFailed, ChatMessage, Meter
from combee_core.llm.client import Connection, connect
from combee_core.llm.endpoint import Endpoint, OpenAIModel
from combee_core.llm.failures import RequestFailed, failure_of

TIMEOUT_S = 20.0


@dataclass(frozen=True)
class EndpointCheck:
    """What came of it: models that the endpoint lists, milliseconds of one tiny answer, one sentence."""

    ok: bool
    message: str
    models: tuple[str, ...] = ()
    latency_ms: float | None = None


async def check_endpoint(base_url: str, api_key: str | None, model: str | None = None) -> EndpointCheck:
    """List the models and, when `model` is given, ask it for one word. Never raises."""
    try:
        connection = connect(base_url, api_key, TIMEOUT_S)
    except CallFailed as failure:
        return EndpointCheck(False, str(failure))
    listed = await _list_models(connection, base_url, (api_key or "").strip())
    if model is None or (not listed.ok and not listed.models):
        return listed
    return await _ask(base_url, api_key, model, listed)


async def _list_models(connection: Connection, base_url: str, key: str) -> EndpointCheck:
    import openai

    started = time.perf_counter()
    try:
        page = await connection.client.models.list()
        names = tuple(sorted(entry.id for entry in page.data))
    except openai.OpenAIError as error:
        return EndpointCheck(False, _sentence(failure_of(error, base_url, "list", key)))
    except (AttributeError, TypeError, ValueError):
        return EndpointCheck(False, f"{base_url} answers, but not as an OpenAI-compatible endpoint: is the path right?")
    finally:
        await connection.aclose()
    spent = (time.perf_counter() - started) * 1000
    found = "1 model" if len(names) == 1 else f"{len(names)} models"
    return EndpointCheck(True, f"{base_url} lists {found} ({spent:.0f} ms).", names, spent)


async def _ask(base_url: str, api_key: str | None, model: str, listed: EndpointCheck) -> EndpointCheck:
    endpoint = Endpoint(base_url=base_url, model=model, max_attempts=1, timeout_s=60.0, max_output_tokens=16)
    client = OpenAIModel(endpoint, api_key)
    started = time.perf_counter()
    try:
        await client.complete([ChatMessage("user", "Answer with the word: ready")], Meter())
    except CallFailed as failure:
        return replace(listed, ok=False, message=str(failure))
    finally:
        await client.aclose()
    spent = (time.perf_counter() - started) * 1000
    return EndpointCheck(True, f"{model} answers in {spent:,.0f} ms.", listed.models, spent)


def _sentence(failure: RequestFailed) -> str:
    if failure.status == 404:
        return f"{failure} Most endpoints end in /v1."
    return str(failure)
