"""List prices: the endpoint's own first, by the model's name else, and none that is made up."""

import pytest
from genai_prices import Usage, calc_price

from combee_core.llm.prices import context_tokens, cost

OPENAI = "https://api.openai.com/v1"


@pytest.mark.parametrize(("model", "url"), [("gpt-4o-mini", OPENAI), ("gpt-4.1", "http://localhost:8000/v1")])
def test_a_known_model_costs_what_the_list_says(model: str, url: str) -> None:
    expected = calc_price(Usage(input_tokens=1_234, output_tokens=567), model, provider_api_url=OPENAI).total_price
    assert cost(model, url, 1_234, 567) == pytest.approx(float(expected))
    assert cost(model, url, 2 * 1_234, 2 * 567) == pytest.approx(2 * float(expected))
    assert context_tokens(model, url)


def test_the_price_of_an_unknown_model_is_unknown_not_zero() -> None:
    for url in ("http://127.0.0.1:1/v1", "https://models.example.com/v1"):
        assert cost("of-my-own", url, 1, 1) is None
        assert context_tokens("of-my-own", url) is None
