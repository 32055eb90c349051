"""The command on a run's batch sizes, and batch sizes as options are written."""

from typing import Any

import click

from combee_core.cli.common import Session, table, with_workspace


class BatchSize(click.ParamType[int | str]):
    """A number of traces, or auto."""

    name = "n/auto"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> int | str:
        """The number, or the word auto."""
        if value == "auto":
            return "auto"
        return click.IntRange(1).convert(value, param, context)


class BatchSizes(click.ParamType[tuple[int, ...]]):
    """Numbers of traces, separated by commas."""

    name = "n,n,…"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> tuple[int, ...]:
        """The numbers."""
        if isinstance(value, tuple):
            return value
        return tuple(click.IntRange(1).convert(part.strip(), param, context) for part in value.split(","))


@click.command("batch-size")
@click.argument("run")
@with_workspace
def batch_size(session: Session, run: str) -> None:
    """Show the batch sizes of a run: the trials, the fitted curve and its plateau, why each batch was of its size."""
    report = session.workspace.batch_sizes(run).report()
    session.answer(report, lambda: _tell_batch_sizes(report))


def _tell_batch_sizes(report: dict[str, Any]) -> None:
    if fit := report["fit"]:
        click.echo(
            f"Epoch time {fit['A']:.3g} s · batch size^(-{fit['alpha']:.3f}), r² {fit['r2']:.3f}: "
            f"plateau at {fit['plateau']:.0f} traces"
        )
    if report["started_from"]:
        click.echo(f"Started from the delays of {report['started_from']}")
    rows = [choice | {"seconds": _rounded(choice["seconds"])} for choice in report["choices"]]
    shown = ("iteration", "batch_size", "seconds", "why")
    table(shown, [[row[name] for name in shown] for row in rows])


def _rounded(seconds: float | None) -> str | None:
    return None if seconds is None else f"{seconds:.2f}"


COMMANDS = (batch_size,)
