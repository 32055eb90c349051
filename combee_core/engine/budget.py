"""Budgets of a run: it stops before it would pass one, and can go on with a larger one."""

import asyncio
import time
from dataclasses import dataclass

from combee_core.engine.progress import Progress
from combee_core.engine.settings import RunSettings
from combee_core.errors import CombeeError
from combee_core.llm.prices import cost


class RunStopped(CombeeError):
    """The run cannot go on; what has finished is kept and the run can be resumed."""


class BudgetReached(RunStopped):
    """One more request could pass a budget; `budget` is the setting that says so."""

    def __init__(self, budget: str, message: str) -> None:
        super().__init__(message)
        self.budget = budget


def check_price(settings: RunSettings) -> None:
    """Raise RunStopped when a budget of US dollars is set and the model's price is unknown."""
    endpoint = settings.endpoint
    if settings.max_cost is not None and endpoint and cost(endpoint.model, endpoint.base_url, 1, 1) is None:
        raise RunStopped(
            f"The price of {endpoint.model} is unknown, so a budget in US dollars cannot be kept: "
            "set one of tokens or calls instead."
        )


@dataclass(frozen=True)
class Reservation:
    """What one request in flight may take."""

    tokens: int
    cost_usd: float


class Budget:
    """The budgets of one run over all its sessions; `spent_s` are the seconds that earlier ones have worked.

    Requests are reserved before they are sent, so that those in flight count with what they may take. Raises RunStopped
    when a budget of US dollars is set and the model's price is unknown.
    """

    def __init__(self, settings: RunSettings, spent_s: float, spent: Progress) -> None:
        self._settings = settings
        self._began = time.monotonic() - spent_s
        self._calls = spent.calls
        self._tokens = spent.input_tokens + spent.output_tokens
        self._cost = spent.cost_usd or 0.0
        self._in_flight = 0
        self._reserved_tokens = 0
        self._reserved_cost = 0.0
        self._settled = asyncio.Event()
        check_price(settings)

    async def reserve(self, input_tokens: int, output_tokens: int) -> Reservation:
        """Reserve one request of about this size, once those in flight leave room for it.

        Raises BudgetReached when there is none even without them.
        """
        wanted = Reservation(input_tokens + output_tokens, self._price(input_tokens, output_tokens) or 0.0)
        while True:
            self.check()
            passed = self._passed_by(wanted)
            if passed is None:
                break
            if not self._in_flight:
                raise passed
            self._settled.clear()
            await self._settled.wait()
        self._calls += 1
        self._reserve(wanted, 1)
        return wanted

    def settle(self, reserved: Reservation, input_tokens: int, output_tokens: int) -> None:
        """Count what a request has really taken; nothing when no answer came."""
        self._tokens += input_tokens + output_tokens
        self._cost += self._price(input_tokens, output_tokens) or 0.0
        self._reserve(reserved, -1)

    def withdraw(self, reserved: Reservation) -> None:
        """The request was never sent."""
        self._calls -= 1
        self._reserve(reserved, -1)

    def check(self) -> None:
        """Raise BudgetReached when not even the smallest request may be sent any more."""
        self.check_time()
        most = self._settings.max_calls
        if most is not None and self._calls >= most:
            raise BudgetReached("max_calls", f"The budget of {most:,} calls is used up.")

    def check_time(self) -> None:
        """Raise BudgetReached when the minutes are used up."""
        most = self._settings.max_minutes
        if most is not None and time.monotonic() - self._began > most * 60:
            raise BudgetReached("max_minutes", f"The budget of {most:g} minutes is used up.")

    def _passed_by(self, wanted: Reservation) -> BudgetReached | None:
        """The budget that one more request, with those in flight, could pass."""
        tokens, dollars = self._settings.max_tokens, self._settings.max_cost
        if tokens is not None and self._tokens + self._reserved_tokens + wanted.tokens > tokens:
            return BudgetReached("max_tokens", f"One more call could pass the budget of {tokens:,} tokens.")
        if dollars is not None and self._cost + self._reserved_cost + wanted.cost_usd > dollars:
            return BudgetReached("max_cost", f"One more call could pass the budget of {dollars:g} US dollars.")
        return None

    def _reserve(self, reserved: Reservation, times: int) -> None:
        self._in_flight += times
        self._reserved_tokens += times * reserved.tokens
        self._reserved_cost += times * reserved.cost_usd
        self._settled.set()

    def _price(self, input_tokens: int, output_tokens: int) -> float | None:
        endpoint = self._settings.endpoint
        if self._settings.max_cost is None or endpoint is None:
            return 0.0
        return cost(endpoint.model, endpoint.base_url, input_tokens, output_tokens)
