"""ACE question rows: where the question is, and what a prediction is worth."""

from pathlib import Path

import pytest

from combee_core.importers.formats.ace import question_in, share_right
from tests.importers.reading import lines, read_text


@pytest.mark.parametrize(
    "context",
    [
        'Use a formula. Question: "How much is it?". Answer:',
        "Use a formula. Question:  “How much is it?”. Answer:",
        "Use a formula. Question: How much is it? Answer:",
        "Use a formula.\nQuestion: 'How much is it?'",
    ],
)
def test_the_question_is_taken_out_of_the_context(context: str) -> None:
    assert question_in(context) == "How much is it?"


def test_a_context_without_a_heading_is_the_question() -> None:
    assert question_in(" Name the capital of France. ") == "Name the capital of France."


@pytest.mark.parametrize(
    ("prediction", "target", "share"),
    [
        ("15", "15.0", 1.0),
        ("$1,250.00", "1250.0", 1.0),
        ("15.1", "15.0", 0.0),
        ("a,b,x,d", "a, b, c, d", 0.75),
        ("a", "a,b", 0.5),
        ("Blue", "blue", 1.0),
    ],
)
def test_predictions_are_compared_as_numbers_lists_or_words(prediction: str, target: str, share: float) -> None:
    assert share_right(prediction, target) == share


def test_a_prediction_makes_a_run_of_one_step_with_an_outcome(tmp_path: Path) -> None:
    rows = [
        {"context": "Question: 1+1. Answer:", "target": "2.0", "prediction": "2"},
        {"context": "Question: 1+2. Answer:", "target": "3.0", "final_answer": 4, "feedback": "Off by one."},
        {"context": "Add.", "question": "1+3", "target": "4.0"},
    ]
    right, wrong, open_task = read_text(tmp_path, lines(*rows)).traces
    assert (right.steps, right.outcome.success, right.outcome.score) == (1, True, 1.0)
    assert (wrong.messages[1].text, wrong.outcome.success, wrong.feedback) == ("4", False, "Off by one.")
    assert (open_task.task, open_task.messages[0].text, open_task.outcome.success) == ("1+3", "Add.\n\n1+3", None)
    assert open_task.steps == 0
