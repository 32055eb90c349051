"""`combee compare`: several strategies by one command, and runs that exist side by side."""

import json
import signal
import subprocess
import sys
import time

from tests.cli.test_commands import ROOT
from tests.stand_in import StandIn

PROMISED = {
    *("name", "label", "run", "state", "error", "version", "bullets", "prompt_tokens", "lessons", "kept", "dropped"),
    *(
        "held",
        "traces",
        "traces_covered",
        "specificity",
        "calls",
        "input_tokens",
        "output_tokens",
        "cost_usd",
        "wall_s",
    ),
    "batch_sizes",
}


def served(server: StandIn) -> tuple[str, ...]:
    return ("--base-url", server.url, "--model", "stand-in", "--batch", "12")


def test_several_strategies_learn_from_the_same_traces_and_can_be_compared_again_without_a_call(
    shell,
    chats,
    stand_in,
):
    shell("import", chats)
    first = shell.json("compare", "--prompt", "shop", "--strategies", "combee,naive,top-k", *served(stand_in))
    assert [row["name"] for row in first["strategies"]] == ["combee", "naive", "top-k"]
    assert all(row.keys() >= PROMISED for row in first["strategies"])
    assert {row["traces"] for row in first["strategies"]} == {12}
    assert first["same_traces"] is True
    asked = stand_in.requests
    runs = ",".join(row["run"] for row in first["strategies"])
    assert shell.json("compare", "--runs", runs) == first
    out, _ = shell("compare", "--runs", runs)
    assert out.splitlines()[0].startswith("strategy  run")
    assert "shop-naive@1" in out
    assert stand_in.requests == asked
    assert {row["prompt"] for row in shell.json("runs")["runs"]} == {"shop-combee", "shop-naive", "shop-top-k"}


def test_filters_and_options_of_learn_hold_for_every_strategy(shell, chats, stand_in):
    shell("import", chats)
    shell.json("compare", "--prompt", "shop", "--min-score", "1", "--seed", "7", "--copies", "3", *served(stand_in))
    rows = shell.json("runs")["runs"]
    assert {(row["traces"], row["settings"]["seed"], row["settings"]["copies"]) for row in rows} == {(6, 7, 3)}
    assert sorted(row["settings"]["strategy"] for row in rows) == ["combee", "naive"]


def test_variants_of_a_strategy_are_named_as_they_were_written_also_later(shell, chats, stand_in):
    shell("import", chats)
    names = ["combee", "combee:copies=1", "combee:shuffle=plain", "combee:groups=1", "naive"]
    options = ("--strategies", ",".join(names), "--recheck", "off")
    first = shell.json("compare", "--prompt", "shop", *options, *served(stand_in))
    rows = first["strategies"]
    assert [row["name"] for row in rows] == names
    assert [row["strategy"] for row in rows] == ["combee"] * 4 + ["naive"]
    assert [row["label"] for row in rows] == [
        *("combee", "combee, copies 1", "combee, shuffle plain", "combee, groups 1", "naive")
    ]
    assert [row["settings"]["copies"] for row in rows] == [2, 1, 2, 2, 2]
    assert rows[1]["version"] == "shop-combee-copies-1@1"
    assert [row["calls"] for row in rows] == [12 + 3 + 1, 12 + 3 + 1, 12 + 3 + 1, 12 + 1, 12 + 1]
    assert shell.json("compare", "--runs", ",".join(row["run"] for row in rows)) == first


def test_a_strategy_that_cannot_work_offline_is_told_and_the_others_are_compared(shell, chats):
    shell("import", chats)
    out, err = shell(*("compare", "--prompt", "shop", "--strategies", "summary,naive", "--offline", "--json"), code=1)
    naive, summary = json.loads(out)["strategies"]
    assert (naive["name"], naive["state"]) == ("naive", "done")
    assert (summary["name"], summary["run"], summary["state"]) == ("summary", None, "refused")
    assert summary.keys() == naive.keys()
    assert "summary needs a language model" in err


def test_what_is_asked_for_wrongly_is_said_in_one_sentence(shell, chats):
    shell("import", chats)
    for arguments, sentence, code in (
        ((), "Give either --prompt", 2),
        (("--prompt", "a", "--runs", "run-1"), "Give either --prompt", 2),
        (("--prompt", "a", "--strategies", "best"), "There is no strategy best", 2),
        (("--runs", "run-9"), "There is no run run-9", 1),
        (("--prompt", "a", "--strategies", "combee:copies"), "combee:copies: write copies=VALUE", 2),
        (("--prompt", "a", "--strategies", "naive,combee:copies=0"), "combee:copies=0: --copies cannot be 0", 1),
        (("--prompt", "not a name"), "cannot be a prompt's name", 1),
    ):
        _, err = shell("compare", *arguments, code=code)
        assert sentence in err


def test_ctrl_c_keeps_what_has_finished_and_says_how_to_go_on(shell, chats, stand_in):
    shell("import", chats)
    stand_in.hold.clear()
    arguments = ("compare", "--db", str(shell.db), "--prompt", "shop", *served(stand_in))
    process = subprocess.Popen(
        [sys.executable, "-m", "combee_core.cli", *arguments], cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not stand_in.in_flight:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    stand_in.hold.set()
    assert process.returncode == 130
    assert "combee resume RUN, for run-1, run-2; then: combee compare --runs run-1,run-2" in err
    assert "Traceback" not in err
    for run in ("run-1", "run-2"):
        shell.json("resume", run)
    rows = shell.json("compare", "--runs", "run-1,run-2")["strategies"]
    assert [row["state"] for row in rows] == ["done", "done"]
