"""Bringing files in: kept originals, reading them again, remembered mappings, tags and deletion."""

import json
from pathlib import Path

import pytest

from combee_core.workspace import TraceFilter, Workspace


@pytest.fixture
def workspace(tmp_path: Path):
    with Workspace(tmp_path / "home" / "combee.duckdb") as opened:
        yield opened


def chat(number: int, **more: object) -> dict[str, object]:
    messages = [{"role": "user", "content": f"Task {number}"}, {"role": "assistant", "content": f"Answer {number}"}]
    return {"messages": messages, **more}


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    path = tmp_path / "chats.jsonl"
    path.write_text("\n".join(json.dumps(chat(number, score=number / 4)) for number in range(5)) + "\n")
    return path


def originals(workspace: Workspace) -> list[Path]:
    return sorted(workspace.path.parent.glob("*-originals/*"))


def test_a_trace_shows_the_very_line_it_came_from_even_when_the_file_is_gone(workspace, chats):
    workspace.import_paths([chats])
    lines = chats.read_text().splitlines()
    chats.unlink()
    for trace_id in workspace.trace_ids():
        line = workspace.trace(trace_id).source.line
        assert line is not None
        assert workspace.source_line(trace_id) == lines[line - 1]


def test_the_same_file_is_kept_once_and_a_file_without_traces_not_at_all(workspace, chats, tmp_path):
    nothing = tmp_path / "notes.txt"
    nothing.write_text("hello")
    workspace.import_paths([chats])
    workspace.import_paths([chats])
    workspace.import_paths([nothing])
    assert len(originals(workspace)) == 1


def test_reading_again_changes_nothing_when_the_importers_are_the_same(workspace, chats):
    workspace.import_paths([chats])
    before = workspace.trace_ids()
    report = workspace.reimport()
    assert (report.new, report.duplicates, report.replaced) == (0, 5, 0)
    assert workspace.trace_ids() == before


def test_reading_again_replaces_traces_that_an_older_importer_read_otherwise(workspace, chats):
    workspace.import_paths([chats])
    stale = workspace.trace_ids()[0]
    database = workspace._database
    with database.write() as cursor:
        cursor.execute("update traces set id = 't-old', content_hash = 'old' where id = ?", [stale])
    report = workspace.reimport()
    assert (report.new, report.replaced) == (1, 1)
    assert stale in workspace.trace_ids()
    assert "t-old" not in workspace.trace_ids()


