"""What tokens cost and how many a model takes, from the list that genai-prices ships; nothing is fetched."""

from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, Provider


def cost(model: str, base_url: str, input_tokens: int, output_tokens: int) -> float | None:
    """US dollars at list price, or None when the price of this model is unknown.

    The endpoint's own list goes first; an endpoint that is not listed is priced by the model's name alone.
    """
    listed = _listed(model, base_url)
    if listed is None:
        return None
    from genai_prices import Usage

    provider, found = listed
    usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
    try:
        return float(found.calc_price(usage, provider, genai_request_timestamp=datetime.now(tz=UTC)).total_price)
    except LookupError:
        return None


def context_tokens(model: str, base_url: str) -> int | None:
    """Tokens that a model takes in and gives out at most, together; None when that is unknown."""
    listed = _listed(model, base_url)
    return None if listed is None else listed[1].context_window


@cache
def _listed(model: str, base_url: str) -> "tuple[Provider, ModelInfo] | None":
    """The entry of a model, looked for once: every answer is priced."""
    from genai_prices.data_snapshot import get_snapshot

    host = urlsplit(base_url).hostname or ""
    for provider_url in ([base_url] if "." in host else []) + [None]:
        try:
            return get_snapshot().find_provider_model(model, None, None, provider_url)
        except LookupError:
            continue
    return None
