"""What is on record of a run's batch sizes: trials, fitted curve and plateau, each choice with its reason."""

from dataclasses import dataclass

from combee_core.batch_size import Fit, plateau, tau
from combee_core.engine.dealing import controller_for, earlier_delays, is_trial, measurements
from combee_core.engine.settings import RunSettings
from combee_core.store.database import Database, Row
from combee_core.store.runs import Runs


@dataclass(frozen=True)
class Chosen:
    """The batch size of one iteration and why it is that; `seconds` is None until the iteration has finished."""

    iteration: int
    epoch: int
    batch_size: int
    why: str
    seconds: float | None

    @property
    def trial(self) -> bool:
        """Whether it was tried to see what it takes."""
        return is_trial(self.why)


@dataclass(frozen=True)
class BatchSizes:
    """The choices of a run over `n` traces an epoch, and the curve behind them (paper: dynamic batch size controller).

    `grid` holds the candidates, none for a fixed batch size. `curve` is None then, and while fewer than two batch sizes
    have a delay.
    """

    run: str
    state: str
    settings: RunSettings
    n: int
    grid: tuple[int, ...]
    choices: tuple[Chosen, ...]
    curve: Fit | None

    @property
    def settled(self) -> Chosen | None:
        """The latest choice that was no trial; rather one that took what it wanted than one that took what was left."""
        chosen = [choice for choice in self.choices if not choice.trial]
        ends = {choice.epoch: choice.iteration for choice in self.choices}
        whole = [choice for choice in chosen if choice.iteration != ends[choice.epoch]]
        return next(iter([*whole[-1:], *chosen[-1:]]), None)

    @property
    def measured_epoch(self) -> float | None:
        """Seconds that the first epoch took, trials included; None until it has ended."""
        first = [choice for choice in self.choices if choice.epoch == 1]
        seconds = [choice.seconds for choice in first if choice.seconds is not None]
        whole = len(seconds) == len(first) and sum(choice.batch_size for choice in first) == self.n
        return sum(seconds) if whole else None

    def report(self) -> Row:
        """As `combee batch-size --json` prints it."""
        return {
            "run": self.run,
            "state": self.state,
            "batch": self.settings.batch,
            "started_from": self.settings.batch_from,
            "candidates": list(self.grid),
            "trials": [
                {"batch_size": choice.batch_size, "seconds": choice.seconds}
                for choice in self.choices
                if choice.trial and choice.seconds is not None
            ],
            "fit": _fit(self.curve, self.grid[0], self.settings.tau) if self.curve else None,
            "choices": [
                {
                    "iteration": choice.iteration,
                    "batch_size": choice.batch_size,
                    "why": choice.why,
                    "seconds": choice.seconds,
                }
                for choice in self.choices
            ],
        }


def batch_sizes_of(database: Database, run: str) -> BatchSizes:
    """The batch sizes of a run, finished or not. Raises CombeeError when there is no such run."""
    runs = Runs(database)
    row = runs.get(run)
    settings = RunSettings.model_validate(row["settings"])
    finished = {iteration["iteration"]: iteration for iteration in runs.iterations(run)}
    n = len(row["trace_ids"])
    controller = controller_for(n, settings, earlier_delays(runs, settings))
    choices = tuple(
        Chosen(
            batch["iteration"],
            batch["epoch"],
            len(batch["trace_ids"]),
            batch["why"],
            finished[batch["iteration"]]["seconds"] if batch["iteration"] in finished else None,
        )
        for batch in runs.batches(run)
    )
    return BatchSizes(
        run=run,
        state=row["state"],
        settings=settings,
        n=n,
        grid=controller.grid if controller else (),
        choices=choices,
        curve=controller.curve(measurements(list(finished.values()))) if controller else None,
    )


def _fit(curve: Fit, smallest: int, tau_share: float) -> Row:
    return {
        "A": curve.A,
        "alpha": curve.alpha,
        "tau": tau(curve, smallest, tau_share) if curve.alpha > 0 else None,
        "plateau": plateau(curve, smallest, tau_share),
        "r2": curve.r2,
    }
