"""Commands on learning runs: learn, runs, resume, tree."""

import sys
import time
from collections.abc import Callable
from typing import Any, get_args

import click
from pydantic import ValidationError

from combee_core.batch_size import TAU_SHARE
from combee_core.cli.batch_size import BatchSize, BatchSizes
from combee_core.cli.common import Session, counted, one_line, say, table, with_filter, with_workspace
from combee_core.engine.settings import what_is_wrong
from combee_core.errors import CombeeError
from combee_core.llm.endpoint import Endpoint
from combee_core.scan import Shuffle
from combee_core.strategies import STRATEGIES
from combee_core.workspace import RunSettings, TraceFilter, Workspace

SUMMARY = (
    *("run", "state", "version", "traces", "iterations", "calls", "failed_calls", "input_tokens", "output_tokens"),
    *("cost_usd", "wall_s", "lessons", "dropped_lessons", "held_lessons", "carried_lessons", "bullets", "strategy"),
    *("failures", "stopped_by", "limit_changes", "levels", "recovered_citations", "rechecks", "hedged"),
    *("late_reflections", "second_chances", "upkeep"),
)
TELL_EVERY_S = 0.5


class OnOff(click.ParamType[bool]):
    """A switch that is written on or off."""

    name = "on/off"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> bool:
        """The switch as a truth value."""
        if value not in ("on", "off"):
            self.fail(f"{value!r} is neither on nor off", param, context)
        return bool(value == "on")


ON_OFF = OnOff()


