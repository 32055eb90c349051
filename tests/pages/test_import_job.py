"""An import on its own thread: progress, reports, and the end of its spool folder."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from combee_core.workspace import Workspace
from pages.import_job import ImportJob, SourceFile
from tests.pages.opened import chat_jsonl, chat_record


def written(folder: Path, name: str, *numbers: int) -> SourceFile:
    path = folder / name
    path.write_bytes(chat_jsonl(*map(chat_record, numbers)))
    return SourceFile(path, f"shown as {name}")


def langfuse_parts(folder: Path) -> list[Path]:
    """A model call and the score of its trace, each in a table of its own."""
    said = {"input": [{"role": "user", "content": "q"}], "output": {"role": "assistant", "content": "a"}}
    call = {"id": "o", "traceId": "t", "type": "GENERATION", "startTime": "2026-01-01T00:00:00Z", **said}
    score = {"traceId": "t", "name": "correctness", "dataType": "NUMERIC", "value": 1, "comment": "right"}
    paths = [folder / "observations.jsonl", folder / "scores.jsonl"]
    for path, record in zip(paths, (call, score), strict=True):
        path.write_text(json.dumps(record) + "\n")
    return paths


def test_files_are_read_in_order_under_the_names_that_people_know(workspace: Workspace, tmp_path: Path):
    job = ImportJob(workspace, [written(tmp_path, "b.jsonl", 1, 2), written(tmp_path, "a.jsonl", 2, 3)])
    assert job.wait(30)
    assert job.done
    assert [(report.path, report.new, report.duplicates) for report in job.reports] == [
        ("shown as b.jsonl", 2, 0),
        ("shown as a.jsonl", 1, 1),
    ]
    assert job.records == 4
    assert job.problem == ""


def test_the_spool_folder_is_removed_at_the_end(workspace: Workspace, tmp_path: Path):
    spool = TemporaryDirectory(dir=tmp_path)
    assert ImportJob(workspace, [written(Path(spool.name), "a.jsonl", 1)], spool).wait(30)
    assert not Path(spool.name).exists()


def test_a_missing_file_does_not_keep_the_others_out(workspace: Workspace, tmp_path: Path):
    job = ImportJob(workspace, [SourceFile(tmp_path / "none", "none"), written(tmp_path, "a.jsonl", 1)])
    assert job.wait(30)
    assert [report.new for report in job.reports] == [0, 1]
    assert "none cannot be read" in job.reports[0].reason


def test_an_import_that_breaks_off_says_why_and_still_removes_its_spool(tmp_path: Path):
    broken = Workspace(tmp_path / "broken.duckdb")
    broken.close()
    spool = TemporaryDirectory(dir=tmp_path)
    job = ImportJob(broken, [written(Path(spool.name), "a.jsonl", 1)], spool)
    assert job.wait(30)
    assert "broke on this import" in job.problem
    assert not Path(spool.name).exists()


def test_a_run_whose_parts_are_uploaded_as_single_files_is_put_together(workspace: Workspace, tmp_path: Path):
    job = ImportJob(workspace, [SourceFile(path, path.name) for path in langfuse_parts(tmp_path)])
    assert job.wait(30)
    assert [(report.format, report.new) for report in job.reports if report.skipped is None] == [("langfuse", 1)]
    assert len(job.reports) == 2


def test_the_copy_of_a_table_that_nobody_knows_is_kept_until_its_columns_are_named(
    workspace: Workspace, tmp_path: Path
):
    spool = TemporaryDirectory(dir=tmp_path)
    table, chats = Path(spool.name) / "0", written(Path(spool.name), "1", 1)
    table.write_text("what was wanted,stars out of 5\nA rye loaf,5\nA cake,1\n")
    job = ImportJob(workspace, [SourceFile(table, "table.csv"), chats], spool)
    assert job.wait(30)
    (unknown,) = job.tables()
    assert table.exists()
    workspace.set_mapping(unknown.columns, {"task": "what was wanted", "score": "stars out of 5"})
    job.read_again(job.source_of(unknown))
    assert job.wait(30)
    assert sorted((report.path, report.new) for report in job.reports) == [("shown as 1", 1), ("table.csv", 2)]
    job.let_go()
    assert not table.exists()
