"""A whole learning run: epochs over batches, one iteration and candidate version a batch, resumable at any point."""

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from combee_core.engine.budget import Budget
from combee_core.engine.iteration import Finished, Iteration, Workshop
from combee_core.engine.journal import Journal
from combee_core.engine.limiter import Limiter
from combee_core.engine.progress import Progress
from combee_core.engine.settings import RunSettings
from combee_core.engine.sources import held_lessons, kept_lessons, sources_after
from combee_core.learners.base import Learner
from combee_core.playbook import Playbook, first_free_number, tag
from combee_core.scan import TreePlan
from combee_core.store.database import Database, Row
from combee_core.store.runs import Runs
from combee_core.store.traces import Traces
from combee_core.store.versions import Sources, Versions
from combee_core.strategies import STRATEGIES, Shape


@dataclass(frozen=True)
class Batch:
    """One iteration's share of the traces: `iteration` and `epoch` count from 1."""

    iteration: int
    epoch: int
    trace_ids: tuple[str, ...]


@dataclass(frozen=True)
class State:
    """The prompt as the last finished iteration left it; `version` is None before anything is stored."""

    version: int | None
    playbook: Playbook
    sources: Sources
    next_number: int


def batches(trace_ids: Sequence[str], settings: RunSettings) -> list[Batch]:
    """Deal the traces into batches, in a fresh seeded order each epoch; depends on ids and settings alone."""
    dealt: list[Batch] = []
    for epoch in range(1, settings.epochs + 1):
        order = sorted(trace_ids)
        random.Random(f"{settings.seed}:{epoch}").shuffle(order)
        for start in range(0, len(order), settings.batch):
            dealt.append(Batch(len(dealt) + 1, epoch, tuple(order[start : start + settings.batch])))
    return dealt


def tree_plan(batch_size: int, iteration: int, settings: RunSettings) -> TreePlan:
    """The steps of one iteration, as the run's strategy plans them."""
    shape = Shape(settings.copies, settings.groups, settings.shuffle, settings.fan_in)
    return STRATEGIES[settings.strategy].plan(batch_size, shape, settings.seed * 1_000_003 + iteration)


class Run:
    """Carries one stored run to its end. The run's rows say where it starts: starting and resuming are the same."""

    def __init__(self, database: Database, run: str, learner: Learner, progress: Progress) -> None:
        self._database = database
        self._runs, self._versions, self._traces = Runs(database), Versions(database), Traces(database)
        self._run = run
        self._row = self._runs.get(run)
        self._settings = RunSettings.model_validate(self._row["settings"])
        self._learner = learner
        self._progress = progress

    async def work(self) -> None:
        """Run every iteration that is not finished. Raises CombeeError when the run cannot go on."""
        journal = Journal(self._runs, self._run)
        limiter = self._progress.limiter = Limiter(self._settings.parallel)
        workshop = Workshop(
            self._learner,
            limiter,
            journal,
            self._progress,
            self._traces,
            self._settings,
            Budget(self._settings, self._row["wall_s"]),
        )
        started = time.perf_counter()
        try:
            state = self._first_state()
            for batch in self._unfinished(planned := batches(self._row["trace_ids"], self._settings)):
                state = await self._iterate(batch, len(planned), state, workshop)
        finally:
            await journal.close()
            self._runs.add_session(self._run, time.perf_counter() - started, limiter.changes)

    def _unfinished(self, planned: Sequence[Batch]) -> Iterator[Batch]:
        finished = {row["iteration"] for row in self._runs.iterations(self._run)}
        return (batch for batch in planned if batch.iteration not in finished)

    def _first_state(self) -> State:
        """Where the run stands: its last stored version, else the version to start from, else an empty playbook."""
        version = self._row["version"] or self._row["base_version"]
        if version is None:
            return State(None, Playbook(), {}, 1)
        stored = self._versions.get(self._row["prompt"], version)
        return State(stored.version, stored.playbook, stored.sources, stored.next_number)

    async def _iterate(self, batch: Batch, of: int, state: State, workshop: Workshop) -> State:
        started = time.perf_counter()
        merge_tree = tree_plan(len(batch.trace_ids), batch.iteration, self._settings)
        groups = sum(len(level) for level in merge_tree.levels) - 1
        totals = {"reflection": len(batch.trace_ids), "merge": groups, "final": 1}
        self._progress.begin_iteration(batch.iteration, of, len(batch.trace_ids), totals)
        iteration = Iteration(
            batch.iteration,
            batch.trace_ids,
            state.playbook,
            max(state.next_number, first_free_number(state.playbook)),
            merge_tree,
            workshop,
            self._kept(batch.iteration),
        )
        finished = await iteration.run()
        return self._store(batch, state, finished, time.perf_counter() - started)

    def _kept(self, iteration: int) -> dict[str, Row]:
        """Nodes that need no new call.

        A run that had failed gets another try at its failed reflections, but for those that a finished merge has
        gone on without.
        """
        rows = [row for row in self._runs.nodes(self._run, iteration) if row["output"]]
        settled = {name for row in rows if row["kind"] != "reflection" for name in row["inputs"]}
        try_again = {
            row["id"]
            for row in rows
            if row["state"] == "failed" and self._row["state"] == "failed" and row["id"] not in settled
        }
        return {row["id"]: row for row in rows if row["id"] not in try_again}

    def _store(self, batch: Batch, state: State, finished: Finished, seconds: float) -> State:
        """One transaction: the new version and the iteration that made it."""
        tags = [output["tags"] for output in finished.outputs.values() if "tags" in output]
        playbook = tag(finished.applied.playbook, tags)
        sources = sources_after(state.sources, finished, self._run, batch.iteration, batch.trace_ids)
        lessons = {lesson["id"] for output in finished.outputs.values() for lesson in output.get("lessons", ())}
        kept, held = kept_lessons(finished), held_lessons(finished)
        with self._database.write() as cursor:
            version = self._versions.add(
                cursor,
                self._settings.prompt,
                state.version,
                playbook,
                sources,
                finished.applied.next_number,
                self._run,
                batch.iteration,
            )
            cursor.execute("update runs set version = ? where id = ?", [version, self._run])
            cursor.execute(
                "insert into iterations values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    self._run,
                    batch.iteration,
                    batch.epoch,
                    len(batch.trace_ids),
                    f"fixed: a batch size of {self._settings.batch} was set for this run",
                    seconds,
                    len(lessons),
                    len(lessons - kept - held),
                    version,
                    len(held),
                ],
            )
        return State(version, playbook, sources, finished.applied.next_number)
