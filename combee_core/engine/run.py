"""A whole learning run: epochs over batches, one iteration and candidate version a batch, resumable at any point."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from combee_core.batch_size import Measurement
from combee_core.engine.budget import Budget
from combee_core.engine.calls import Output, Workshop
from combee_core.engine.caps import Caps
from combee_core.engine.dealing import Batch, dealer_of, dealt_batches, measurements
from combee_core.engine.events import Emit, HeldBack, IterationDealt, LimitChanged
from combee_core.engine.gate import Gate
from combee_core.engine.handover import Adopted, late_for, second_chances
from combee_core.engine.iteration import Finished, Iteration
from combee_core.engine.journal import Journal
from combee_core.engine.limiter import Limiter
from combee_core.engine.progress import Progress
from combee_core.engine.reflections import Reflections
from combee_core.engine.settings import RunSettings
from combee_core.engine.sources import held_lessons, kept_lessons, sources_after
from combee_core.engine.tree import is_part, iteration_of
from combee_core.engine.upkeep import embed_bullets
from combee_core.errors import CombeeError
from combee_core.learners.base import Learner
from combee_core.playbook import Playbook, first_free_number, tag
from combee_core.scan import TreePlan, extended
from combee_core.store.database import Database, Row
from combee_core.store.ledger import Ledger
from combee_core.store.preferences import Preferences
from combee_core.store.runs import Runs
from combee_core.store.traces import Traces
from combee_core.store.versions import Sources, Versions
from combee_core.strategies import STRATEGIES, Shape, prepare

CHARS_A_TOKEN = "chars_a_token"
"""What the preference begins with that keeps, for later runs, how many characters of a model's prompts make a token."""


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


@dataclass
class _Turn:
    """One iteration at work: its batch, how many there are in all, its plan, and its nodes of earlier sessions."""

    batch: Batch
    of: int
    plan: TreePlan
    stored: dict[str, Row]
    reflections: Reflections


