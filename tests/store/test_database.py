"""The database file: opening, locking, migrating, transactions."""

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from combee_core.store.database import Database, StoreError, append
from combee_core.store.migrations import MIGRATIONS

HOLD = """
import sys
from pathlib import Path
from combee_core.store.database import Database
database = Database(Path(sys.argv[1]))
print("open", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def database(tmp_path: Path):
    opened = Database(tmp_path / "combee.duckdb")
    yield opened
    opened.close()


def test_a_new_file_records_every_migration(database):
    assert [row["name"] for row in database.rows("select name from migrations order by name")] == sorted(MIGRATIONS)


def test_opening_again_applies_nothing_twice(database):
    path = database.path
    database.close()
    again = Database(path)
    assert again.row("select count(*) as n from migrations") == {"n": len(MIGRATIONS)}
    again.close()


def test_a_second_process_is_told_which_file_which_process_and_what_to_do(tmp_path):
    path = tmp_path / "combee.duckdb"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        with pytest.raises(StoreError) as told:
            Database(path)
        assert str(path) in str(told.value)
        assert f"process {holder.pid}" in str(told.value)
        assert "stop" in str(told.value)
    finally:
        holder.communicate()


def test_a_database_of_a_newer_combee_or_of_another_program_is_told_and_left_alone(tmp_path):
    newer = Database(tmp_path / "newer.duckdb")
    with newer.write() as cursor:
        cursor.execute("insert into migrations (name) values ('m999_to_come')")
    newer.close()
    with pytest.raises(StoreError, match=r"newer Combee .it holds m999_to_come"):
        Database(newer.path)
    with duckdb.connect(str(tmp_path / "other.duckdb")) as other:
        other.execute("create table runs (a integer)")
    with pytest.raises(StoreError, match=r"cannot be opened as a Combee database .*choose another file"):
        Database(tmp_path / "other.duckdb")
    with duckdb.connect(str(tmp_path / "other.duckdb")) as other:
        assert other.execute("show tables").fetchall() == [("runs",)]


def test_a_symlink_names_the_same_database(tmp_path, database):
    link = tmp_path / "link.duckdb"
    link.symlink_to(database.path)
    same = Database(link)
    with same.write() as cursor:
        cursor.execute("insert into settings values ('a', '1')")
    assert database.row("select value from settings where name = 'a'") == {"value": "1"}
    same.close()


def test_a_file_that_is_no_database_is_refused_in_one_sentence(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    with pytest.raises(StoreError, match="cannot be opened as a Combee database"):
        Database(path)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(StoreError, match="is a folder"):
        Database(tmp_path)


def test_a_failed_transaction_leaves_nothing_and_the_next_one_works(database):
    def half_way() -> None:
        with database.write() as cursor:
            cursor.execute("insert into settings values ('a', '1')")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        half_way()
    with database.write() as cursor:
        cursor.execute("insert into settings values ('b', '2')")
    assert database.rows("select name from settings") == [{"name": "b"}]


def test_no_query_reaches_files_outside(database, tmp_path):
    outside = tmp_path / "x.csv"
    outside.write_text("a\n1\n")
    with pytest.raises(Exception, match="disabled"):
        database.rows(f"select * from read_csv('{outside}')")


def test_append_replaces_rows_of_the_same_key_when_asked(database):
    with database.write() as cursor:
        append(cursor, "settings", [{"name": "a", "value": "1"}])
        append(cursor, "settings", [{"name": "a", "value": "2"}], replace=True)
    assert database.rows("select * from settings") == [{"name": "a", "value": "2"}]
