"""Budgets and caps hold over real HTTP to the last request, whatever fails and is tried again on the way."""

import pytest

from combee_core.errors import CombeeError
from combee_core.llm.prices import cost
from tests.chaos.conftest import settings
from tests.served import wait_until


@pytest.mark.parametrize("parallel", [1, 5])
@pytest.mark.parametrize("max_calls", [1, 8])
def test_retries_never_pass_a_budget_of_calls(place, stand_in, parallel, max_calls):
    stand_in.set(faults={"500": 0.5, "empty": 0.2})
    summary = place(9).learn(settings(stand_in, parallel=parallel, max_calls=max_calls))
    assert (summary["state"], summary["stopped_by"]) == ("cancelled", "max_calls"), summary
    assert summary["calls"] == stand_in.requests == max_calls


def test_a_budget_that_suffices_to_the_last_call_stops_nothing(place, stand_in):
    workspace = place(9)
    summary = workspace.learn(settings(stand_in, parallel=5, max_calls=9 + 3 + 1))
    assert (summary["state"], summary["calls"], stand_in.requests) == ("done", 13, 13)


@pytest.mark.parametrize("parallel", [1, 9])
def test_a_budget_of_tokens_is_used_but_not_passed_and_the_run_goes_on_with_a_larger_one(place, stand_in, parallel):
    workspace = place(9)
    most = 6_000
    summary = workspace.learn(settings(stand_in, parallel=parallel, max_tokens=most))
    assert summary["stopped_by"] == "max_tokens", summary
    spent = summary["input_tokens"] + summary["output_tokens"]
    assert most / 2 < spent <= most
    before = stand_in.requests
    assert workspace.resume(summary["run"], budgets={"max_tokens": 1_000_000})
    workspace.wait(summary["run"])
    assert workspace.run(summary["run"])["state"] == "done"
    assert before + (13 - summary["calls"]) == stand_in.requests == 13, "no finished call was made again"


def test_a_budget_of_dollars_is_not_passed(place, stand_in):
    most = 10 * (cost("gpt-4o-mini", stand_in.url, 500, 60) or 0.0)
    summary = place(9).learn(settings(stand_in, model="gpt-4o-mini", max_cost=most, parallel=4))
    assert summary["stopped_by"] == "max_cost", summary
    assert 0 < summary["cost_usd"] <= most


def test_dollars_cannot_be_a_budget_for_a_model_without_a_price_which_is_said_before_there_is_a_run(place, stand_in):
    workspace = place(2)
    with pytest.raises(CombeeError, match="The price of stand-in is unknown"):
        workspace.start(settings(stand_in, max_cost=1.0))
    assert (workspace.runs(), stand_in.requests) == ([], 0)
    stopped = workspace.learn(settings(stand_in, max_calls=1))
    with pytest.raises(CombeeError, match="The price of stand-in is unknown"):
        workspace.resume(stopped["run"], budgets={"max_cost": 1.0})
    assert workspace.resume(stopped["run"], budgets={"max_calls": 100})
    workspace.wait(stopped["run"])
    assert workspace.run(stopped["run"])["state"] == "done"


def test_a_cap_on_requests_holds_calls_back_and_says_so(place, stand_in):
    workspace = place(9)
    run = workspace.start(settings(stand_in, rpm=4, parallel=6))
    wait_until(lambda: (seen := workspace.progress(run)) is not None and seen.held_back > 0, 20, "a call to wait")
    seen = workspace.progress(run)
    assert seen is not None
    assert seen.held_by == "rpm"
    wait_until(lambda: (workspace.progress(run) or seen).done["reflection"] == 4, 20, "four answers to be kept")
    workspace.cancel(run)
    workspace.wait(run)
    summary = workspace.run(run)
    assert (summary["state"], summary["calls"], stand_in.requests) == ("cancelled", 4, 4)
    assert workspace.resume(run, budgets={"rpm": 1_000})
    workspace.wait(run)
    assert workspace.run(run)["state"] == "done"
    assert stand_in.requests == 13
