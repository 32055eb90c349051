"""The one rule for how a run ended."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from combee_core.importers.outcome import feedback_of, number_of, outcome_of, reference_of
from combee_core.trace import Outcome


@pytest.mark.parametrize(
    ("row", "success", "score"),
    [
        ({"success": True}, True, None),
        ({"resolved": 0}, False, None),
        ({"passed": 1, "score": 0.4}, True, 0.4),
        ({"reward": 1}, True, 1.0),
        ({"reward": 0.0}, False, 0.0),
        ({"score": 0.7}, None, 0.7),
        ({"score": 0.7, "threshold": 0.5}, True, 0.7),
        ({"score": 8, "max_score": 10}, False, 8.0),
        ({"score": 10, "max_score": 10}, True, 10.0),
        ({"reward": "1.0"}, True, 1.0),
        ({"reward": "0,0"}, False, 0.0),
        ({"reward": "true"}, True, None),
        ({"reward": True}, True, None),
        ({"score": "C"}, True, None),
        ({"score": "I"}, False, None),
        ({"result": "failed"}, False, None),
        ({"result": "1.0"}, True, 1.0),
        ({"label": False}, False, None),
        ({"label": "positive"}, None, None),
        ({"target": True}, True, None),
        ({"target": "C"}, None, None),
        ({"correct": "C"}, None, None),
        ({"rating": 1}, None, 1.0),
        ({"rating": 5}, None, 5.0),
        ({"reward": 2.0}, None, 2.0),
        ({"reward": -1.0}, None, -1.0),
        ({"reward": float("nan")}, None, None),
        ({"reward": None}, None, None),
        ({"reward": ""}, None, None),
        ({"metadata": {"reward": 1.0}}, True, 1.0),
        ({"info": {"resolved": False}}, False, None),
        ({"eval": '{"score": 0}'}, False, 0.0),
        ({"success": False, "metadata": {"reward": 1.0}}, False, 1.0),
        ({"scores": {"toxicity": 1.0}}, None, 1.0),
        ({"scores": {"helpful": 1.0}}, True, 1.0),
        ({"metrics": {"loss": 1.0}}, None, None),
        ({}, None, None),
    ],
)
def test_outcome_follows_the_rule(row: dict[str, Any], success: bool | None, score: float | None) -> None:
    outcome = outcome_of(row)
    assert (outcome.success, outcome.score) == (success, score)


def test_several_named_scores_are_all_kept_and_the_main_one_is_chosen_by_name() -> None:
    outcome = outcome_of({"scores": {"style": 0.2, "reward": 1.0}})
    assert outcome == Outcome(success=True, score=1.0, scores={"style": 0.2, "reward": 1.0})
    listed = outcome_of({"scores": [{"name": "style", "value": 0.2}, {"name": "tone", "value": "0.4"}]})
    assert listed == Outcome(scores={"style": 0.2, "tone": 0.4})


def test_feedback_names_its_fields_when_there_are_several() -> None:
    assert feedback_of({"feedback": " Wrong unit. "}) == "Wrong unit."
    assert feedback_of({"feedback": "Wrong unit.", "judge_notes": "Off by 1000."}) == (
        "Wrong unit.\njudge_notes: Off by 1000."
    )
    assert feedback_of({"metadata": {"critique": ["Too long.", "No source."]}}) == ("Too long.\nNo source.")
    assert feedback_of({"error": None, "explanation": ""}) == ""


def test_reference_is_the_expected_answer_and_never_a_boolean() -> None:
    assert reference_of({"target": True, "ground_truth": 15}) == "15"
    assert reference_of({"info": {"expected_answer": "blue"}}) == "blue"


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_a_number_written_as_text_is_the_same_number(number: float) -> None:
    assert number_of(repr(number)) == number_of(number) == number
