"""Delays for the controller to meet: of known curves, and of the engine against the stand-in server."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil, isqrt

from combee_core.batch_size import Measurement


def power_law(n: int, a: float, alpha: float) -> Callable[[int], float]:
    """Delays whose epoch times over n traces are exactly A · bs^(-alpha)."""
    return lambda size: a * size**-alpha / ceil(n / size)


def trials(sizes: tuple[int, ...], seconds_of: Callable[[int], float]) -> list[Measurement]:
    return [Measurement(batch_size=size, seconds=seconds_of(size), trial=True) for size in sizes]


@dataclass
class Engine:
    """An iteration of the engine, simulated: 200 ms a call and 0.2 ms an input token, 64 calls at once.

    Three calls in a row: reflections in waves, floor(sqrt(n)) groups, the final merge. The token counts are those of
    the product's own prompts on short traces; every prompt holds the playbook, which grows by `growth` tokens a trace.
    """

    growth: float = 0.0
    parallel: int = 64
    learnt: int = field(default=0, init=False)

    def __call__(self, size: int) -> float:
        groups = isqrt(size) if size >= 4 else 0
        waves = [(size, 850), (groups, 520 + 70 * size / groups) if groups else (0, 0), (1, 520 + 70 * size)]
        seconds = sum(ceil(calls / self.parallel) * self._call(tokens) for calls, tokens in waves)
        self.learnt += size
        return seconds

    def _call(self, tokens: float) -> float:
        return 0.2 + 0.0002 * (tokens + self.growth * self.learnt)

    def epoch(self, n: int, size: int) -> float:
        """Seconds of a run over n traces at a fixed batch size."""
        self.learnt = 0
        seconds = 0.0
        while self.learnt < n:
            seconds += self(min(size, n - self.learnt))
        return seconds