class Run:
    """Carries one stored run to its end. The run's rows say where it starts: starting and resuming are the same."""

    def __init__(self, database: Database, run: str, learner: Learner, progress: Progress, emit: Emit) -> None:
        self._database = database
        self._runs, self._versions, self._traces = Runs(database), Versions(database), Traces(database)
        self._run = run
        self._row = self._runs.get(run)
        self._settings = RunSettings.model_validate(self._row["settings"])
        self._learner = learner
        self._progress = progress
        self._emit = emit
        self._reflections: dict[int, Reflections] = {}

    async def work(self) -> None:
        """Run every iteration that is not finished. Raises CombeeError when the run cannot go on."""
        journal = Journal(self._runs, self._run)
        limiter = Limiter(self._settings.parallel, lambda limit: self._emit(LimitChanged(limit)))
        caps = Caps(self._settings.rpm, self._settings.tpm, lambda calls, cap: self._emit(HeldBack(calls, cap)))
        ledger = Ledger(self._database, self._run, self._progress.calls, self._row["wall_s"])
        workshop = Workshop(
            self._learner,
            limiter,
            journal,
            self._progress,
            self._emit,
            self._traces,
            self._settings,
            Gate(Budget(self._settings, self._row["wall_s"], self._progress), caps, limiter, ledger),
        )
        await asyncio.to_thread(prepare, self._settings.strategy)
        started = time.perf_counter()
        try:
            async with asyncio.TaskGroup() as tasks:
                await self._iterate(workshop, tasks)
            await self._upkeep(workshop)
        except* CombeeError as stopped:
            raise _first_of(stopped) from None
        finally:
            await journal.close()
            ratio = round(workshop.gate.chars_a_token, 2)
            if self._settings.endpoint is not None:
                Preferences(self._database).set(f"{CHARS_A_TOKEN}:{self._settings.endpoint.model}", ratio)
            self._runs.add_session(self._run, time.perf_counter() - started, limiter.changes, ratio)
            ledger.close()

    async def _iterate(self, workshop: Workshop, tasks: asyncio.TaskGroup) -> None:
        """One iteration after the other; with a staleness of 1 the next one is reflected on meanwhile."""
        dealt = self._unfinished()
        state, current = self._first_state(), await self._begun(dealt, workshop, tasks)
        while current is not None:
            ahead = await self._begun(dealt, workshop, tasks) if self._settings.staleness else None
            started = time.perf_counter()
            finished = await self._merge(current, state, workshop, tasks)
            state = self._store(current.batch, state, finished, time.perf_counter() - started, not current.stored)
            current = ahead or await self._begun(dealt, workshop, tasks)

    async def _upkeep(self, workshop: Workshop) -> None:
        """Have what the review of the last version needs made ready, where the endpoint is to be asked for it."""
        endpoint, version = self._settings.endpoint, self._runs.get(self._run)["version"]
        if endpoint is None or endpoint.embedding_model is None or version is None:
            return
        last = self._versions.get(self._settings.prompt, version)
        if len(last.playbook) > 1:
            note = await embed_bullets(workshop, self._runs.upkeep_nodes(self._run), last)
            self._runs.set_upkeep_note(self._run, note)

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
        return self._state(f"{own}@{self._row['version']}" if self._row["version"] else self._settings.base)

    def _state(self, reference: str | None) -> State:
        """The prompt as this version has it."""
        own: str = self._row["prompt"]
        if reference is None:
            return State(None, Playbook(), {}, 1)
        prompt, _, number = reference.rpartition("@")
        stored = self._versions.get(prompt, int(number))
        # A run of a comparison starts from a version of another prompt, which cannot be the parent of its own.
        return State(stored.version if prompt == own else None, stored.playbook, stored.sources, stored.next_number)

    def _state_after(self, iteration: int) -> State:
        """The prompt as an iteration has left it; before the first one, as the run began."""
        rows = [row for row in self._runs.iterations(self._run) if row["iteration"] == iteration]
        return self._state(f"{self._row['prompt']}@{rows[0]['version']}" if rows else self._settings.base)

    async def _begun(
        self, dealt: Iterator[tuple[Batch, int]], workshop: Workshop, tasks: asyncio.TaskGroup
    ) -> "_Turn | None":
        """The next batch, begun to be reflected on, with the playbook of as many iterations before as is allowed."""
        batch, of = next(dealt, (None, 0))
        if batch is None:
            return None
        plan = tree_plan(len(batch.trace_ids), batch.iteration, self._settings)
        stored = self._stored(batch.iteration)
        reflections = Reflections(batch.iteration, batch.trace_ids, plan, workshop, stored, tasks)
        state = self._state_after(batch.iteration - 1 - self._settings.staleness)
        self._runs.begin_batch(self._run, batch.iteration, state.version)
        await reflections.begin(state.playbook)
        self._reflections[batch.iteration] = reflections
        return _Turn(batch, of, plan, stored, reflections)

    async def _merge(self, turn: "_Turn", state: State, workshop: Workshop, tasks: asyncio.TaskGroup) -> Finished:
        """Carry a batch up its tree, together with what it takes over from earlier ones."""
        turn.batch = await self._with_adopted(turn.batch, workshop, tasks)
        adopted = turn.batch.adopted or ()
        plan = extended(turn.plan, len(adopted))
        steps = sum(len(level) for level in plan.levels) - 1
        totals = {"reflection": plan.items, "merge": steps, "final": 1}
        self._emit(IterationDealt(turn.batch.iteration, turn.of, len(turn.batch.trace_ids), totals))
        turn.reflections.adopt(adopted, self._output_of)
        iteration = Iteration(
            turn.batch.iteration,
            plan,
            turn.reflections,
            state.playbook,
            max(state.next_number, first_free_number(state.playbook)),
            workshop,
            turn.stored,
            last=turn.batch.iteration >= turn.of,
        )
        return await iteration.run(tasks)

    async def _with_adopted(self, batch: Batch, workshop: Workshop, tasks: asyncio.TaskGroup) -> Batch:
        """The batch with what it takes over, which is on record from now on, and begun where no session has it yet."""
        if batch.adopted is None:
            adopted = self._left_by(batch.iteration - 1)
            self._runs.adopt(self._run, batch.iteration, [asdict(one) for one in adopted])
            batch = replace(batch, adopted=tuple(adopted))
        dealt = {one.iteration: one for one in dealt_batches(self._runs, self._run)}
        for number in {one.iteration for one in batch.adopted or ()} - self._reflections.keys():
            earlier, stored = dealt[number], self._stored(number)
            plan = tree_plan(len(earlier.trace_ids), number, self._settings)
            again = Reflections(number, earlier.trace_ids, plan, workshop, stored, tasks)
            needed = {one.node for one in batch.adopted or ()}
            await again.begin(self._state_after(number - 1 - self._settings.staleness).playbook, needed)
            self._reflections[number] = again
        needed_on = min({batch.iteration, *(one.iteration for one in batch.adopted or ())})
        self._reflections = {number: one for number, one in self._reflections.items() if number >= needed_on}
        return batch

    def _left_by(self, iteration: int) -> list[Adopted]:
        """What a finished iteration leaves to the next one."""
        late, again = self._settings.quorum < 1, self._settings.second_chance
        if iteration < 1 or not (late or again):
            return []
        nodes = self._runs.nodes(self._run, iteration)
        batch = next(one for one in dealt_batches(self._runs, self._run) if one.iteration == iteration)
        left = late_for(iteration, batch.trace_ids, batch.adopted or (), nodes) if late else []
        return left + (second_chances(nodes) if again else [])

    async def _output_of(self, node: str) -> Output:
        """What a reflection of an earlier iteration puts out, once it is there."""
        return await self._reflections[iteration_of(node)].output(node)

    def _stored(self, iteration: int) -> dict[str, Row]:
        """Nodes that are on record; one with an output needs no new call.

        A run that had failed gets another try at its failed reflections, but for those that a merge has gone on
        without. A merge that was cut into parts has: which parts there are depends on all of its reflections.
        """
        rows = self._runs.nodes(self._run, iteration)
        settled = {name for row in rows if row["kind"] != "reflection" and row["output"] for name in row["inputs"]}
        retry = self._row["state"] == "failed" and not any(is_part(row["id"]) for row in rows)
        try_again = {row["id"] for row in rows if row["state"] == "failed" and row["id"] not in settled and retry}
        return {row["id"]: row for row in rows if row["id"] not in try_again}

    def _store(self, batch: Batch, state: State, finished: Finished, seconds: float, whole: bool) -> State:
        """One transaction: the new version and the iteration that made it.

        `whole`: all of it was done in one session, so that its seconds tell what its batch size takes.
        """
        tags = [output["tags"] for output in finished.outputs.values() if "tags" in output]
        playbook = tag(finished.applied.playbook, tags)
        sources = sources_after(state.sources, finished, self._run, batch.iteration, batch.all_trace_ids)
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


def _first_of(stopped: BaseExceptionGroup[CombeeError]) -> CombeeError:
    """The first error of a group; what happened first is what has ended the run."""
    first = stopped.exceptions[0]
    return _first_of(first) if isinstance(first, BaseExceptionGroup) else first
