"""What tokens cost and how many a model takes, from the list that genai-prices ships; nothing is fetched."""

from urllib.parse import urlsplit


def cost(model: str, base_url: str, input_tokens: int, output_tokens: int) -> float | None:
    """US dollars at list price, or None when the price of this model is unknown.

    The endpoint's own list goes first; an endpoint that is not listed is priced by the model's name alone.
    """
    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
    host = urlsplit(base_url).hostname or ""
    for provider_url in ([base_url] if "." in host else []) + [None]:
        try:
            return float(calc_price(usage, model, provider_api_url=provider_url).total_price)
        except LookupError:
            continue
    return None


def context_tokens(model: str, base_url: str) -> int | None:
    """Tokens that a model takes in and gives out at most, together; None when that is unknown."""
    from genai_prices.data_snapshot import get_snapshot

    host = urlsplit(base_url).hostname or ""
    for provider_url in ([base_url] if "." in host else []) + [None]:
        try:
            _, found = get_snapshot().find_provider_model(model, None, None, provider_url)
        except LookupError:
            continue
        return found.context_window
    return None
