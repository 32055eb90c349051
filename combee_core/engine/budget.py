"""Budgets of a run: it stops before it would pass one, and can go on with a larger one."""

import time

from combee_core.engine.progress import Progress
from combee_core.engine.settings import RunSettings
from combee_core.errors import CombeeError


class RunStopped(CombeeError):
    """The run cannot go on; what has finished is kept and the run can be resumed."""


class BudgetReached(RunStopped):
    """One more call could pass a budget; `budget` is the setting that says so."""

    def __init__(self, budget: str, message: str) -> None:
        super().__init__(message)
        self.budget = budget


class Budget:
    """The budgets of one run; `spent_s` are the seconds that earlier sessions of it have worked."""

    def __init__(self, settings: RunSettings, spent_s: float) -> None:
        self._settings = settings
        self._began = time.monotonic() - spent_s

    def check(self, progress: Progress) -> None:
        """Raise BudgetReached when the call that is about to be sent could pass a budget.

        Calls in flight, this one among them, are counted with what a call has taken on average so far.
        """
        limits = self._settings
        share = progress.in_flight / progress.calls if progress.calls else 0.0
        tokens = progress.input_tokens + progress.output_tokens
        if limits.max_calls is not None and progress.calls + progress.in_flight > limits.max_calls:
            raise BudgetReached("max_calls", f"The budget of {limits.max_calls:,} calls is used up.")
        if limits.max_tokens is not None and tokens * (1 + share) > limits.max_tokens:
            raise BudgetReached("max_tokens", f"One more call could pass the budget of {limits.max_tokens:,} tokens.")
        if limits.max_cost is not None and (progress.cost_usd or 0.0) * (1 + share) > limits.max_cost:
            raise BudgetReached("max_cost", f"One more call could pass the budget of {limits.max_cost:g} US dollars.")
        if limits.max_minutes is not None and time.monotonic() - self._began > limits.max_minutes * 60:
            raise BudgetReached("max_minutes", f"The budget of {limits.max_minutes:g} minutes is used up.")
