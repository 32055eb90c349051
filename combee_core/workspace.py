"""The one object that faces hold: import traces, start, resume and cancel runs, read them, review versions, export.

Faces (command line, pages, HTTP routes) call this and draw what comes back; nothing here prints or draws.
"""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import ValidationError

from combee_core.compare import compare_runs
from combee_core.diff import PlaybookDiff, compare
from combee_core.engine.batch_sizes import BatchSizes, batch_sizes_of
from combee_core.engine.budget import check_price
from combee_core.engine.estimate import Estimate, estimate
from combee_core.engine.events import Watcher
from combee_core.engine.host import Host
from combee_core.engine.lessons import Learnt, lessons_of_trace
from combee_core.engine.outlook import Stamp, iteration_reached, iteration_stamp, iterations_in_all, planned_nodes
from combee_core.engine.progress import Progress
from combee_core.engine.report import merge_tree, run_summary
from combee_core.engine.run import CHARS_A_TOKEN
from combee_core.engine.settings import RunSettings, what_is_wrong
from combee_core.errors import CombeeError
from combee_core.exporters import FORMATS, export
from combee_core.importers.blob import Blob
from combee_core.importers.excerpts import text_of
from combee_core.intake import FileReport, ImportReport, Intake, Watch
from combee_core.learners.base import Learner
from combee_core.learners.choose import open_learner
from combee_core.llm.base import CallFailed
from combee_core.llm.client import usable_address
from combee_core.llm.endpoint import Endpoint
from combee_core.llm.prices import context_tokens
from combee_core.review import Review
from combee_core.store.database import Database, Row
from combee_core.store.originals import Originals
from combee_core.store.preferences import Preferences
from combee_core.store.runs import Runs
from combee_core.store.traces import ImportCounts, TraceFilter, Traces
from combee_core.store.versions import Version, Versions
from combee_core.strategies import check_learner
from combee_core.trace import Trace
from combee_core.variants import Variant, read_variant


@dataclass(frozen=True)
class Started:
    """One variant of a comparison, by its name: the run that was started for it, or why there is none."""

    name: str
    run: str | None
    error: str | None = None


ENDED = ("done", "failed", "cancelled", "interrupted")


def default_path() -> Path:
    """Where the data lives unless said otherwise: `COMBEE_HOME`/combee.duckdb, by default in ~/.combee."""
    return Path(os.environ.get("COMBEE_HOME") or "~/.combee").expanduser() / "combee.duckdb"


