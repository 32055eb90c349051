"""The sample traces hold what their README says: formats, outcomes, and the lessons planted on each line."""

import re
from typing import NamedTuple

import pytest

from combee_core.importers import Reject, read_path
from combee_core.trace import Trace
from tests.learners.making import SAMPLES

FORMATS = {
    "support_agent.jsonl": "openai-chat",
    "invoice_questions.jsonl": "ace",
    "terminal_tasks.jsonl": "atif",
}


class Planted(NamedTuple):
    lesson: str
    kind: str
    lines: list[int]
    pattern: re.Pattern[str]


def planted(name: str) -> list[Planted]:
    """The rows of the README's table for one file."""
    part = (SAMPLES / "README.md").read_text("utf-8").split(f"### {name}\n", 1)[1].split("\n### ", 1)[0]
    rows = re.findall(r"^\| (.+?) \| (recurring|contradicting|rare) \| ([\d, ]+) \| `(.+?)` \|$", part, re.MULTILINE)
    return [
        Planted(lesson, kind, [int(line) for line in lines.split(",")], re.compile(pattern.replace(r"\|", "|")))
        for lesson, kind, lines, pattern in rows
    ]


@pytest.mark.parametrize(("name", "format"), FORMATS.items())
def test_all_40_traces_of_a_file_are_read_in_its_format_and_about_a_third_succeeds(name, format):
    (reading,) = read_path(SAMPLES / name)
    found = list(reading)
    traces = [entry for entry in found if isinstance(entry, Trace)]
    assert not [entry for entry in found if isinstance(entry, Reject)]
    assert len({trace.id for trace in traces}) == 40
    assert {trace.source.format for trace in traces} == {format}
    outcomes = [trace.outcome.success for trace in traces]
    assert None not in outcomes
    assert 11 <= outcomes.count(True) <= 15
    assert sum(bool(trace.feedback) for trace in traces) >= 30


@pytest.mark.parametrize("name", FORMATS)
def test_every_planted_lesson_is_on_the_lines_that_the_readme_names(name):
    lines = (SAMPLES / name).read_text("utf-8").splitlines()
    for row in planted(name):
        absent = [number for number in row.lines if not row.pattern.search(lines[number - 1])]
        assert absent == [], row.lesson
        if row.kind == "rare":
            assert [number for number, line in enumerate(lines, 1) if row.pattern.search(line)] == row.lines, row.lesson


@pytest.mark.parametrize("name", FORMATS)
def test_lessons_recur_contradict_and_are_rare_as_often_as_the_readme_says(name):
    kinds = {
        kind: [row for row in planted(name) if row.kind == kind] for kind in ("recurring", "contradicting", "rare")
    }
    assert len(kinds["recurring"]) >= 6
    assert all(4 <= len(row.lines) <= 6 for row in kinds["recurring"])
    assert len(kinds["contradicting"]) == 2
    assert [len(row.lines) for row in kinds["rare"]] == [1, 1, 1]


def test_no_two_traces_of_a_file_share_their_feedback_unless_it_is_praise():
    for name in FORMATS:
        (reading,) = read_path(SAMPLES / name)
        long = [entry.feedback for entry in reading if isinstance(entry, Trace) and len(entry.feedback) > 30]
        assert len(set(long)) == len(long)
