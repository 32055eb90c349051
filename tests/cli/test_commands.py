"""The command line as scripts rely on it: JSON on stdout and nothing else, exit codes, one sentence for mistakes."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from combee_core.cli.main import combee
from combee_core.playbook import parse
from tests.cli.shell import Shell
from tests.stand_in import StandIn

ROOT = Path(__file__).parents[2]


def learn(shell: Shell, server: StandIn, *more: object) -> dict[str, Any]:
    return shell.json("learn", "--prompt", "shop", "--base-url", server.url, "--model", "stand-in", *more)


def test_import_counts_new_duplicate_and_rejected(shell, chats):
    report = shell.json("import", chats)
    assert {name: report[name] for name in ("traces", "new", "duplicates", "rejected")} == {
        "traces": 13,
        "new": 12,
        "duplicates": 1,
        "rejected": 1,
    }
    (file,) = report["files"]
    assert file["path"] == str(chats)
    assert file["format"] == "openai-chat"
    assert "messages" in file["reason"]
    again = shell.json("import", chats)
    assert (again["traces"], again["new"], again["duplicates"]) == (13, 0, 13)


def test_rejects_name_file_line_reason_and_excerpt(shell, chats):
    shell.json("import", chats)
    found = shell.json("rejects")
    assert found["total"] == 1
    (reject,) = found["rejects"]
    assert (reject["file"], reject["line"], reject["excerpt"]) == (str(chats), 4, '{"messages": [')
    assert reject["reason"]


@pytest.mark.parametrize("text", ["", "hello, world", "\x00\x01\x02", '{"name": "a-package", "version": "1"}'])
def test_a_file_without_traces_ends_with_one_and_one_sentence(shell, tmp_path, text):
    path = tmp_path / "file"
    path.write_text(text)
    out, err = shell("import", path, "--json", code=1)
    assert json.loads(out)["traces"] == 0
    assert len(err.strip().splitlines()) == 1


def test_a_missing_file_is_told(shell, tmp_path):
    _, err = shell("import", tmp_path / "nothing.jsonl", code=1)
    assert "nothing.jsonl" in err


def test_traces_are_filtered_and_paged(shell, chats):
    shell.json("import", chats)
    found = shell.json("traces", "--limit", 5, "--offset", 10)
    assert (found["total"], len(found["traces"])) == (12, 2)
    assert set(found["traces"][0]) == {"id", "task", "format", "success", "score", "steps", "source"}
    failures = shell.json("traces", "--outcome", "failure")
    assert failures["total"] == 6
    assert {trace["success"] for trace in failures["traces"]} == {False}
    assert shell.json("traces", "--text", "order 11")["total"] == 1
    assert shell.json("traces", "--format", "atif")["total"] == 0


def test_learn_reports_what_the_endpoint_counted(shell, chats, stand_in):
    shell.json("import", chats)
    stand_in.set(faults={"500": 0.1, "malformed": 0.1, "empty": 0.1})
    summary = learn(shell, stand_in, "--batch", 6)
    assert summary["state"] == "done"
    assert summary["calls"] == stand_in.requests
    assert summary["failed_calls"] == sum(stand_in.by_fault[kind] for kind in ("500", "malformed", "empty"))
    assert summary["version"] == "shop@2"
    assert (summary["traces"], summary["iterations"]) == (12, 2)
    assert summary["cost_usd"] is None
    assert summary["lessons"] >= summary["bullets"] > 0
    assert summary["wall_s"] > 0
    assert summary["input_tokens"] > summary["output_tokens"] > 0


def test_offline_learning_makes_no_call_and_costs_nothing(shell, chats):
    shell.json("import", chats)
    summary = shell.json("learn", "--prompt", "shop", "--offline")
    assert (summary["state"], summary["calls"], summary["cost_usd"]) == ("done", 0, 0)
    assert summary["bullets"] > 0


def test_the_playbook_is_the_same_bytes_for_parallel_1_and_64_and_in_another_database(
    shell, chats, stand_in, tmp_path, capsys
):
    texts = set()
    for number, parallel in enumerate((1, 64)):
        other = Shell(tmp_path / f"{number}.duckdb", capsys)
        other.json("import", chats)
        learn(other, stand_in, "--parallel", parallel, "--batch", 5, "--seed", 7)
        texts.add(
            (
                *(other("export", "shop@3", "--format", format_)[0] for format_ in ("markdown", "ace")),
                json.dumps(other.json("export", "shop@3")["sections"]),
            )
        )
    assert len(texts) == 1


def test_the_tree_holds_every_call_and_what_went_where(shell, chats, stand_in):
    shell.json("import", chats)
    summary = learn(shell, stand_in, "--batch", 12)
    (iteration,) = shell.json("tree", summary["run"])["iterations"]
    assert iteration["batch_size"] == 12
    assert iteration["why"].startswith("fixed")
    nodes = {node["id"]: node for node in iteration["nodes"]}
    kinds = [node["kind"] for node in nodes.values()]
    assert (kinds.count("reflection"), kinds.count("merge"), kinds.count("final")) == (12, 3, 1)
    assert sum(node["attempts"] for node in nodes.values()) == summary["calls"]
    for node in nodes.values():
        assert all(name in nodes for name in node["inputs"])
        assert set(node) >= {"level", "group", "traces", "state", "seconds", "input_tokens", "output_tokens", "error"}
    merges = [node for node in nodes.values() if node["kind"] == "merge"]
    assert sum(len(node["inputs"]) for node in merges) == 24
    lost = {item["text"] for node in nodes.values() for item in node["dropped"]}
    assert len(lost) == summary["dropped_lessons"]
    assert shell.json("tree", summary["run"], "--iteration", 9)["iterations"] == []


def test_versions_diff_approve_and_export_tell_one_story(shell, chats, stand_in):
    shell.json("import", chats)
    summary = learn(shell, stand_in, "--batch", 6)
    _, err = shell("export", "shop", code=1)
    assert "shop@2" in err
    assert "shop@1" in err
    listed = shell.json("versions", "shop")
    assert [row["version"] for row in listed["versions"]] == ["shop@2", "shop@1"]
    assert listed["versions"][0]["parent"] == "shop@1"
    assert {row["status"] for row in listed["versions"]} == {"candidate"}
    diff = shell.json("diff", "shop@1", "shop@2")
    assert set(diff["added"][0]) == {"section", "id", "content"}
    assert len(diff["added"]) + len(diff["changed"]) + len(diff["unchanged"]) == summary["bullets"]
    out, err = shell("export", "shop@2")
    assert "not approved" in err
    approved = shell.json("approve", "shop@2", "--by", "Ada", "--note", "looks right")
    assert (approved["version"], approved["status"], approved["by"]) == ("shop@2", "approved", "Ada")
    assert approved["at"]
    assert shell("export", "shop") == (out, "")
    document = shell.json("export", "shop")
    assert (document["status"], document["approved_by"], document["version"]) == ("approved", "Ada", "shop@2")
    bullet = document["sections"][0]["bullets"][0]
    assert set(bullet) >= {"id", "content", "helpful", "harmful", "support", "sources"}
    source = bullet["sources"][0]
    tree = shell.json("tree", summary["run"])
    nodes = {node["id"]: node for iteration in tree["iterations"] for node in iteration["nodes"]}
    assert nodes[source["reflection"]]["traces"] == [source["trace"]]
    assert nodes[source["node"]]["kind"] == "final"


def test_export_to_a_file_holds_the_bytes_of_stdout(shell, chats, tmp_path):
    shell.json("import", chats)
    shell.json("learn", "--prompt", "shop", "--offline")
    shell("approve", "shop@1", "--by", "Ada")
    for format_ in ("markdown", "json", "ace"):
        target = tmp_path / f"prompt.{format_}"
        out, _ = shell("export", "shop", "--format", format_)
        shell("export", "shop", "--format", format_, "-o", target)
        assert target.read_bytes() == out.encode()
    assert len(parse((tmp_path / "prompt.ace").read_text())) > 0


def test_learning_goes_on_from_the_approved_version_and_from_the_one_that_is_named(shell, chats, stand_in):
    shell.json("import", chats)
    first = learn(shell, stand_in, "--batch", 6)
    assert learn(shell, stand_in, "--seed", 1)["version"] == "shop@3"
    versions = {row["version"]: row["parent"] for row in shell.json("versions", "shop")["versions"]}
    assert versions["shop@3"] is None, "nothing was approved: it starts from nothing"
    learn(shell, stand_in, "--from", first["version"])
    shell("approve", "shop@1", "--by", "Ada")
    learn(shell, stand_in)
    versions = {row["version"]: row["parent"] for row in shell.json("versions", "shop")["versions"]}
    assert versions["shop@4"] == "shop@2"
    assert versions["shop@5"] == "shop@1"


def test_resume_of_a_finished_run_makes_no_call_and_says_so(shell, chats, stand_in):
    shell.json("import", chats)
    summary = learn(shell, stand_in)
    requests = stand_in.requests
    out, err = shell("resume", summary["run"], "--json")
    assert "finished already" in err
    assert json.loads(out) == summary
    assert stand_in.requests == requests


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("export", "nothing"), "There is no prompt nothing"),
        (("export", "nothing@3"), "There is no version nothing@3"),
        (("export", "nothing@x"), "NAME@N"),
        (("tree", "run-9"), "There is no run run-9"),
        (("resume", "run-9"), "There is no run run-9"),
        (("learn", "--prompt", "p", "--offline"), "There are no traces"),
        (("learn", "--prompt", "a b", "--offline"), "cannot be a prompt's name"),
        (("learn", "--prompt", "p", "--offline", "--batch", "9" * 30), "--batch cannot be 999"),
        (("learn", "--prompt", "p", "--offline", "--seed", "9" * 30), "--seed cannot be 999"),
        (("learn", "--prompt", "p", "--offline", "--epochs", "9" * 30), "--epochs cannot be 999"),
        (("learn", "--prompt", "p", "--offline", "--max-cost", "nan"), "--max-cost cannot be nan"),
        (("tag", " "), "A tag needs a name"),
        (("approve", "nothing@1", "--by", "x"), "There is no version nothing@1"),
    ],
)
def test_mistakes_are_told_in_one_sentence(shell, arguments, part):
    out, err = shell(*arguments, code=1)
    assert out == ""
    assert part in err.splitlines()[-1]


@pytest.mark.parametrize(
    "arguments",
    [
        ("import",),
        ("learn",),
        ("traces", "--outcome", "good"),
        ("approve", "p@1"),
        ("learn", "--prompt", "p", "--batch", "0"),
    ],
)
def test_wrong_usage_ends_with_two(shell, arguments):
    shell(*arguments, code=2)


def test_why_files_were_not_read_is_said_once_and_the_formats_stand_in_the_help(shell, tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("just words")
    out, err = shell("import", tmp_path / "a.txt", tmp_path / "b.txt", code=1)
    assert (out + err).count("it is text without JSON") == 2
    assert "ATIF" not in out + err
    assert "`combee import --help` lists what is read" in err
    out, _ = shell("import", "--help")
    for title in ("ATIF trajectories", "OpenAI chat messages", "Harbor job folders"):
        assert " ".join(out.split()).count(title) == 1


def test_a_folder_without_files_and_a_file_of_another_format_are_told_as_such(shell, chats, tmp_path):
    (tmp_path / "empty").mkdir()
    _, err = shell("import", tmp_path / "empty", code=1)
    assert err == "No trace came in. There is no file in the folder.\n"
    nothing = tmp_path / "nothing.jsonl"
    nothing.write_text("")
    _, err = shell("import", nothing, "--format", "atif", code=1)
    assert "0 records" not in err


def test_an_address_that_is_none_is_told_before_there_is_a_run(shell, chats):
    shell.json("import", chats)
    _, err = shell("learn", "--prompt", "p", "--base-url", "nowhere", "--model", "m", code=1)
    assert err == "nowhere is no address: it starts with http:// or https://.\n"
    assert shell.json("runs")["runs"] == []


def test_the_next_step_that_is_named_after_a_run_can_be_taken_as_it_stands(shell, chats):
    shell.json("import", chats)
    out, _ = shell("learn", "--prompt", "p", "--offline")
    assert out.splitlines()[-1] == "Next: combee export p@1, then combee approve p@1 --by YOU"
    shell("approve", "p@1", "--by", "Ada\nLovelace")
    assert shell.json("versions", "p")["versions"][0]["approved_by"] == "Ada Lovelace"
    out, _ = shell("learn", "--prompt", "p", "--offline")
    assert out.splitlines()[-1] == "Next: combee diff p@1 p@2, then combee approve p@2 --by YOU"


def test_lessons_that_are_held_back_are_told_at_the_end_of_a_run(shell, chats):
    shell.json("import", chats)
    out, _ = shell("learn", "--prompt", "p", "--offline", "--min-support", 1000)
    held = shell.json("resume", "run-1")["held_lessons"]
    assert held > 0
    assert f"0 dropped, {held} held back)" in out


def test_an_iteration_that_a_run_does_not_have_is_told(shell, chats):
    shell.json("import", chats)
    shell.json("learn", "--prompt", "p", "--offline")
    _, err = shell("tree", "run-1", "--iteration", 9)
    assert "run-1 has no iteration 9" in err


def test_every_command_and_every_option_says_what_it_is_for():
    for name, command in combee.commands.items():
        assert command.help, name
        for option in command.params:
            assert not isinstance(option, click.Option) or option.help, f"{name} {option.opts}"


def test_an_endpoint_that_refuses_the_key_ends_the_run_and_can_be_resumed(shell, chats, stand_in, monkeypatch):
    shell.json("import", chats)
    stand_in.set(key="right")
    out, err = shell("learn", "--prompt", "p", "--base-url", stand_in.url, "--model", "stand-in", "--json", code=1)
    summary = json.loads(out)
    assert summary["state"] == "failed"
    assert "refused the key" in err
    assert f"combee resume {summary['run']}" in err
    monkeypatch.setenv("OPENAI_API_KEY", "right")
    assert shell.json("resume", summary["run"])["state"] == "done"
    database = shell.db.read_bytes()
    assert b'"right"' not in database


def start_learning(db: Path, server: StandIn) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "combee_core.cli", "learn", "--db", str(db), "--prompt", "shop", "--json"),
            *("--base-url", server.url, "--model", "stand-in", "--parallel", "2"),
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def wait_for(server: StandIn, answered: int, process: subprocess.Popen[bytes]) -> None:
    while server.answered < answered:
        assert process.poll() is None, process.communicate()
        server.tick.wait(1)
        server.tick.clear()


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_how_to_resume_and_ends_with_130(shell, chats, stand_in, ending):
    shell.json("import", chats)
    stand_in.set(latency=0.1)
    process = start_learning(shell.db, stand_in)
    wait_for(stand_in, 3, process)
    process.send_signal(ending)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"combee resume run-1" in err
    assert b"Traceback" not in err
    assert shell.json("runs")["runs"][0]["state"] == "interrupted"


def test_after_a_kill_resume_repeats_only_what_was_in_flight_and_ends_with_the_same_playbook(
    shell, chats, stand_in, tmp_path, capsys
):
    shell.json("import", chats)
    stand_in.set(latency=0.1)
    process = start_learning(shell.db, stand_in)
    wait_for(stand_in, 7, process)
    process.kill()
    process.communicate()
    assert shell.json("runs")["runs"][0]["state"] == "interrupted"
    stand_in.set(latency=0.0)
    resumed = shell.json("resume", "run-1")
    assert resumed["state"] == "done"
    assert 0 <= resumed["calls"] - stand_in.requests <= 2, "what was in flight at the kill was sent, too"
    repeated = sum(times - 1 for times in stand_in.answers.values())
    assert repeated <= 2 + 2, "two were in flight, two may have been answered and not yet written"
    whole = Shell(tmp_path / "whole.duckdb", capsys)
    whole.json("import", chats)
    learn(whole, stand_in)
    assert whole("export", "shop@1")[0] == shell("export", "shop@1")[0]


def test_tag_delete_and_undelete_take_the_filters_of_traces(shell, chats):
    shell.json("import", chats)
    assert shell.json("tag", "odd", "--outcome", "success") == {"tag": "odd", "changed": 6}
    assert shell.json("traces", "--tag", "odd")["total"] == 6
    assert shell.json("traces", "--min-score", 1, "--max-score", 1)["total"] == 6
    assert shell.json("learn", "--prompt", "p", "--offline", "--tag", "odd")["traces"] == 6
    assert shell.json("delete", "--tag", "odd") == {"deleted": 6}
    assert shell.json("traces")["total"] == 6
    assert shell.json("undelete") == {"undeleted": 6}
    assert shell.json("traces")["total"] == 12
    shell("delete", code=2)


def test_reimport_reads_the_kept_copies(shell, chats):
    shell.json("import", chats)
    chats.unlink()
    report = shell.json("reimport")
    assert (report["traces"], report["new"], report["replaced"]) == (13, 0, 0)


def test_a_mapping_on_the_command_line_reads_an_unknown_table(shell, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("was,wie\nHow many?,Seven\n")
    shell("import", path, code=1)
    assert shell.json("import", path, "--map", "task=was,answer=wie")["new"] == 1
    shell("import", path, "--map", "nothing=was", code=1)


def test_an_overloaded_endpoint_gets_fewer_calls_at_once_and_the_run_ends_well(shell, chats, stand_in):
    shell.json("import", chats)
    stand_in.set(faults={"429": 0.3}, latency=0.01)
    summary = learn(shell, stand_in, "--parallel", 12)
    assert summary["state"] == "done"
    assert summary["failures"]["rate_limited"] == stand_in.by_fault["429"] > 0
    assert summary["limit_changes"] > 0
    assert summary["calls"] == stand_in.requests


def test_a_budget_ends_a_run_cleanly_and_says_so(shell, chats, stand_in):
    shell.json("import", chats)
    out, err = shell(
        *("learn", "--prompt", "p", "--base-url", stand_in.url, "--model", "stand-in", "--max-calls", 5, "--json"),
        code=1,
    )
    summary = json.loads(out)
    assert (summary["state"], summary["stopped_by"]) == ("cancelled", "max_calls")
    assert stand_in.requests == summary["calls"] == 5
    assert "budget of 5 calls" in err
    assert shell.json("resume", summary["run"], "--max-calls", 100)["state"] == "done"
    assert set(stand_in.answers.values()) == {1}, "no finished call was made again"


def test_an_automatic_batch_size_is_tried_fitted_and_told(shell, chats, stand_in):
    shell("import", chats)
    first = learn(shell, stand_in, "--batch", "auto", "--batch-candidates", "1,2,4")
    report = shell.json("batch-size", first["run"])
    assert [trial["batch_size"] for trial in report["trials"]][:3] == [1, 2, 4]
    assert report["fit"].keys() == {"A", "alpha", "tau", "plateau", "r2"}
    assert sum(choice["batch_size"] for choice in report["choices"]) == 12
    assert all(choice["why"].split(":")[0] in ("trial", "plateau", "refit", "fixed") for choice in report["choices"])
    assert "why" in shell("batch-size", first["run"])[0]
    tree = shell.json("tree", first["run"])
    assert [row["why"] for row in tree["iterations"]] == [choice["why"] for choice in report["choices"]]


def test_a_second_run_on_the_same_endpoint_starts_from_the_delays_of_the_first(shell, chats, stand_in):
    shell("import", chats)
    stand_in.set(latency=0.05)
    first = learn(shell, stand_in, "--batch", "auto", "--batch-candidates", "1,2,4")
    second = learn(shell, stand_in, "--batch", "auto", "--batch-candidates", "1,2,4", "--parallel", "16")
    report = shell.json("batch-size", second["run"])
    assert report["started_from"] == first["run"]
    assert report["trials"] == []
    elsewhere = learn(shell, stand_in, "--batch", "auto", "--batch-candidates", "1,2,4", "--parallel", "3")
    assert shell.json("batch-size", elsewhere["run"])["started_from"] is None


@pytest.mark.parametrize("arguments", [("--batch", "many"), ("--batch-candidates", "2,x"), ("--tau", "0")])
def test_a_wrong_batch_size_is_wrong_usage(shell, arguments):
    shell("learn", "--prompt", "p", *arguments, code=2)


def test_a_lesson_that_no_merge_took_up_is_listed_and_taken_up_by_its_id(shell, chats, stand_in):
    shell("import", chats)
    stand_in.set(drop=0.5)
    learnt = learn(shell, stand_in, "--recheck", "off")
    version = learnt["version"]
    assert learnt["dropped_lessons"] > 0
    listed = shell.json("proposals", version)["proposals"]
    assert {row["kind"] for row in listed} == {"not_taken_up"}
    assert sum(side["support"] for row in listed for side in row["sides"]) == learnt["dropped_lessons"]
    taken = listed[0]
    assert taken["sides"][0]["evidence"][0]["trace"]
    shell("approve", version, "--by", "Ada", "--add", "i1.r99-1", code=1)
    approved = shell.json("approve", version, "--by", "Ada", "--add", taken["id"])
    assert approved["version"] != version
    assert taken["sides"][0]["text"] in shell("export", "shop")[0]


def test_a_contradiction_is_settled_on_the_command_line(shell, chats, stand_in):
    shell("import", chats)
    stand_in.set(drop=0.0, contradict=("order_2 ", "order_7 "))
    version = learn(shell, stand_in)["version"]
    (found,) = [row for row in shell.json("proposals", version)["proposals"] if row["kind"] == "contradiction"]
    assert found["choices"] == ["1", "2", "both"]
    shell("approve", version, "--by", "Ada", "--keep", found["id"], code=2)
    shell("approve", version, "--by", "Ada", "--keep", f"{found['id']}=1")
    text = shell("export", "shop")[0]
    assert found["sides"][0]["text"] in text
    assert found["sides"][1]["text"] not in text


def test_the_flow_of_a_run_is_set_by_options_and_told_in_its_summary(shell, chats, stand_in):
    shell("import", chats)
    flow = ("--token-budget", "800", "--staleness", "1", "--hedge", "95", "--quorum", "0.9", "--second-chance")
    learnt = learn(shell, stand_in, "--batch", "6", *flow)
    assert learnt["state"] == "done"
    assert {"levels", "hedged", "late_reflections", "second_chances", "failures", "stopped_by"} <= learnt.keys()
    (run,) = shell.json("runs")["runs"]
    chosen = {"token_budget": 800, "staleness": 1, "hedge": 95.0, "quorum": 0.9, "second_chance": True}
    assert {name: run["settings"][name] for name in chosen} == chosen


def test_near_duplicates_go_by_embeddings_where_a_model_is_named(shell, chats, stand_in):
    shell("import", chats)
    learnt = learn(shell, stand_in, "--embedding-model", "small")
    assert learnt["upkeep"] == {"by": "embeddings", "calls": 1, "note": None}
    assert learnt["calls"] == stand_in.requests
    stand_in.set(refuses=("embeddings",))
    refused = learn(shell, stand_in, "--embedding-model", "small")
    assert (refused["state"], refused["upkeep"]["by"]) == ("done", "wording")
    _, said = shell("learn", "--prompt", "shop", "--embedding-model", "small", code=2)
    assert "--embedding-model needs an endpoint" in said


def test_half_of_the_context_of_a_known_model_is_the_token_budget_and_it_is_on_record(shell, chats, stand_in):
    stand_in.set(models=("gpt-4o-mini",))
    shell("import", chats)
    shell("learn", "--prompt", "p", "--base-url", stand_in.url, "--model", "gpt-4o-mini")
    shell("learn", "--prompt", "q", "--base-url", stand_in.url, "--model", "gpt-4o-mini")
    second, first = shell.json("runs")["runs"]
    assert first["settings"]["token_budget"] == second["settings"]["token_budget"] == 64_000
    assert first["settings"]["chars_a_token"] == 4.0
    assert 3.0 < second["settings"]["chars_a_token"] < 5.0


def test_overlapping_batches_of_an_automatic_size_are_refused_in_one_sentence(shell, chats):
    shell("import", chats)
    _, said = shell("learn", "--prompt", "p", "--offline", "--batch", "auto", "--staleness", "1", code=1)
    assert "one iteration after the other" in said
    assert "Traceback" not in said
