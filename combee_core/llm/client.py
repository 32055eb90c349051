"""The openai client for an address and a key as people paste them; what no client can use is said in one sentence."""

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import orjson

from combee_core.llm.base import CallFailed

if TYPE_CHECKING:
    import httpx2
    from openai import APIStatusError, AsyncOpenAI


def usable_address(base_url: str) -> tuple[str, dict[str, str]]:
    """The address without what got there by accident, and its query. Raises CallFailed when it is none."""
    try:
        parts = urlsplit(base_url.strip())
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
            raise ValueError("no address")
    except ValueError:
        shown = base_url.strip() or "Nothing"
        raise CallFailed("auth", f"{shown} is no address: it starts with http:// or https://.") from None
    address = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))
    return address, dict(parse_qsl(parts.query, keep_blank_values=True))


def usable_key(key: str | None) -> str:
    """The key without white space around it, empty for none. Raises CallFailed when no header can carry it."""
    tidy = (key or "").strip()
    if not all("!" <= sign <= "~" for sign in tidy):
        raise CallFailed(
            "auth",
            "The key cannot be sent: it holds a space, a line break or a letter that no key has. Copy it once more.",
        )
    return tidy


class Connection:
    """An openai `client` that tries each request once, and `post`, which sends over it at half the CPU.

    The client builds headers, address and models of a request anew for every call, and walks through the whole body
    before it is written: at 512 calls at once that costs as much as the sending. Here they are made once.
    """

    def __init__(self, client: "AsyncOpenAI", http: "httpx2.AsyncClient", query: dict[str, str]) -> None:
        import httpx2

        self.client = client
        self._http = http
        self._base = client.base_url.copy_merge_params(query)
        self._addresses: dict[str, httpx2.URL] = {}
        told = client.default_headers | client.auth_headers
        self._headers = httpx2.Headers({name: value for name, value in told.items() if isinstance(value, str)})

    async def post(self, path: str, body: dict[str, Any]) -> bytes:
        """The answer to a body, as it came. Raises openai.OpenAIError as the client does."""
        import httpx2
        import openai

        if path not in self._addresses:
            self._addresses[path] = self._base.copy_with(path=self._base.path.rstrip("/") + path)
        address = self._addresses[path]
        request = self._http.build_request("POST", address, content=orjson.dumps(body), headers=self._headers)
        try:
            response = await self._http.send(request)
        except httpx2.TimeoutException as error:
            raise openai.APITimeoutError(request=request) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise openai.APIConnectionError(request=request) from error
        if not response.is_success:
            raise _refusal(response)
        return response.content

    async def aclose(self) -> None:
        """Close the connections."""
        await self.client.close()


def _refusal(response: "httpx2.Response") -> "APIStatusError":
    from openai import APIStatusError

    text = response.text.strip()
    try:
        body = orjson.loads(text)
    except ValueError:
        body = text
    return APIStatusError(text or f"Error code: {response.status_code}", response=response, body=body)


def connect(base_url: str, key: str | None, timeout_s: float) -> Connection:
    """A connection; the first one imports openai, which takes 0.6 s. Raises CallFailed."""
    address, query = usable_address(base_url)
    # Endpoints on one's own machine take any key, the client takes none for an error.
    tidy = usable_key(key) or "none"
    import httpx2
    from openai import AsyncOpenAI, DefaultAioHttpClient

    limits = httpx2.Limits(max_connections=4096, max_keepalive_connections=1024)
    timeout = httpx2.Timeout(timeout_s, connect=min(15.0, timeout_s))
    http = DefaultAioHttpClient(limits=limits, timeout=timeout)
    client = AsyncOpenAI(
        base_url=address, api_key=tidy, default_query=query, max_retries=0, timeout=timeout, http_client=http
    )
    return Connection(client, http, query)
