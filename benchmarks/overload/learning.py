"""One learning run over planted lessons, through the product's own store, engine, tree and merge."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from benchmarks.overload.planted import Planted
from combee_core.engine.host import Host
from combee_core.engine.report import run_summary
from combee_core.engine.settings import RunSettings
from combee_core.learners.ace import AceLearner
from combee_core.learners.base import Learner, Summariser
from combee_core.lesson import Item, Lesson, Reflection
from combee_core.llm.base import Meter
from combee_core.llm.endpoint import Endpoint, OpenAIModel
from combee_core.playbook import Merged, Playbook
from combee_core.store.database import Database
from combee_core.store.runs import Runs
from combee_core.store.traces import ImportCounts, Traces
from combee_core.store.versions import Versions
from combee_core.trace import Trace

PROMPT = "planted"


class SummarisingLearner(Learner, Summariser, Protocol):
    """A learner that any strategy can be run with."""


class PlantedLearner:
    """Hands each trace's planted lesson up as its reflection, without a call, and leaves all else to another one."""

    def __init__(self, merges: SummarisingLearner) -> None:
        self._merges = merges
        self.name = f"planted/{merges.name}"

    async def reflect(self, trace: Trace, playbook: Playbook, meter: Meter) -> Reflection:
        """The planted lesson."""
        return Reflection(lessons=(Lesson(text=trace.feedback),))

    async def merge(self, items: Sequence[Item], playbook: Playbook, meter: Meter, final: bool) -> Merged:
        """What the other learner makes of the items."""
        return await self._merges.merge(items, playbook, meter, final)

    async def summarise(self, items: Sequence[Item], meter: Meter) -> str:
        """What the other learner makes of the items."""
        return await self._merges.summarise(items, meter)


@asynccontextmanager
async def model_learner(endpoint: Endpoint, instructed: Callable[[str], str]) -> AsyncIterator[Learner]:
    """Merges by the model at an endpoint with the product's ACE learner."""
    model = OpenAIModel(endpoint, None)
    model.connect()
    try:
        yield PlantedLearner(AceLearner(model, instructed))
    finally:
        await model.aclose()


def learn(
    database_file: Path,
    lessons: Sequence[Planted],
    settings: dict[str, Any],
    open_learner: Callable[[], AbstractAsyncContextManager[Learner]],
) -> tuple[list[str], dict[str, Any]]:
    """The bullets of the final playbook and the run's summary; a run that an earlier call left unfinished goes on.

    Unless the settings say otherwise, all lessons are one batch. Raises RuntimeError when the run does not end well.
    """
    database = Database(database_file)
    host = Host(database)
    try:
        run = _run(database, lessons, settings)
        host.start(run, open_learner)
        host.wait(run)
        summary = run_summary(database, run)
        if summary["state"] != "done":
            raise RuntimeError(f"{database_file}: {run} {summary['state']}: {summary['error']}")
        version = Versions(database).get(PROMPT, int(summary["version"].rsplit("@", 1)[1]))
        return [bullet.content for bullet in version.playbook.bullets], summary
    finally:
        host.close()
        database.close()


def _run(database: Database, lessons: Sequence[Planted], settings: dict[str, Any]) -> str:
    runs, traces = Runs(database), Traces(database)
    runs.interrupt_orphans()
    if earlier := runs.all():
        run: str = earlier[0]["id"]
        return run
    made = [lesson.trace(number) for number, lesson in enumerate(lessons)]
    traces.add(traces.begin_import("planted", "openai-chat", ""), made, [], ImportCounts())
    chosen = RunSettings(**{"prompt": PROMPT, "batch": len(made)} | settings)
    return runs.create(PROMPT, chosen.model_dump(mode="json"), [trace.id for trace in made], None)
