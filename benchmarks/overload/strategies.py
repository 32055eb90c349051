"""The ways of merging that are compared: settings of a run, and which merge instructions the model gets."""

from dataclasses import dataclass
from importlib import resources
from typing import Any

from combee_core.learners.ace import instructions

UNGUARDED: dict[str, Any] = {"fold_twins": False, "recheck": False, "retain": "off"}


@dataclass(frozen=True)
class Strategy:
    """`settings` go into the run's settings; `bare` takes the merge instructions that only ask for a list."""

    settings: dict[str, Any]
    bare: bool = False

    def instructed(self, task: str) -> str:
        """The system prompt for a task of the learner."""
        if self.bare:
            return resources.files(__package__).joinpath("bare-merge.md").read_text("utf-8").strip()
        return instructions(task)


PAPER: dict[str, Any] = {"shuffle": "plain", **UNGUARDED}
NAIVE: dict[str, Any] = {"strategy": "naive", **UNGUARDED}
STRATEGIES = {
    "naive": Strategy(NAIVE),
    "naive-bare": Strategy(NAIVE, bare=True),
    "combee-paper": Strategy(PAPER),
    "combee-paper-1-copy": Strategy(PAPER | {"copies": 1}),
    "combee-paper-bare": Strategy(PAPER, bare=True),
    "combee": Strategy({}),
    "combee-1-copy": Strategy({"copies": 1}),
    "combee-carry": Strategy({"retain": "carry"}),
    "combee-batch-64": Strategy({"batch": 64}),
    "naive-batch-64": Strategy(NAIVE | {"batch": 64}),
    "sequential": Strategy({"strategy": "sequential", **UNGUARDED}),
    "top-k": Strategy({"strategy": "top-k", **UNGUARDED}),
    "summary": Strategy({"strategy": "summary", **UNGUARDED}),
    "hierarchical-summary": Strategy({"strategy": "hierarchical-summary", **UNGUARDED}),
}
"""`combee` is the product's default, `combee-paper` the method as published (plain shuffle, nothing guarded)."""