def write(folder: Path, files: dict[str, object]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    return folder


def harbor_job(folder: Path) -> Path:
    steps = [
        {"step_id": 1, "source": "user", "message": "Do it."},
        {"step_id": 2, "source": "agent", "message": "Done."},
    ]
    trial = {"task_name": "t", "trial_name": "t__a", "verifier_result": {"rewards": {"reward": 1.0}}}
    files = {
        "t__a/result.json": trial,
        "t__a/agent/trajectory.json": {"schema_version": "ATIF-v1.6", "steps": steps},
        ".git/config.json": {"hidden": True},
        "notes.json": {"of no": "use"},
    }
    return write(folder, files)


def test_files_that_belong_together_are_read_together_again(workspace, tmp_path):
    job = harbor_job(tmp_path / "job")
    workspace.import_paths([job])
    assert len(originals(workspace)) == 2, "the log and the result beside it, nothing else"
    before = workspace.trace_ids()
    for path in sorted(job.rglob("*.json")):
        path.unlink()
    report = workspace.reimport()
    assert (report.new, report.duplicates, report.replaced) == (0, 1, 0)
    assert workspace.trace_ids() == before
    assert workspace.trace(before[0]).outcome.score == 1.0
    assert str(job) in str(workspace.trace(before[0]).source)


def test_a_log_that_was_given_alone_and_with_its_folder_is_read_again_in_both_ways(workspace, tmp_path):
    job = harbor_job(tmp_path / "job")
    workspace.import_paths([job / "t__a" / "agent" / "trajectory.json"])
    workspace.import_paths([job])
    before = workspace.trace_ids()
    assert len(before) == 2
    assert workspace.reimport().replaced == 0
    assert workspace.trace_ids() == before


def test_reading_again_keeps_the_format_and_the_mapping_that_were_asked_for(workspace, tmp_path):
    rows = write(tmp_path, {"rows.json": [{"question": "Why?", "answer": "So.", "context": "c", "target": "t"}]})
    workspace.import_paths([rows / "rows.json"], format="questions")
    workspace.import_paths([rows / "rows.json"], mapping={"task": "answer"})
    before = workspace.trace_ids()
    assert workspace.reimport().replaced == 0
    assert workspace.trace_ids() == before


def test_reading_again_tells_each_reject_once(workspace, chats):
    chats.write_text(chats.read_text() + "{broken\n")
    workspace.import_paths([chats])
    workspace.reimport()
    assert workspace.rejects()[0] == 1


def test_a_mapping_is_remembered_for_tables_of_the_same_columns(workspace, tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(f"was,wie,note\nTask {name},Answer {name},0.5\n")
    unknown = workspace.import_paths([tmp_path / "a.csv"])
    assert unknown.traces == 0
    assert set(unknown.files[0].columns) == {"was", "wie", "note"}
    mapping = {"task": "was", "answer": "wie", "score": "note"}
    assert workspace.import_paths([tmp_path / "a.csv"], mapping=mapping).new == 1
    assert workspace.mapping_for(("note", "was", "wie")) == mapping
    assert workspace.import_paths([tmp_path / "b.csv"]).new == 1
    trace = workspace.trace(workspace.traces(TraceFilter(text="Task b"))[1][0]["id"])
    assert (trace.task, trace.outcome.score) == ("Task b", 0.5)


def test_tags_are_put_on_by_filter_found_and_taken_off(workspace, chats):
    workspace.import_paths([chats])
    high = TraceFilter(min_score=0.5, max_score=0.75)
    assert workspace.tag(high, "good") == 2
    assert workspace.tag(high, "good") == 0
    assert workspace.tags() == [{"tag": "good", "traces": 2}]
    assert workspace.traces(TraceFilter(tag="good"))[0] == 2
    assert workspace.tag(TraceFilter(min_score=0.75), "good", remove=True) == 1
    assert workspace.traces(TraceFilter(tag="good"))[0] == 1


def test_deleted_traces_are_in_no_list_and_come_back(workspace, chats):
    workspace.import_paths([chats])
    some = TraceFilter(max_score=0.25)
    assert workspace.delete(some) == 2
    assert workspace.traces()[0] == workspace.trace_counts()["total"] == 3
    assert workspace.import_paths([chats]).new == 0, "a deleted trace is still known"
    assert workspace.undelete(some) == 2
    assert workspace.traces()[0] == 5


def reports(workspace: Workspace, *paths: Path, **more: object):
    report = workspace.import_paths(list(paths), **more)  # type: ignore[arg-type]
    return [(file.path, file.format, file.reason, file.traces, file.rejected, file.skipped) for file in report.files]


def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: object) -> None:
        raise AssertionError("the files were read")

    monkeypatch.setattr("combee_core.intake.read_paths", read)


def test_a_known_file_is_answered_without_reading_it(workspace, chats, monkeypatch):
    chats.write_text(chats.read_text() + "{broken\n")
    first = reports(workspace, chats)
    unread(monkeypatch)
    report = workspace.import_paths([chats])
    assert (report.new, report.duplicates, report.rejected) == (0, 5, 1)
    assert reports(workspace, chats) == first
    assert workspace.rejects()[0] == 1


def test_a_known_folder_is_answered_with_the_files_that_were_passed_over(workspace, chats, tmp_path, monkeypatch):
    folder = tmp_path / "runs"
    folder.mkdir()
    chats.rename(folder / "chats.jsonl")
    (folder / "notes.txt").write_text("hello")
    first = workspace.import_paths([folder])
    assert [file.skipped is None for file in first.files] == [True, False]
    unread(monkeypatch)
    again = workspace.import_paths([folder])
    assert [(file.path, file.skipped, file.duplicates) for file in again.files] == [
        (file.path, file.skipped, file.new) for file in first.files
    ]


@pytest.mark.parametrize("change", ["content", "format", "mapping", "rejects"])
def test_a_known_file_is_read_again_when_something_has_changed(workspace, chats, change):
    chats.write_text(chats.read_text() + "{broken\n")
    workspace.import_paths([chats])
    format = None
    if change == "content":
        chats.write_text(chats.read_text().replace("Task 0", "Task 7"))
    elif change == "format":
        format = "ace"
    elif change == "mapping":
        workspace.set_mapping(["a", "b"], {"task": "a"})
    else:
        workspace.drop_rejects(workspace.imports()[0]["id"])
    report = workspace.import_paths([chats], format)
    assert report.new == (1 if change == "content" else 0)
    assert report.rejected == (6 if change == "format" else 1)
    assert workspace.imports()[0]["duplicates"] == {"content": 4, "format": 0}.get(change, 5)


def test_a_retry_replaces_the_rejects_once_the_file_was_read(workspace, chats):
    good = chats.read_text()
    chats.write_text(good + "{broken\n")
    workspace.import_paths([chats])
    number = workspace.imports()[0]["id"]
    chats.write_text("nothing that anybody could read")
    workspace.import_paths([chats], replaces=number)
    assert workspace.rejects(import_id=number)[0] == 1
    chats.write_text(good + "{broken\n")
    assert workspace.import_paths([chats], replaces=number).rejected == 1
    assert workspace.rejects(import_id=number)[0] == 0
    assert {row["id"]: row["rejected"] for row in workspace.imports()}[number] == 0
    assert workspace.rejects()[0] == 2