class Workspace:
    """Combee's data and engine behind one door. Raises CombeeError, in one sentence, for whatever the user can mend."""

    def __init__(self, path: Path | str | None = None) -> None:
        self._database = Database(Path(path) if path is not None else default_path())
        self.path = self._database.path
        self._traces, self._runs = Traces(self._database), Runs(self._database)
        self._versions, self._preferences = Versions(self._database), Preferences(self._database)
        self._intake, self._originals = Intake(self._database), Originals(self._database)
        self.review = Review(self._database)
        self._runs.interrupt_orphans()
        self._host = Host(self._database)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Interrupt running runs (they can be resumed) and close the file."""
        self._host.close()
        self._database.close()

    # Traces

    def import_paths(
        self,
        paths: Sequence[Path | str],
        format: str | None = None,
        names: Mapping[Path, str] | None = None,
        mapping: Mapping[str, str] | None = None,
        watch: Watch = lambda counts: None,
        replaces: int | None = None,
    ) -> ImportReport:
        """Read files, folders and archives. `names` gives the name to show for a path (an upload is spooled).

        `mapping` says which column of an unknown table is which field; it is remembered for tables of the same columns.
        `watch` is given the counts of each file when it begins; they grow while it is read. `replaces` is an earlier
        import whose rejects give way to those of this one, once it has been read.
        """
        given = [Path(path) for path in paths]
        return self._intake.take_in(given, format, names or {}, mapping, watch, replaces=replaces)

    def reimport(self, watch: Watch = lambda counts: None) -> ImportReport:
        """Read every kept original again with the importers of today."""
        return self._intake.take_in_again(watch)

    def mapping_for(self, columns: Sequence[str]) -> dict[str, str] | None:
        """The mapping last used for a table of these columns, or None."""
        return self._intake.mapping_for(columns)

    def set_mapping(self, columns: Sequence[str], mapping: Mapping[str, str]) -> None:
        """Read tables of these columns, in any order, with this mapping from now on. Raises CombeeError."""
        self._intake.set_mapping(columns, mapping)

    def source_line(self, trace_id: str) -> str | None:
        """The very text that a trace was read from, out of the kept original; None where its place is not known."""
        source, original = self.trace(trace_id).source, self._traces.original_of(trace_id)
        if original is None:
            return None
        return text_of(Blob(source.file, lambda: self._originals.open(original)), source)

    def traces(self, which: TraceFilter | None = None, limit: int = 50, offset: int = 0) -> tuple[int, list[Row]]:
        """Number of matching traces, and one page of them in the order they came in."""
        return self._traces.page(which or TraceFilter(), limit, offset)

    def trace(self, trace_id: str) -> Trace:
        """One whole trace."""
        return self._traces.get(trace_id)

    def trace_ids(self, which: TraceFilter | None = None) -> list[str]:
        """Ids of all matching traces, sorted."""
        return self._traces.ids(which or TraceFilter())

    def trace_counts(self) -> Row:
        """total, success, failure, unknown over all traces."""
        return self._traces.outcomes()

    def trace_formats(self) -> list[str]:
        """Formats of the traces that are there."""
        return self._traces.formats()

    def lessons_of(self, trace_id: str) -> list[Learnt]:
        """What runs have learnt from a trace and what became of it, newest run first."""
        return lessons_of_trace(self._database, trace_id)

    def tag(self, which: TraceFilter, tag: str, remove: bool = False) -> int:
        """Put a tag on all matching traces, or take it off; returns how many changed. A tag is one line of text."""
        if not remove and not (tag := " ".join(tag.split())):
            raise CombeeError("A tag needs a name: choose one.")
        ids = self.trace_ids(which)
        return self._traces.remove_tag(ids, tag) if remove else self._traces.add_tag(ids, tag)

    def tags(self) -> list[Row]:
        """Every tag with the number of traces that have it."""
        return self._traces.tags()

    def tags_of(self, trace_id: str) -> list[str]:
        """Tags of one trace."""
        return self._traces.tags_of(trace_id)

    def delete(self, which: TraceFilter) -> int:
        """Hide all matching traces from lists and runs; returns how many. `undelete` brings them back."""
        return self._traces.delete(self.trace_ids(which))

    def undelete(self, which: TraceFilter) -> int:
        """Bring all matching deleted traces back; returns how many."""
        return self._traces.restore(self.trace_ids(replace(which, deleted=True)))

    def imports(self) -> list[Row]:
        """All imports, newest first."""
        return self._traces.imports()

    def rejects(self, limit: int = 50, offset: int = 0, import_id: int | None = None) -> tuple[int, list[Row]]:
        """Number of records that could not be read, and one page of them."""
        return self._traces.rejects(limit, offset, import_id)

    def files_with_rejects(self) -> list[Row]:
        """import_id, file and the number of its rejects, newest import first."""
        return self._traces.files_with_rejects()

    def drop_rejects(self, import_id: int) -> int:
        """Forget the records of an import that could not be read; returns how many."""
        return self._traces.drop_rejects(import_id)

    # Endpoint

    def endpoint(self) -> Endpoint | None:
        """The endpoint that runs use unless told otherwise; None means the offline rules engine."""
        stored = self._preferences.get("endpoint")
        return Endpoint.model_validate(stored) if stored else None

    def set_endpoint(self, endpoint: Endpoint | None) -> None:
        """Store the endpoint for later runs; keys are never part of it."""
        self._preferences.set("endpoint", endpoint.model_dump(mode="json") if endpoint else None)

    def preference(self, name: str) -> Any:
        """A small stored setting, such as the reviewer's name; None when it was never set."""
        return self._preferences.get(name)

    def set_preference(self, name: str, value: object) -> None:
        """Store a small JSON-serialisable setting. Not for secrets."""
        self._preferences.set(name, value)

    # Runs

    def estimate(self, settings: RunSettings, which: TraceFilter | None = None) -> Estimate:
        """Tree, calls, tokens, cost and time of a run that has not started. Raises CombeeError without traces."""
        check_learner(settings.strategy, with_model=settings.endpoint is not None)
        return estimate(self._database, self._some_traces(which), settings)

    def start(self, settings: RunSettings, which: TraceFilter | None = None, api_key: str | None = None) -> str:
        """Start a run in the background and return its id. `api_key` None takes OPENAI_API_KEY; it is never stored."""
        check_learner(settings.strategy, with_model=settings.endpoint is not None)
        trace_ids = self._some_traces(which)
        base = self._base_version(settings)
        settings = settings.model_copy(update={"base": f"{settings.prompt}@{base}" if base else None})
        return self._begin(settings, trace_ids, base, api_key)

    def start_comparison(
        self,
        settings: RunSettings,
        names: Sequence[str],
        which: TraceFilter | None = None,
        api_key: str | None = None,
    ) -> list[Started]:
        """Start a run for each variant, one after the other, all with these settings and from the same version.

        `names` are strategies, or strategies with settings of their own, such as `combee:copies=1`. The versions of S
        are those of the prompt `NAME-S`, so that the prompt itself stays as it is. A strategy that cannot be started is
        reported; the others go on, also when one of them fails.
        """
        trace_ids = self._some_traces(which)
        base = self._base_version(settings)
        reference = f"{settings.prompt}@{base}" if base else None
        planned = {name: _compared(settings, read_variant(name), reference) for name in names}
        started: list[Started] = []
        last = None
        for name, one in planned.items():
            try:
                check_learner(one.strategy, with_model=one.endpoint is not None)
            except CombeeError as error:
                started.append(Started(name, None, str(error)))
            else:
                last = self._begin(one, trace_ids, None, api_key, after=last)
                started.append(Started(name, last))
        return started

    def compare_runs(self, runs: Sequence[str]) -> Row:
        """What runs made of their traces, side by side, and what it took; see `combee compare --json`."""
        return compare_runs(self._database, runs)

    def _begin(
        self,
        settings: RunSettings,
        trace_ids: list[str],
        base: int | None,
        api_key: str | None,
        after: str | None = None,
    ) -> str:
        """Store a run and start it, once the run `after` has ended."""
        if settings.endpoint is not None:
            try:
                usable_address(settings.endpoint.base_url)
            except CallFailed as error:
                raise CombeeError(str(error)) from error
        check_price(settings)
        settings = settings.model_copy(update={"batch_from": self._trials_before(settings), **self._room(settings)})
        run = self._runs.create(settings.prompt, settings.model_dump(mode="json"), trace_ids, base)
        self._host.start(run, lambda: _learner_of(settings, api_key), after)
        return run

    def resume(self, run: str, api_key: str | None = None, budgets: Mapping[str, float] | None = None) -> bool:
        """Go on with a run in the background; False when it had finished and there is nothing to do.

        `budgets` sets new ones (max_calls, max_tokens, max_cost, max_minutes), each for the whole run, and caps a
        minute (rpm, tpm).
        """
        row = self._runs.get(run)
        if row["state"] == "done":
            return False
        try:
            settings = RunSettings.model_validate(row["settings"] | dict(budgets or {}))
        except ValidationError as error:
            raise CombeeError(what_is_wrong(error)) from error
        check_price(settings)
        if budgets and not self.is_live(run):
            self._runs.set_settings(run, settings.model_dump(mode="json"))
        self._host.start(run, lambda: _learner_of(settings, api_key))
        return True

    def cancel(self, run: str) -> None:
        """Stop a live run; what has finished is kept and it can be resumed."""
        self._host.stop_run(run, "cancelled")

    def interrupt(self, run: str) -> None:
        """Stop a live run because its process has to end; it can be resumed."""
        self._host.stop_run(run, "interrupted")

    def wait(self, run: str, timeout: float | None = None) -> bool:
        """Wait for a live run to end; False when it still goes on after `timeout` seconds."""
        return self._host.wait(run, timeout)

    def learn(self, settings: RunSettings, which: TraceFilter | None = None, api_key: str | None = None) -> Row:
        """Start a run, wait for its end, and return its summary."""
        run = self.start(settings, which, api_key)
        self.wait(run)
        return self.run(run)

    def is_live(self, run: str) -> bool:
        """Whether this process is working on the run."""
        return self._host.is_live(run)

    def is_stopping(self, run: str) -> bool:
        """Whether a live run was asked to stop and has not ended yet."""
        return self._host.is_stopping(run)

    def progress(self, run: str) -> Progress | None:
        """Counters of a run that this process has worked on, as they are now, or None."""
        return self._host.progress(run)

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Have `watcher` told every event of every run, on the engine's thread; returns what ends that."""
        return self._host.events.subscribe(watcher)

    def run(self, run: str) -> Row:
        """State, version, totals and settings of one run."""
        return run_summary(self._database, run)

    def runs(self) -> list[Row]:
        """All runs, newest first."""
        return self._runs.all()

    def tree(self, run: str, iteration: int | None = None) -> Row:
        """The merge trees of a run, as `combee tree --json` prints them."""
        return merge_tree(self._database, run, iteration)

    def nodes(self, run: str, iteration: int) -> list[Row]:
        """Stored nodes of one iteration in plan order, for fates and figures."""
        return self._runs.nodes(run, iteration)

    def planned_nodes(self, run: str, iteration: int) -> list[Row]:
        """All nodes of one iteration as planned; those that are not on record have the state `waiting`."""
        return planned_nodes(self._database, run, iteration)

    def iteration_stamp(self, run: str, iteration: int) -> Stamp:
        """A value that changes whenever a node of the iteration is recorded."""
        return iteration_stamp(self._database, run, iteration)

    def iteration_reached(self, run: str) -> int:
        """The iteration that a run is at or has stopped in; the last one when all are finished."""
        return iteration_reached(self._database, run)

    def iterations_in_all(self, run: str) -> int:
        """How many iterations a run has, finished and to come; with an automatic batch size as far as can be told."""
        return iterations_in_all(self._database, run)

    def batch_sizes(self, run: str) -> BatchSizes:
        """The batch sizes of a run: trials, fitted curve, choices with their reasons."""
        return batch_sizes_of(self._database, run)

    def iterations(self, run: str) -> list[Row]:
        """Finished iterations of a run."""
        return self._runs.iterations(run)

    # Versions

    def prompts(self) -> list[Row]:
        """One row a prompt: name, versions, latest, approved, candidates."""
        return self._versions.prompts()

    def versions(self, prompt: str) -> list[Row]:
        """All versions of a prompt, newest first. Raises CombeeError when there are none."""
        found = self._versions.of_prompt(prompt)
        if not found:
            raise CombeeError(f"There is no prompt {prompt}: `combee learn --prompt {prompt}` makes its first version.")
        return found

    def version(self, reference: str) -> Version:
        """The version that `NAME@N` names, or the latest approved one of `NAME`."""
        name, at, number = reference.partition("@")
        if at:
            if not number.isdecimal():
                raise CombeeError(f"{reference} names no version: write NAME@N, for example {name}@1.")
            return self._versions.get(name, int(number))
        rows = self.versions(name)
        approved = self._versions.latest_approved(name)
        if approved is None:
            candidates = ", ".join(f"{name}@{row['version']}" for row in rows[:10])
            raise CombeeError(
                f"No version of {name} is approved yet; candidates: {candidates}. Name one, or approve it."
            )
        return self._versions.get(name, approved)

    def diff(self, before: str, after: str) -> PlaybookDiff:
        """Bullet by bullet, what changed from one version to another."""
        return compare(self.version(before).playbook, self.version(after).playbook)

    def approve(self, reference: str, by: str, note: str = "") -> Version:
        """Approve a version, with rejected changes undone and edits put in, and return what is approved."""
        return self.review.approve(self.version(reference), by, note)

    def export(self, reference: str, format: str = "markdown") -> str:
        """The text of a version as markdown, json or ace."""
        if format not in FORMATS:
            raise CombeeError(f"There is no export format {format}: choose one of {', '.join(FORMATS)}.")
        version = self.version(reference)
        traces = {entry["trace"] for entries in version.sources.values() for entry in entries}
        return export(version, format, self._traces.successes(traces) if format == "json" else {})

    # Helpers

    def _room(self, settings: RunSettings) -> dict[str, Any]:
        """How much a merge of a run may be given, as the model allows; on record, so that a resumed run does the same.

        What a merge answers is about as long as its items: they get half of the context.
        """
        if settings.endpoint is None:
            return {}
        model = settings.endpoint.model
        context = context_tokens(model, settings.endpoint.base_url)
        return {
            "token_budget": settings.token_budget or (context // 2 if context else None),
            "chars_a_token": self._preferences.get(f"{CHARS_A_TOKEN}:{model}") or settings.chars_a_token,
        }

    def _some_traces(self, which: TraceFilter | None) -> list[str]:
        ids = self.trace_ids(which)
        if not ids:
            raise CombeeError(
                "There are no traces to learn from: import some first."
                if not self._traces.count()
                else "No trace matches this filter: widen it."
            )
        return ids

    def _base_version(self, settings: RunSettings) -> int | None:
        """The version to start from: the one named, else the latest approved one of the prompt, else none."""
        if settings.base is None:
            return self._versions.latest_approved(settings.prompt)
        version = self.version(settings.base)
        if version.prompt != settings.prompt:
            raise CombeeError(
                f"{version.name} is a version of another prompt than {settings.prompt}: --from takes its own."
            )
        return version.version

    def _trials_before(self, settings: RunSettings) -> str | None:
        """The run whose delays spare an automatic batch size its trials: the newest on the same endpoint."""
        if settings.batch != "auto" or settings.endpoint is None:
            return None
        endpoint = settings.endpoint
        return settings.batch_from or self._runs.latest_with_trials(
            endpoint.base_url, endpoint.model, settings.parallel, settings.strategy
        )


def _compared(settings: RunSettings, variant: Variant, base: str | None) -> RunSettings:
    """The settings of one run of a comparison. Raises CombeeError where the prompt's name leaves no room for it."""
    prompt = f"{settings.prompt}-{variant.slug}"
    told = {"prompt": prompt, "base": base, "compared_for": settings.prompt}
    changed = variant.of(settings).model_dump()
    try:
        return RunSettings.model_validate(changed | told)
    except ValidationError as error:
        raise CombeeError(f"{settings.prompt} is too long a name for a comparison: its runs learn {prompt}.") from error


def _learner_of(settings: RunSettings, api_key: str | None) -> AbstractAsyncContextManager[Learner]:
    return open_learner(settings.endpoint, api_key or os.environ.get("OPENAI_API_KEY"))


_OPEN: dict[Path, Workspace] = {}
_OPEN_LOCK = threading.Lock()


def open_workspace(path: Path | str | None = None) -> Workspace:
    """The process's one workspace on a file: opened at the first call, the same object at every later one."""
    resolved = (Path(path) if path is not None else default_path()).expanduser().resolve()
    with _OPEN_LOCK:
        if resolved not in _OPEN:
            _OPEN[resolved] = Workspace(resolved)
        return _OPEN[resolved]


def close_workspaces() -> None:
    """Close every workspace that `open_workspace` has opened."""
    with _OPEN_LOCK:
        while _OPEN:
            _OPEN.popitem()[1].close()


__all__ = [
    "Endpoint",
    "FileReport",
    "ImportCounts",
    "ImportReport",
    "RunSettings",
    "TraceFilter",
    "Workspace",
    "close_workspaces",
    "default_path",
    "open_workspace",
]