def with_budgets(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the budgets of a run and its caps a minute."""
    for option in (
        click.option("--tpm", type=click.IntRange(1), help="Tokens a minute at most, in and out: calls wait for it."),
        click.option(
            "--rpm", type=click.IntRange(1), help="Requests a minute at most, retries too: calls wait for it."
        ),
        click.option("--max-minutes", type=click.FloatRange(0, min_open=True), help="Stop after so many minutes."),
        click.option("--max-cost", type=click.FloatRange(0, min_open=True), help="Stop before more US dollars."),
        click.option("--max-tokens", type=click.IntRange(1), help="Stop before more tokens, in and out, than this."),
        click.option("--max-calls", type=click.IntRange(1), help="Stop before more requests than this."),
    ):
        function = option(function)
    return function


def with_flow(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command what bounds its calls and what may overlap or be left for later."""
    for option in (
        click.option("--second-chance", is_flag=True, help="Lessons left out join the next batch once."),
        click.option(
            "--quorum",
            type=click.FloatRange(0, 1, min_open=True),
            default=1.0,
            show_default=True,
            help="Share of its reflections with which a group merges; late ones join the next batch.",
        ),
        click.option(
            "--hedge",
            type=click.FloatRange(0, 100, min_open=True, max_open=True),
            help="Ask again when a call takes longer than so many percent of its kind.",
        ),
        click.option(
            "--staleness",
            type=click.IntRange(0, 1),
            default=0,
            show_default=True,
            help="1: reflect on the next batch while this one is merged, with the playbook from before.",
        ),
        click.option(
            "--token-budget",
            type=click.IntRange(100),
            help="Most tokens of a merge's prompt [default: half of the model's context where that is known].",
        ),
    ):
        function = option(function)
    return function


@click.command("learn")
@click.option("--prompt", required=True, help="Name of the prompt to improve.")
@click.option("--from", "base", help="Version to start from [default: the latest approved one, else empty].")
@click.option("--batch", type=BatchSize(), default=32, show_default=True, help="Traces in one iteration, or auto.")
@click.option("--batch-candidates", type=BatchSizes(), help="Batch sizes that auto tries [default: three to five].")
@click.option(
    "--tau",
    type=click.FloatRange(0, 1, min_open=True),
    default=TAU_SHARE,
    show_default=True,
    help="Auto: share of the steepest saving that one more trace must still save.",
)
@click.option("--parallel", type=click.IntRange(1, 4096), default=16, show_default=True, help="Calls at once.")
@click.option("--copies", type=click.IntRange(1, 16), default=2, show_default=True, help="Copies of each reflection.")
@click.option("--groups", type=click.IntRange(1), help="Groups of a batch [default: square root of its size].")
@click.option(
    "--shuffle",
    type=click.Choice(get_args(Shuffle)),
    default="apart",
    show_default=True,
    help="How copies are dealt out: each to another group (apart), by chance (plain), in order (none).",
)
@click.option(
    "--strategy",
    type=click.Choice(list(STRATEGIES)),
    default="combee",
    show_default=True,
    help="How the reflections of a batch become one update.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, traces and replies: same prompt.")
@click.option("--epochs", type=click.IntRange(1), default=1, show_default=True, help="Times through all traces.")
@click.option(
    "--fan-in",
    type=click.IntRange(2),
    help="Most inputs of a merge above the groups [default: square root of the batch, times copies].",
)
@with_flow
@click.option("--recheck", type=ON_OFF, default="on", show_default=True, help="Ask a merge again for items left out.")
@click.option("--fold-twins", type=ON_OFF, default="on", show_default=True, help="Fold items that say the same.")
@click.option(
    "--retain",
    type=click.Choice(["off", "review", "carry"]),
    default="review",
    show_default=True,
    help="Lessons left out even so: listed as dropped (off), offered in the review, or added as they are (carry).",
)
@click.option("--min-support", type=click.IntRange(1), help="Hold bullets with fewer traces back for the review.")
@click.option(
    "--playbook-tokens", type=click.IntRange(1), help="Beyond this size, propose bullets to remove [default: no bound]."
)
@with_budgets
@click.option("--base-url", help="OpenAI-compatible endpoint [default: the one in the settings].")
@click.option("--model", help="Model at that endpoint.")
@click.option("--embedding-model", help="Model there by which the review finds near-duplicates [default: by wording].")
@click.option("--offline", is_flag=True, help="Use the offline rules engine, no language model.")
@with_filter
@with_workspace
def learn(session: Session, which: TraceFilter, **chosen: Any) -> int:
    """Learn a new candidate version of a prompt from the traces in the database, all of them or those that match."""
    return follow(session, session.workspace.start(settings_of(session.workspace, **chosen), which))


def settings_of(
    workspace: Workspace,
    base: str | None,
    base_url: str | None,
    model: str | None,
    embedding_model: str | None,
    offline: bool,
    **chosen: Any,
) -> RunSettings:
    """The settings that the options of `learn` say; tells when no language model is in them."""
    endpoint = None if offline else _endpoint(workspace.endpoint(), base_url, model)
    if embedding_model and endpoint is None:
        raise click.UsageError("--embedding-model needs an endpoint: set one with --base-url and --model.")
    if embedding_model and endpoint is not None:
        endpoint = endpoint.model_copy(update={"embedding_model": embedding_model})
    if endpoint is None and not offline:
        say("No endpoint is set: the offline rules engine is used, no language model (--base-url and --model set one).")
    try:
        return RunSettings(base=base, endpoint=endpoint, **chosen)
    except ValidationError as error:
        raise CombeeError(what_is_wrong(error)) from error


def _endpoint(stored: Endpoint | None, base_url: str | None, model: str | None) -> Endpoint | None:
    """The stored endpoint with what the options say in its place."""
    if base_url is None and model is None:
        return stored
    if stored is not None:
        given = {"base_url": base_url, "model": model}
        return stored.model_copy(update={name: value for name, value in given.items() if value})
    if model is None:
        raise click.UsageError("--base-url needs --model: which model shall be asked there?")
    return Endpoint(model=model) if base_url is None else Endpoint(base_url=base_url, model=model)


@click.command("resume")
@click.argument("run")
@with_budgets
@with_workspace
def resume(session: Session, run: str, **budgets: float | None) -> int:
    """Go on with a run that was interrupted, cancelled or failed; finished calls are not made again."""
    if not session.workspace.resume(run, budgets={name: most for name, most in budgets.items() if most is not None}):
        say(f"{run} has finished already: no call was made.")
        return _end(session, run)
    return follow(session, run)


def follow(session: Session, run: str) -> int:
    """Wait for a run, tell how it goes on stderr, and print how it ended."""
    try:
        attend(session, run)
    except KeyboardInterrupt:
        session.workspace.interrupt(run)
        session.workspace.wait(run)
        say(f"\nInterrupted; what has finished is kept. Go on with: combee resume {run}")
        return 130
    return _end(session, run)


def attend(session: Session, run: str) -> None:
    """Wait for a run and tell how it goes on stderr."""
    told = 0.0
    while not session.workspace.wait(run, TELL_EVERY_S):
        if sys.stderr.isatty() or time.monotonic() - told > 10:
            told = time.monotonic()
            _tell_progress(session, run)
    if sys.stderr.isatty():
        click.echo("\r\033[K", nl=False, err=True)


def _tell_progress(session: Session, run: str) -> None:
    progress = session.workspace.progress(run)
    if progress is None or not progress.iterations:
        return
    parts = [f"{kind}s {progress.done[kind]}/{progress.total[kind]}" for kind in ("reflection", "merge")]
    line = (
        f"{run}: iteration {progress.iteration}/{progress.iterations}, {', '.join(parts)}, "
        f"{progress.in_flight} in flight, {counted(progress.calls, 'call')}, {progress.failed_calls} failed"
    )
    if progress.held_back:
        line += f", {progress.held_back} waiting for --{progress.held_by}"
    click.echo(f"\r\033[K{line}" if sys.stderr.isatty() else line, nl=not sys.stderr.isatty(), err=True)


def _end(session: Session, run: str) -> int:
    """Print how a run ended; 0 only when it is done."""
    summary = session.workspace.run(run)
    session.answer({name: summary[name] for name in SUMMARY}, lambda: _tell_end(summary))
    if summary["failed_reflections"]:
        left_out = counted(summary["failed_reflections"], "reflection")
        say(f"Left out because it failed: {left_out}. `combee tree {run}` says why.")
    if summary["upkeep"]["note"]:
        say(f"Near-duplicates in the review go by wording, not by embeddings: {summary['upkeep']['note']}")
    if summary["state"] == "done":
        return 0
    say(f"{run} {summary['state']}: {summary['error'] or 'it was stopped'} Go on with: combee resume {run}")
    return 1


def _tell_end(summary: dict[str, Any]) -> None:
    version, base = summary["version"], summary["settings"]["base"]
    held = f", {summary['held_lessons']:,} held back" if summary["held_lessons"] else ""
    made = f"{version} with {counted(summary['bullets'], 'bullet')}" if version else "no version"
    click.echo(
        f"{summary['run']} {summary['state']}: {made} from {counted(summary['traces'], 'trace')} "
        f"({counted(summary['lessons'], 'lesson')}, {summary['dropped_lessons']:,} dropped{held}), "
        f"{counted(summary['calls'], 'call')}, {summary['failed_calls']} failed, {money(summary['cost_usd'])}, "
        f"{summary['wall_s']:.1f} s."
    )
    if version and summary["state"] == "done":
        look = f"combee diff {base} {version}" if base else f"combee export {version}"
        click.echo(f"Next: {look}, then combee approve {version} --by YOU")


def money(cost: float | None) -> str:
    return "cost unknown" if cost is None else f"{cost:.4f} USD"


@click.command("runs")
@with_workspace
def runs(session: Session) -> None:
    """List learning runs, newest first."""
    rows = session.workspace.runs()
    documents = [
        {
            "run": row["id"],
            "prompt": row["prompt"],
            "state": row["state"],
            "error": row["error"],
            "version": f"{row['prompt']}@{row['version']}" if row["version"] else None,
            "traces": row["traces"],
            "settings": row["settings"],
            "wall_s": round(row["wall_s"], 3),
            "created": row["created_at"],
            "finished": row["finished_at"],
        }
        for row in rows
    ]
    shown = ("run", "prompt", "state", "version", "traces", "wall_s")
    session.answer({"runs": documents}, lambda: table(shown, [[doc[name] for name in shown] for doc in documents]))


@click.command("tree")
@click.argument("run")
@click.option("--iteration", type=click.IntRange(1), help="Only this iteration.")
@with_workspace
def tree(session: Session, run: str, iteration: int | None) -> None:
    """Show the merge tree of a run: each call, what went in, what came out, what was dropped."""
    document = session.workspace.tree(run, iteration)
    if iteration and not document["iterations"]:
        say(f"{run} has no iteration {iteration} yet: `combee tree {run}` shows those that it has.")
    session.answer(document, lambda: _tell_tree(document))


def _tell_tree(document: dict[str, Any]) -> None:
    for iteration in document["iterations"]:
        click.echo(f"Iteration {iteration['iteration']}: batch size {iteration['batch_size']} ({iteration['why']})")
        for node in iteration["nodes"]:
            out = node.get("lessons", node.get("operations", []))
            noun = "lesson" if node["kind"] == "reflection" else "operation"
            dropped = f", {counted(len(node['dropped']), 'item')} dropped" if node["dropped"] else ""
            error = f" – {one_line(node['error'], 120)}" if node["error"] else ""
            click.echo(
                f"  {node['id']}  {node['state']}  {counted(len(out), noun)}{dropped}  {node['seconds']:.2f} s{error}"
            )


COMMANDS = (learn, runs, resume, tree)
