"""The seam between the engine and the ways to get from reflections to one update of the playbook."""

from dataclasses import dataclass
from typing import Literal, Protocol

from combee_core.scan import Shuffle, TreePlan

StrategyName = Literal["combee", "sequential", "naive", "top-k", "summary", "hierarchical-summary"]


@dataclass(frozen=True)
class Shape:
    """What a run's settings say of its merge trees; each strategy heeds what concerns it.

    `copies`, `shuffle` and `fan_in` as in `scan.plan`; `groups` None stands for floor(sqrt(n)).
    """

    copies: int = 2
    groups: int | None = None
    shuffle: Shuffle = "apart"
    fan_in: int | None = None


class Strategy(Protocol):
    """One way to fold the reflections of a batch into one update. The last step of every plan is the final merge.

    `batch_size` is the one that the strategy insists on (None: the one of the run); `needs_model` says that a step is
    beyond the offline rules engine; `about` is one sentence for people.
    """

    name: StrategyName
    about: str
    batch_size: int | None
    needs_model: bool

    def plan(self, n: int, shape: Shape, seed: int) -> TreePlan:
        """The steps for n reflections: the same arguments give the same plan, and every reflection is in it."""
        ...
