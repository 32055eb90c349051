"""Is an endpoint there and does it answer? One sentence for the Settings page."""

import time
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from combee_core.llm.base import CallFailed, ChatMessage, Meter
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
    if urlsplit(base_url).scheme not in ("http", "https") or not urlsplit(base_url).hostname:
        return EndpointCheck(False, f"{base_url or 'Nothing'} is no address: it starts with http:// or https://.")
    listed = await _list_models(base_url, api_key)
    if model is None or (not listed.ok and not listed.models):
        return listed
    return await _ask(base_url, api_key, model, listed)


async def _list_models(base_url: str, api_key: str | None) -> EndpointCheck:
    import openai

    client = openai.AsyncOpenAI(base_url=base_url, api_key=api_key or "none", max_retries=0, timeout=TIMEOUT_S)
    started = time.perf_counter()
    try:
        page = await client.models.list()
        names = tuple(sorted(entry.id for entry in page.data))
    except openai.OpenAIError as error:
        return EndpointCheck(False, _sentence(failure_of(error, base_url, "list", api_key or "")))
    except (AttributeError, TypeError, ValueError):
        return EndpointCheck(False, f"{base_url} answers, but not as an OpenAI-compatible endpoint: is the path right?")
    finally:
        await client.close()
    spent = (time.perf_counter() - started) * 1000
    return EndpointCheck(True, f"{base_url} lists {len(names)} models ({spent:.0f} ms).", names, spent)


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
