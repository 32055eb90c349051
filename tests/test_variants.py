"""Variants of a strategy: how they are written, what they change, and what cannot be meant."""

import pytest

from combee_core.engine.settings import RunSettings
from combee_core.errors import CombeeError
from combee_core.variants import read_variant

SETTINGS = RunSettings(prompt="shop", batch=16, copies=3)


def test_a_strategy_alone_changes_nothing_else():
    variant = read_variant("top-k")
    assert variant.words == variant.slug == "top-k"
    changed = variant.of(SETTINGS).model_dump(exclude={"strategy", "compared_as"})
    assert changed == SETTINGS.model_dump(exclude={"strategy", "compared_as"})


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("combee:copies=1", {"copies": 1}),
        ("combee:shuffle=plain", {"shuffle": "plain"}),
        ("combee:groups=4:fan-in=2", {"groups": 4, "fan_in": 2}),
        ("combee:batch=auto", {"batch": "auto"}),
        ("combee:batch=8", {"batch": 8}),
        ("combee:recheck=off:fold-twins=off:retain=off", {"recheck": False, "fold_twins": False, "retain": "off"}),
        ("combee:second-chance=on", {"second_chance": True}),
        ("naive:tau=0.1", {"tau": 0.1}),
    ],
)
def test_settings_are_called_as_the_options_of_learn(written, expected):
    settings = read_variant(written).of(SETTINGS)
    told = settings.model_dump()
    assert {name: told[name] for name in expected} == expected
    assert settings.compared_as == written


def test_words_and_slug_say_what_is_changed():
    variant = read_variant("combee:fan-in=4:shuffle=plain")
    assert variant.words == "combee, fan in 4, shuffle plain"
    assert variant.slug == "combee-fan-in-4-shuffle-plain"


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("best", "There is no strategy best"),
        (":copies=1", "There is no strategy :copies=1"),
        ("combee:copies", "write copies=VALUE"),
        ("combee:", "write SETTING=VALUE"),
        ("combee:copies=", "write copies=VALUE"),
        ("combee:model=other", "model is nothing that a variant can change"),
        ("combee:copies=1:copies=2", "copies is given twice"),
        ("sequential:batch=4", "sequential has a batch size of its own, 1"),
    ],
)
def test_what_cannot_be_meant_is_said_in_one_sentence(written, sentence):
    with pytest.raises(CombeeError, match=sentence):
        read_variant(written)


@pytest.mark.parametrize("written", ["combee:copies=many", "combee:shuffle=wild", "combee:groups=0", "naive:batch=0"])
def test_a_value_that_a_setting_cannot_have_names_the_variant_and_the_setting(written):
    setting = written.partition(":")[2].partition("=")[0]
    with pytest.raises(CombeeError, match=f"^{written}: --{setting} cannot be "):
        read_variant(written).of(SETTINGS)
