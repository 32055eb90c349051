"""Errors of tools and programs: what changed in the call that worked, and errors that state a rule."""

import json

import pytest

from combee_core.learners.offline.mended import mended_errors, stated_errors
from tests.learners.making import calls


def changes(*messages) -> list[str]:
    return [mended.text.split("”: ", 1)[1] for mended in mended_errors(messages)]


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ({"customer_id": 1}, {"cust_ref": 1}, "pass `cust_ref`, not `customer_id`."),
        ({"a": 1}, {"a": 1, "unit": "cm"}, "pass `unit` as well."),
        ({"a": 1, "b": 2}, {"a": 1}, "leave out `b`."),
        ({"date": "16.03.2026"}, {"date": "2026-03-16"}, 'pass `date` as "2026-03-16", not as "16.03.2026".'),
        ({"rows": ["x" * 60]}, {"rows": ["y" * 60]}, "correct `rows` and call it again."),
    ],
)
def test_the_change_of_arguments_is_told_names_first(before, after, change):
    assert changes(*calls("tool", before, "Error: bad call"), *calls("tool", after, "ok")) == [change]


def test_a_change_of_several_values_does_not_say_which_one_mattered():
    assert changes(*calls("t", {"a": 1, "b": 1}, "Error: no"), *calls("t", {"a": 2, "b": 2}, "ok")) == []


def test_a_change_of_values_is_less_sure_than_one_of_names():
    messages = (*calls("t", {"a": 1}, "Error: no"), *calls("t", {"a": 2}, "ok"))
    assert [mended.sure for mended in mended_errors(messages)] == [False]


def test_an_error_that_nothing_mended_is_no_mended_error():
    assert changes(*calls("t", {"a": 1}, "Error: no"), *calls("t", {"b": 1}, "Error: no")) == []


def test_the_words_of_an_error_in_json_are_taken_out():
    answer = json.dumps({"error": "INVALID_DATE", "hint": "date must be YYYY-MM-DD"})
    (mended,) = mended_errors((*calls("t", {"d": "1.2."}, answer), *calls("t", {"d": "2026-02-01"}, "ok")))
    assert mended.text.startswith("When `t` answers “INVALID_DATE; date must be YYYY-MM-DD”: ")


def test_in_a_shell_the_program_is_the_tool_and_its_part_of_the_command_is_shown():
    before = calls("bash", {"command": "cd /app && sed -i 's/a/b/' x.txt"}, 'sed: 1: "x.txt": invalid command code x')
    after = calls("bash", {"command": "cd /app && sed -i '' 's/a/b/' x.txt && cat x.txt"}, "b")
    (mended,) = mended_errors((*before, *after))
    assert mended.subject == "sed"
    assert mended.text.endswith("`sed -i '' 's/a/b/' x.txt` worked, `sed -i 's/a/b/' x.txt` did not.")


def test_another_program_does_not_mend_the_error_of_the_first():
    assert (
        changes(*calls("bash", {"command": "sed x"}, "sed: error"), *calls("bash", {"command": "perl y"}, "ok")) == []
    )


def test_data_that_merely_mentions_an_error_is_no_error():
    page = json.dumps({"results": [{"title": "How to fix error 404"}]})
    assert changes(*calls("search", {"q": 1}, page), *calls("search", {"k": 1}, "ok")) == []


def test_an_error_that_states_a_rule_is_a_lesson_about_its_tool():
    refused = calls("book", {"n": 1}, "Error: certificate cannot be used to update a reservation")
    (stated,) = stated_errors(refused)
    assert stated.text == "When calling `book`: it refuses with “certificate cannot be used to update a reservation”."


def test_an_error_that_states_nothing_is_left_alone():
    assert list(stated_errors(calls("book", {"n": 1}, "Error: 500"))) == []
