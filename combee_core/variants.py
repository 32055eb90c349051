"""Variants: a strategy with settings of its own, written as `combee:copies=1` (paper, ablations)."""

from dataclasses import dataclass
from typing import get_args

from pydantic import ValidationError

from combee_core.engine.settings import RunSettings, what_is_wrong
from combee_core.errors import CombeeError
from combee_core.strategies import STRATEGIES, StrategyName

VARIED = (
    *("batch", "tau", "copies", "groups", "shuffle", "fan_in", "token_budget", "seed", "epochs"),
    *("recheck", "fold_twins", "retain", "second_chance", "quorum", "min_support"),
)
"""Settings that a variant may have of its own: what may change the playbook, not whom is asked and for how much."""


@dataclass(frozen=True)
class Variant:
    """A strategy and what it does otherwise than the comparison's settings; `name` is how it was written."""

    name: str
    strategy: StrategyName
    changes: tuple[tuple[str, str], ...] = ()

    @property
    def changed(self) -> frozenset[str]:
        """Names of the settings that it has of its own."""
        return frozenset(setting for setting, _ in self.changes)

    @property
    def words(self) -> str:
        """For a legend: combee, copies 1."""
        return ", ".join([self.strategy, *(f"{setting.replace('_', ' ')} {value}" for setting, value in self.changes)])

    @property
    def slug(self) -> str:
        """For a prompt's name: combee-copies-1."""
        return "-".join([self.strategy, *(f"{setting.replace('_', '-')}-{value}" for setting, value in self.changes)])

    def of(self, settings: RunSettings) -> RunSettings:
        """The settings of a run of this variant. Raises CombeeError for a value that its setting cannot have."""
        try:
            return RunSettings.model_validate(
                settings.model_dump() | {"strategy": self.strategy, "compared_as": self.name} | dict(self.changes)
            )
        except ValidationError as error:
            raise CombeeError(f"{self.name}: {what_is_wrong(error)}") from error


def read_variant(text: str) -> Variant:
    """The variant that is written as STRATEGY, or STRATEGY:SETTING=VALUE with as many settings as one likes.

    Settings are called as the options of `combee learn`. Raises CombeeError, in one sentence, for anything else.
    """
    strategy, *parts = text.split(":")
    if strategy not in STRATEGIES:
        raise CombeeError(f"There is no strategy {strategy or text}: choose from {', '.join(STRATEGIES)}.")
    changes: dict[str, str] = {}
    for part in parts:
        option, equals, value = (each.strip() for each in part.partition("="))
        setting = option.replace("-", "_")
        if not equals or not value:
            raise CombeeError(f"{text}: write {option or 'SETTING'}=VALUE after the colon, for example copies=1.")
        if setting not in VARIED:
            known = ", ".join(name.replace("_", "-") for name in VARIED)
            raise CombeeError(f"{text}: {option} is nothing that a variant can change; it may change {known}.")
        if setting in changes:
            raise CombeeError(f"{text}: {option} is given twice.")
        changes[setting] = value
    name = next(each for each in get_args(StrategyName) if each == strategy)
    if "batch" in changes and STRATEGIES[name].batch_size is not None:
        raise CombeeError(f"{text}: {name} has a batch size of its own, {STRATEGIES[name].batch_size}.")
    return Variant(text, name, tuple(changes.items()))
