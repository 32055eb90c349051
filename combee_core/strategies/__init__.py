"""Strategies: ways to get from the reflections of a batch to one update of the playbook, side by side."""

from combee_core.errors import CombeeError
from combee_core.strategies.base import Shape, Strategy, StrategyName
from combee_core.strategies.clusters import load, representatives
from combee_core.strategies.trees import Combee, HierarchicalSummary, Naive, Sequential, Summary, TopK

STRATEGIES: dict[StrategyName, Strategy] = {
    strategy.name: strategy for strategy in (Combee(), Sequential(), Naive(), TopK(), Summary(), HierarchicalSummary())
}


def check_learner(name: StrategyName, with_model: bool) -> None:
    """Raise CombeeError, in one sentence, when a strategy asks for more than the offline rules engine can do."""
    if STRATEGIES[name].needs_model and not with_model:
        without = ", ".join(other for other, strategy in STRATEGIES.items() if not strategy.needs_model)
        raise CombeeError(
            f"The strategy {name} needs a language model to write its summaries: set an endpoint, or take one of "
            f"{without}."
        )


def prepare(name: StrategyName) -> None:
    """Load what a strategy needs and takes seconds to import, so that it is no part of the time of a run."""
    if name == "top-k":
        load()


__all__ = ["STRATEGIES", "Shape", "Strategy", "StrategyName", "check_learner", "prepare", "representatives"]
