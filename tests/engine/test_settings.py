"""What is said of settings that cannot be used."""

import pytest
from pydantic import ValidationError

from combee_core.engine.settings import RunSettings, what_is_wrong


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"prompt": "a b"}, "'a b' cannot be a prompt's name"),
        ({"prompt": "p", "copies": 99}, "--copies cannot be 99: it should be less than or equal to 16."),
        ({"prompt": "p", "batch": "auto", "staleness": 1}, "An automatic batch size measures one iteration after"),
    ],
)
def test_one_sentence_says_which_setting_cannot_be_used_and_why(values, said):
    with pytest.raises(ValidationError) as refused:
        RunSettings.model_validate(values)
    assert what_is_wrong(refused.value).startswith(said)
