"""What stands in front of every request of a run, retries too: its budgets, then its caps a minute."""

from dataclasses import dataclass

from combee_core.engine.budget import Budget, Reservation
from combee_core.engine.caps import Caps, Ticket
from combee_core.engine.limiter import Limiter, Turn
from combee_core.llm.base import Permit, Usage
from combee_core.llm.token_ratio import TokenRatio
from combee_core.store.ledger import Ledger

# What an answer is thought to take before any has come; from then on it is the longest one so far.
USUAL_OUTPUT_TOKENS = 500


class Gate:
    """Lets the requests of one run through; reflections and merges that find it closed keep no place from others."""

    def __init__(self, budget: Budget, caps: Caps, limiter: Limiter, ledger: Ledger) -> None:
        self._budget, self._caps, self._limiter, self._ledger = budget, caps, limiter, ledger
        self._ratio = TokenRatio()
        self._most_output = 0
        limiter.held_back = caps.holds_back

    @property
    def chars_a_token(self) -> float:
        """Characters that make one token, as the usage that the endpoint reports has it."""
        return self._ratio.chars_a_token

    def check(self) -> None:
        """Raise BudgetReached when no request may be sent any more, whatever its size."""
        self._budget.check()

    async def admit(self, turn: Turn, input_chars: int) -> Permit:
        """Return once a request of so many characters may be sent. Raises BudgetReached when it must not be."""
        sent = self._ratio.tokens_of(input_chars)
        answered = self._most_output or USUAL_OUTPUT_TOKENS
        reserved = await self._budget.reserve(sent, answered)
        try:
            ticket = await self._caps.let_through(turn, sent + answered)
            self._budget.check_time()
            self._ledger.sent()
        except BaseException:
            self._budget.withdraw(reserved)
            raise
        finally:
            self._limiter.let_in()
        return _Admitted(self, reserved, ticket, input_chars)

    def settle(self, admitted: "_Admitted", answer: Usage | None) -> None:
        """Count what a request has taken, and learn from it what the next one may take."""
        sent, answered = (answer.input_tokens, answer.output_tokens) if answer else (0, 0)
        self._budget.settle(admitted.reserved, sent, answered)
        if sent:
            self._ratio.learn(admitted.input_chars, sent)
            self._most_output = max(self._most_output, answered)
            self._caps.settle(admitted.ticket, sent + answered)


@dataclass(frozen=True)
class _Admitted:
    gate: Gate
    reserved: Reservation
    ticket: Ticket
    input_chars: int

    def settle(self, answer: Usage | None) -> None:
        self.gate.settle(self, answer)
