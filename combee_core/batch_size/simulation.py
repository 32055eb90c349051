"""What a run would take at a fixed batch size or under the controller, with delays given by a function of the size."""

from collections.abc import Callable

from combee_core.batch_size.controller import Choice, Controller
from combee_core.batch_size.curve import Measurement


def epoch_seconds(n: int, batch_size: int, seconds_of: Callable[[int], float]) -> float:
    """Seconds of an epoch over n traces at a fixed batch size; `seconds_of` gives an iteration's seconds by its size.

    Batch size 1 is sequential learning. The last batch holds what remains.
    """
    whole, rest = divmod(n, batch_size)
    return whole * seconds_of(batch_size) + (seconds_of(rest) if rest else 0.0)


def simulate(controller: Controller, n: int, seconds_of: Callable[[int], float]) -> list[tuple[Choice, float]]:
    """One epoch over n traces under the controller: its choices, each with the seconds of the iteration."""
    history: list[Measurement] = []
    choices: list[tuple[Choice, float]] = []
    remaining = n
    while remaining:
        choice = controller.next_batch(history, remaining)
        seconds = seconds_of(choice.batch_size)
        history.append(Measurement(batch_size=choice.batch_size, seconds=seconds, trial=choice.kind == "trial"))
        choices.append((choice, seconds))
        remaining -= choice.batch_size
    return choices
