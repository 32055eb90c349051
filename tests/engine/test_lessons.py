"""What runs have learnt from one trace, asked for after whole runs with a scripted learner."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from combee_core.engine.host import Host
from combee_core.engine.lessons import Learnt, lessons_of_trace
from combee_core.engine.settings import RunSettings
from combee_core.lesson import Item
from combee_core.playbook import Operation
from combee_core.store.database import Database
from combee_core.store.runs import Runs
from combee_core.store.traces import ImportCounts, TraceFilter, Traces
from tests.engine.scripted import Scripted, add_each, make_trace, opened


@pytest.fixture
def database(tmp_path: Path):
    database = Database(tmp_path / "one.duckdb")
    traces = Traces(database)
    traces.add(traces.begin_import("made", "openai-chat", ""), [make_trace(i) for i in range(9)], [], ImportCounts())
    yield database
    database.close()


def learn(database: Database, learner: Scripted, prompt: str = "p") -> str:
    host = Host(database)
    settings = RunSettings(prompt=prompt)
    run = Runs(database).create(prompt, settings.model_dump(mode="json"), Traces(database).ids(TraceFilter()), None)
    host.start(run, opened(learner))
    assert host.wait(run, 60)
    host.close()
    return run


def of(database: Database, number: int) -> list[Learnt]:
    return lessons_of_trace(database, make_trace(number).id)


def all_but_task_three(items: Sequence[Item]) -> tuple[Operation, ...]:
    return add_each([item for item in items if item.text != make_trace(3).feedback])


def test_a_trace_that_no_run_has_read_has_no_lessons(database):
    assert of(database, 0) == []


def test_a_lesson_names_its_run_and_the_bullet_that_it_stands_behind(database):
    run = learn(database, Scripted())
    (lesson,) = of(database, 5)
    assert (lesson.text, lesson.fate, lesson.run, lesson.prompt) == (make_trace(5).feedback, "in_prompt", run, "p")
    assert (lesson.iteration, lesson.version) == (1, "p@1")
    assert len(lesson.bullets) == 1


def test_a_lesson_that_every_group_left_out_is_dropped_and_stands_behind_no_bullet(database):
    learn(database, Scripted(merge=all_but_task_three))
    (dropped,), (kept,) = of(database, 3), of(database, 4)
    assert (dropped.fate, dropped.bullets) == ("dropped", ())
    assert kept.fate == "in_prompt"


def test_lessons_of_the_newest_run_come_first(database):
    first, second = learn(database, Scripted()), learn(database, Scripted(), prompt="q")
    assert [(lesson.run, lesson.prompt) for lesson in of(database, 2)] == [(second, "q"), (first, "p")]
