"""A whole learning run: epochs over batches, one iteration and candidate version a batch, resumable at any point."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass

from combee_core.batch_size import Measurement
from combee_core.engine.budget import Budget
from combee_core.engine.caps import Caps
from combee_core.engine.dealing import Batch, dealer_of, dealt_batches, measurements
from combee_core.engine.gate import Gate
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
from combee_core.strategies import STRATEGIES, Shape, prepare


@dataclass(frozen=True)
class State:
    """The prompt as the last finished iteration left it; `version` is None before anything is stored."""

    version: int | None
    playbook: Playbook
    sources: Sources
    next_number: int


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
        caps = self._progress.caps = Caps(self._settings.rpm, self._settings.tpm)
        workshop = Workshop(
            self._learner,
            limiter,
            journal,
            self._progress,
            self._traces,
            self._settings,
            Gate(Budget(self._settings, self._row["wall_s"], self._progress), caps, limiter),
        )
        await asyncio.to_thread(prepare, self._settings.strategy)
        started = time.perf_counter()
        try:
            state = self._first_state()
            for batch, of in self._unfinished():
                state = await self._iterate(batch, of, state, workshop)
        finally:
            await journal.close()
            self._runs.add_session(self._run, time.perf_counter() - started, limiter.changes)

    def _unfinished(self) -> Iterator[tuple[Batch, int]]:
        """Each iteration that is still to be run, dealt when its turn comes, and how many there are in all."""
        dealt = dealt_batches(self._runs, self._run)
        dealer = dealer_of(self._runs, self._row, dealt)
        finished = {row["iteration"] for row in self._runs.iterations(self._run)}
        yield from ((batch, dealer.in_all()) for batch in dealt if batch.iteration not in finished)
        while batch := dealer.next(self._delays() if dealer.controller else ()):
            self._runs.deal(self._run, batch.iteration, batch.epoch, batch.trace_ids, batch.why)
            if batch.iteration not in finished:
                yield batch, dealer.in_all()

    def _delays(self) -> list[Measurement]:
        return measurements(self._runs.iterations(self._run))

    def _first_state(self) -> State:
        """Where the run stands: its last stored version, else the version to start from, else an empty playbook."""
        own: str = self._row["prompt"]
        reference = f"{own}@{self._row['version']}" if self._row["version"] else self._settings.base
        if reference is None:
            return State(None, Playbook(), {}, 1)
        prompt, _, number = reference.rpartition("@")
        stored = self._versions.get(prompt, int(number))
        # A run of a comparison starts from a version of another prompt, which cannot be the parent of its own.
        return State(stored.version if prompt == own else None, stored.playbook, stored.sources, stored.next_number)

    async def _iterate(self, batch: Batch, of: int, state: State, workshop: Workshop) -> State:
        started = time.perf_counter()
        merge_tree = tree_plan(len(batch.trace_ids), batch.iteration, self._settings)
        groups = sum(len(level) for level in merge_tree.levels) - 1
        totals = {"reflection": len(batch.trace_ids), "merge": groups, "final": 1}
        self._progress.begin_iteration(batch.iteration, of, len(batch.trace_ids), totals)
        kept = self._kept(batch.iteration)
        iteration = Iteration(
            batch.iteration,
            batch.trace_ids,
            state.playbook,
            max(state.next_number, first_free_number(state.playbook)),
            merge_tree,
            workshop,
            kept,
        )
        finished = await iteration.run()
        return self._store(batch, state, finished, time.perf_counter() - started, whole=not kept)

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

    def _store(self, batch: Batch, state: State, finished: Finished, seconds: float, whole: bool) -> State:
        """One transaction: the new version and the iteration that made it.

        `whole`: all of it was done in one session, so that its seconds tell what its batch size takes.
        """
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
                "insert into iterations (run, iteration, epoch, batch_size, why, seconds, lessons, dropped, version, "
                "held, whole) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    self._run,
                    batch.iteration,
                    batch.epoch,
                    len(batch.trace_ids),
                    batch.why,
                    seconds,
                    len(lessons),
                    len(lessons - kept - held),
                    version,
                    len(held),
                    whole,
                ],
            )
        return State(version, playbook, sources, finished.applied.next_number)
