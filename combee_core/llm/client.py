"""The openai client for an address and a key as people paste them; what no client can use is said in one sentence."""

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from combee_core.llm.base import CallFailed

if TYPE_CHECKING:
    from openai import AsyncOpenAI


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


def open_client(base_url: str, key: str | None, timeout_s: float) -> "AsyncOpenAI":
    """A client that tries each request once. Importing openai takes 0.6 s. Raises CallFailed."""
    address, query = usable_address(base_url)
    # Endpoints on one's own machine take any key, the client takes none for an error.
    tidy = usable_key(key) or "none"
    import httpx2
    from openai import AsyncOpenAI, DefaultAioHttpClient

    limits = httpx2.Limits(max_connections=4096, max_keepalive_connections=1024)
    timeout = httpx2.Timeout(timeout_s, connect=min(15.0, timeout_s))
    return AsyncOpenAI(
        base_url=address,
        api_key=tidy,
        default_query=query,
        max_retries=0,
        timeout=timeout,
        http_client=DefaultAioHttpClient(limits=limits, timeout=timeout),
    )
