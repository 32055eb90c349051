"""The paper's method and the baselines that it is measured against, each as a plan of steps (paper, baselines).

Pure arithmetic on item numbers, like `scan`: nothing here calls a model.
"""

from math import isqrt

from combee_core.scan import Merge, TreePlan, level_of, levels_up, plan
from combee_core.strategies.base import Shape, StrategyName


class Combee:
    """Parallel scan aggregation with augmented shuffling: groups, then one final merge (paper, section 3)."""

    name: StrategyName = "combee"
    about = "Shuffled copies in groups of about the square root of the batch, then one final merge."
    batch_size: int | None = None
    needs_model = False

    def plan(self, n: int, shape: Shape, seed: int) -> TreePlan:
        """`scan.plan`, with no more groups than there are reflections."""
        groups = None if shape.groups is None else min(shape.groups, n)
        return plan(n, shape.copies, groups, seed, shape.shuffle, shape.fan_in)


class Naive:
    """A fixed batch whose reflections are all merged in one call: what suffers from context overload."""

    name: StrategyName = "naive"
    about = "One plain merge over all reflections of the batch."
    batch_size: int | None = None
    needs_model = False

    def plan(self, n: int, shape: Shape, seed: int) -> TreePlan:
        """One final merge that reads every reflection once, in order."""
        return TreePlan(items=n, levels=(level_of(1, [tuple(range(n))]),))


class Sequential(Naive):
    """One trace after the other: the best quality in the paper, and the slowest."""

    name: StrategyName = "sequential"
    about = "One trace at a time, each merged before the next one is looked at."
    batch_size: int | None = 1


class TopK:
    """Top-K retrieval: lessons are clustered, one of each cluster goes on to the merge, the others are dropped.

    k is the number of groups that Combee would make of the batch: `groups`, by default floor(sqrt(n)).
    """

    name: StrategyName = "top-k"
    about = "Lessons are clustered by their words, and one of each cluster is merged; the others are dropped."
    batch_size: int | None = None
    needs_model = False

    def plan(self, n: int, shape: Shape, seed: int) -> TreePlan:
        """One selection over all reflections, then the final merge."""
        keep = shape.groups or isqrt(n)
        chosen = Merge(level=1, group=0, inputs=tuple(range(n)), kind="selection", keep=keep)
        return TreePlan(items=n, levels=((chosen,), level_of(2, [(0,)])))


class Summary:
    """Summarization: one call writes up all reflections as one text, and that text is merged."""

    name: StrategyName = "summary"
    about = "The model writes one summary of all reflections, and that is merged."
    batch_size: int | None = None
    needs_model = True

    def plan(self, n: int, shape: Shape, seed: int) -> TreePlan:
        """One summary over all reflections, then the final merge."""
        return TreePlan(items=n, levels=(level_of(1, [tuple(range(n))], "summary"), level_of(2, [(0,)])))


class HierarchicalSummary:
    """Hierarchical summarization: each reflection is summarised, then the summaries are, up to one text.

    As in the paper the summaries are condensed in one call; a `fan_in` makes it a tree of calls of so many inputs.
    """

    name: StrategyName = "hierarchical-summary"
    about = "The model summarises each reflection, then the summaries into one, and that is merged."
    batch_size: int | None = None
    needs_model = True

    def plan(self, n: int, shape: Shape, seed: int) -> TreePlan:
        """A summary of each reflection, summaries of summaries up to one, then the final merge."""
        levels = levels_up([level_of(1, ((item,) for item in range(n)), "summary")], shape.fan_in)
        return TreePlan(items=n, levels=(*levels, level_of(len(levels) + 1, [(0,)])))
