"""A database of made traces and a host that learns from them."""

from pathlib import Path

from combee_core.engine.host import Host
from combee_core.engine.report import run_summary
from combee_core.engine.settings import RunSettings
from combee_core.store.database import Database
from combee_core.store.runs import Runs
from combee_core.store.traces import ImportCounts, TraceFilter, Traces
from combee_core.store.versions import Version, Versions
from tests.engine.scripted import Scripted, make_trace, opened


class Bench:
    """A database with `n` traces and a host; `learn` runs to the end and returns the version."""

    def __init__(self, path: Path, n: int) -> None:
        self.database = Database(path)
        traces = Traces(self.database)
        traces.add(
            traces.begin_import("made", "openai-chat", ""), [make_trace(i) for i in range(n)], [], ImportCounts()
        )
        self.ids = traces.ids(TraceFilter())
        self.runs = Runs(self.database)
        self.host = Host(self.database)

    def begin(self, learner: Scripted, **chosen: object) -> str:
        run_settings = RunSettings(prompt="p", **chosen)
        run = self.runs.create("p", run_settings.model_dump(mode="json"), self.ids, None)
        self.host.start(run, opened(learner))
        return run

    def finish(self, run: str) -> dict[str, object]:
        assert self.host.wait(run, 60)
        return run_summary(self.database, run)

    def learn(self, learner: Scripted, **chosen: object) -> tuple[str, Version]:
        run = self.begin(learner, **chosen)
        summary = self.finish(run)
        assert summary["state"] == "done", summary["error"]
        return run, Versions(self.database).get("p", int(str(summary["version"]).split("@")[1]))

    def close(self) -> None:
        self.host.close()
        self.database.close()
