"""The one background thread in which learning runs live: an asyncio loop that outlasts pages, clicks and tabs."""

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError as FutureCancelled
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from functools import partial

from combee_core.engine.budget import BudgetReached
from combee_core.engine.collector import seldom_collected
from combee_core.engine.events import Events, RunEnded, RunStarted, Spent
from combee_core.engine.progress import Board, Progress
from combee_core.engine.run import Run
from combee_core.errors import CombeeError
from combee_core.learners.base import Learner
from combee_core.store.database import Database
from combee_core.store.runs import Runs

log = logging.getLogger(__name__)

OpenLearner = Callable[[], AbstractAsyncContextManager[Learner]]


class Host:
    """Runs learning runs of one database at once, each a task of the loop; at most one task a run."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._runs = Runs(database)
        self._lock = threading.Lock()
        self._live: dict[str, Future[None]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ends: dict[str, str] = {}
        self.events = Events()
        self._board = Board()
        self.events.subscribe(self._board.take)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="combee-engine", daemon=True)
        self._thread.start()

    def start(self, run: str, open_learner: OpenLearner, after: str | None = None) -> None:
        """Begin or go on with a stored run, once the live run `after` has ended, however that may be.

        Raises CombeeError when the run is being worked on already.
        """
        with self._lock:
            if self.is_live(run):
                raise CombeeError(f"{run} is running already.")
            self.events.emit(run, RunStarted(Spent(**self._runs.totals(run), failures=self._runs.failures(run))))
            self._live[run] = asyncio.run_coroutine_threadsafe(
                self._carry(run, open_learner, self._live.get(after or "")), self._loop
            )

    def is_live(self, run: str) -> bool:
        """Whether a task of this process is working on the run."""
        return run in self._live and not self._live[run].done()

    def is_stopping(self, run: str) -> bool:
        """Whether a live run was asked to stop and has not ended yet."""
        return run in self._ends and self.is_live(run)

    def stop_run(self, run: str, state: str) -> None:
        """Ask a live run to stop and end in `state` (cancelled or interrupted); calls in flight are given up."""
        if self.is_live(run):
            self._ends[run] = state
            self._loop.call_soon_threadsafe(self._cancel, run)

    def _cancel(self, run: str) -> None:
        task = self._tasks.get(run)
        if task is not None:
            task.cancel()

    def wait(self, run: str, timeout: float | None = None) -> bool:
        """Wait until a run of this process has ended; False when it still goes on after `timeout` seconds."""
        live = self._live.get(run)
        if live is not None:
            try:
                live.result(timeout)
            except TimeoutError:
                return False
            except FutureCancelled:
                return True
        return True

    def progress(self, run: str) -> Progress | None:
        """Counters of a run that this process has worked on, as they are now, or None."""
        return self._board.read(run)

    def close(self) -> None:
        """Interrupt what is running, wait for it, and end the thread."""
        for run in list(self._live):
            self.stop_run(run, "interrupted")
        for run in list(self._live):
            self.wait(run)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _carry(self, run: str, open_learner: OpenLearner, after: Future[None] | None) -> None:
        """Work on a run as a task that can be cancelled, and store how it ended."""
        self._tasks[run] = asyncio.create_task(self._work(run, open_learner, after))
        state, error, stopped_by = "done", None, None
        try:
            await self._tasks[run]
        except asyncio.CancelledError:
            state = self._ends.get(run, "interrupted")
        except BudgetReached as reached:
            state, error, stopped_by = "cancelled", str(reached), reached.budget
        except CombeeError as failure:
            state, error = "failed", str(failure)
        except Exception as failure:
            log.exception("run %s broke", run)
            state, error = (
                "failed",
                f"Combee itself broke on this run ({type(failure).__name__}: {failure}). See the log.",
            )
        finally:
            del self._tasks[run]
            self._ends.pop(run, None)
        await asyncio.to_thread(self._runs.set_state, run, state, error, stopped_by)
        self.events.emit(run, RunEnded(state, error))

    async def _work(self, run: str, open_learner: OpenLearner, after: Future[None] | None) -> None:
        if after is not None:
            await asyncio.wait([asyncio.wrap_future(after)])
        async with open_learner() as learner:
            # The run reads how it ended the last time before it is marked as running.
            work = Run(self._database, run, learner, self._board.live(run), partial(self.events.emit, run))
            self._runs.set_state(run, "running")
            with seldom_collected():
                await work.work()
