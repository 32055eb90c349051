"""What is on record of a run's batch sizes: trials, fitted curve and plateau, each choice with its reason."""

from combee_core.batch_size import Fit, plateau, tau
from combee_core.engine.dealing import controller_for, earlier_delays, is_trial, measurements
from combee_core.engine.settings import RunSettings
from combee_core.store.database import Database, Row
from combee_core.store.runs import Runs


def batch_size_report(database: Database, run: str) -> Row:
    """The choices of a run, finished or not, and the curve behind them (paper: dynamic batch size controller).

    `fit` is None for a fixed batch size and while fewer than two batch sizes have a delay. `seconds` of a choice is
    None until its iteration is finished. Raises CombeeError when there is no such run.
    """
    runs = Runs(database)
    row = runs.get(run)
    settings = RunSettings.model_validate(row["settings"])
    finished = {iteration["iteration"]: iteration for iteration in runs.iterations(run)}
    history = measurements(list(finished.values()))
    controller = controller_for(len(row["trace_ids"]), settings, earlier_delays(runs, settings))
    curve = controller.curve(history) if controller else None
    return {
        "run": run,
        "state": row["state"],
        "batch": settings.batch,
        "started_from": settings.batch_from,
        "candidates": list(controller.grid) if controller else [],
        "trials": [
            {"batch_size": measured.batch_size, "seconds": measured.seconds} for measured in history if measured.trial
        ],
        "fit": _fit(curve, controller.grid[0], settings.tau) if curve and controller else None,
        "choices": [
            {
                "iteration": batch["iteration"],
                "batch_size": len(batch["trace_ids"]),
                "why": batch["why"],
                "trial": is_trial(batch["why"]),
                "seconds": finished[batch["iteration"]]["seconds"] if batch["iteration"] in finished else None,
            }
            for batch in runs.batches(run)
        ],
    }


def _fit(curve: Fit, smallest: int, tau_share: float) -> Row:
    return {
        "A": curve.A,
        "alpha": curve.alpha,
        "tau": tau(curve, smallest, tau_share) if curve.alpha > 0 else None,
        "plateau": plateau(curve, smallest, tau_share),
        "r2": curve.r2,
    }
