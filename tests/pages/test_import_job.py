"""An import on its own thread: progress, reports, and the end of its spool folder."""

from pathlib import Path

from combee_core.workspace import Workspace
from pages.import_job import ImportJob, SourceFile
from tests.pages.opened import chat_jsonl, chat_record


def written(folder: Path, name: str, *numbers: int) -> SourceFile:
    path = folder / name
    path.write_bytes(chat_jsonl(*map(chat_record, numbers)))
    return SourceFile(path, f"shown as {name}")


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
    spool = tmp_path / "spool"
    spool.mkdir()
    assert ImportJob(workspace, [written(spool, "a.jsonl", 1)], spool).wait(30)
    assert not spool.exists()


def test_a_missing_file_does_not_keep_the_others_out(workspace: Workspace, tmp_path: Path):
    job = ImportJob(workspace, [SourceFile(tmp_path / "none", "none"), written(tmp_path, "a.jsonl", 1)])
    assert job.wait(30)
    assert [report.new for report in job.reports] == [0, 1]
    assert "none cannot be read" in job.reports[0].reason


def test_an_import_that_breaks_off_says_why_and_still_removes_its_spool(tmp_path: Path):
    broken = Workspace(tmp_path / "broken.duckdb")
    broken.close()
    spool = tmp_path / "spool"
    spool.mkdir()
    job = ImportJob(broken, [written(spool, "a.jsonl", 1)], spool)
    assert job.wait(30)
    assert "broke on this import" in job.problem
    assert not spool.exists()
