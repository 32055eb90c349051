"""The command compare: several strategies over the same traces, or runs that exist, side by side."""

from typing import Any

import click

from combee_core.cli.common import Session, say, table, with_filter, with_workspace
from combee_core.cli.runs import attend, learn, money, settings_of
from combee_core.compare import not_started
from combee_core.errors import CombeeError
from combee_core.store.database import Row
from combee_core.strategies import STRATEGIES
from combee_core.variants import read_variant
from combee_core.workspace import TraceFilter


class Names(click.ParamType[tuple[str, ...]]):
    """Names with commas between them, each of them once."""

    name = "names"

    def __init__(self, what: str) -> None:
        self._what = what

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> tuple[str, ...]:
        """The names in order."""
        names = tuple(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))
        if not names:
            self.fail(f"no {self._what} is named", param, context)
        return names


class Variants(Names):
    """Strategies, each with settings of its own or without."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> tuple[str, ...]:
        """The variants as they were written, in order."""
        names = super().convert(value, param, context)
        try:
            for name in names:
                read_variant(name)
        except CombeeError as error:
            self.fail(str(error).rstrip("."), param, context)
        return names


@click.command("compare")
@click.option("--prompt", help="Name of the prompt; the versions of strategy S are those of NAME-S.")
@click.option(
    "--strategies",
    type=Variants("strategy"),
    default="combee,naive",
    show_default=True,
    help=f"Any of {', '.join(STRATEGIES)}, with commas between them; combee:copies=1:shuffle=plain has settings of its "
    "own, called as the options of learn.",
)
@click.option("--runs", "runs_", type=Names("run"), help="Compare these runs instead, with commas; makes no call.")
@with_filter
@with_workspace
def compare(
    session: Session,
    prompt: str | None,
    strategies: tuple[str, ...],
    runs_: tuple[str, ...] | None,
    which: TraceFilter,
    **chosen: Any,
) -> int:
    """Learn from the same traces with several strategies, one after the other, and set side by side what came of it.

    Takes the options of `combee learn`. Each is an ordinary run: in `combee runs`, and to be resumed like any other.
    """
    if (prompt is None) == (runs_ is None):
        raise click.UsageError("Give either --prompt (to learn with several strategies) or --runs (that exist).")
    if runs_ is not None:
        _show(session, session.workspace.compare_runs(runs_))
        return 0
    settings = settings_of(session.workspace, prompt=prompt, **chosen)
    started = session.workspace.start_comparison(settings, strategies, which)
    runs = [one.run for one in started if one.run is not None]
    try:
        for one in started:
            if one.run is not None:
                say(f"{one.run}: {one.name}")
                attend(session, one.run)
    except KeyboardInterrupt:
        return _interrupted(session, runs)
    document: Row = session.workspace.compare_runs(runs) if runs else {"same_traces": True, "strategies": []}
    document["strategies"] += [not_started(one.name, one.error or "") for one in started if one.run is None]
    return 0 if _show(session, document) else 1


def _interrupted(session: Session, runs: list[str]) -> int:
    unfinished = [run for run in runs if session.workspace.is_live(run)]
    for run in unfinished:
        session.workspace.interrupt(run)
    for run in unfinished:
        session.workspace.wait(run)
    say(
        f"\nInterrupted; what has finished is kept. Go on with: combee resume RUN, for {', '.join(unfinished)}; "
        f"then: combee compare --runs {','.join(runs)}"
    )
    return 130


def _show(session: Session, document: Row) -> bool:
    """Print a comparison; whether every run in it is done."""
    rows: list[Row] = document["strategies"]
    session.answer(document, lambda: _tell(rows))
    if not document["same_traces"]:
        say("These runs did not learn from the same traces.")
    unfinished = [row for row in rows if row["state"] != "done"]
    for row in unfinished:
        say(f"{row['run'] or row['name']} {row['state']}: {row['error'] or 'it has not come to its end.'}")
    return not unfinished


def _tell(rows: list[Row]) -> None:
    shown = ("strategy", "run", "version", "bullets", "tokens", "lessons", "kept", "traces", "specifics", "per bullet")
    spent = ("calls", "cost", "seconds")
    table((*shown, *spent), [_cells(row) for row in rows if row["run"] is not None])


def _cells(row: Row) -> list[object]:
    found = row["specificity"]
    share = found["all"]["share"]
    return [
        *(row["label"], row["run"], row["version"], row["bullets"], row["prompt_tokens"], row["lessons"], row["kept"]),
        f"{row['traces_covered']}/{row['traces']}",
        None if share is None else f"{share:.0%}",
        found["per_bullet"],
        *(row["calls"], money(row["cost_usd"]), f"{row['wall_s']:.1f}"),
    ]


OWN = {"strategy", *(option.name for option in compare.params)}
compare.params += [option for option in learn.params if option.name not in OWN]

COMMANDS = (compare,)
