"""What a trace itself states about what went wrong or right: feedback, corrections, mended errors, a missed answer.

It decides which of these become lessons and how they are worded as bullets; nothing in them is invented.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from combee_core.learners.offline.likeness import wording
from combee_core.learners.offline.mended import Mended, mended_errors, stated_errors
from combee_core.learners.offline.misses import what_was_missed
from combee_core.learners.offline.passages import Passage, is_report, passages
from combee_core.trace import Message, Trace

_CORRECTION = re.compile(
    r"^(?:no\b(?! (?:problem|worries|thanks|that's fine))|nope\b|actually\b|wait\b|wrong\b|not quite\b|"
    r"that(?:'s| is) (?:not|wrong)|i (?:said|meant)\b|you (?:forgot|missed)\b|it should\b)",
    re.IGNORECASE,
)
_STANDING = re.compile(r"\b(?:should|must|always|never|not .* but|instead of)\b", re.IGNORECASE)
_DEICTIC = re.compile(r"\b(?:here|this|these|those|the answer|the digits)\b", re.IGNORECASE)
_JUDGING = re.compile(
    r"\b(?:submission|submitted|expert|generation|response|graded?|grades|judg\w+|criteri\w+|evaluation)\b",
    re.IGNORECASE,
)
_SECTIONS = (
    (
        "FORMATS AND UNITS",
        r"\b(?:units?|cents?|dollars?|euros?|thousands?|millions?|percent\w*|formats?|dates?|DD|YYYY|ISO|UTC|"
        r"time ?zones?|decimals?|round\w*|sign|negative|parenthes\w+|currency|encoding|seconds?|digits?|index|CRLF|"
        r"spaces|carriage|local time)\b|%|\\r",
    ),
    (
        "FORMULAS AND CALCULATIONS",
        r"\b(?:formulas?|calculat\w+|multipl\w+|divid\w+|subtract\w+|ratio|averages?|sum|interest|rate|add up)\b",
    ),
    (
        "TOOLS AND APIS",
        r"\b(?:tools?|api|calls?|called|calling|endpoints?|commands?|flags?|arguments?|parameters?|fields?|exit|sed|awk|"
        r"grep|tar|git|pip|curl|script|server|port|pipe\w*)\b|\w_\w|(?<!\w)--?\w",
    ),
    (
        "STRATEGIES AND RULES",
        r"\b(?:before|after|first|policy|policies|customers?|ask|confirm|verify|always|never|wait|until)\b",
    ),
)

LESSONS_A_TRACE = 3
SHORTEST = 20
TASK_CHARS = 80
EVIDENCE_CHARS = 300


class Observation(NamedTuple):
    """One thing that a trace states: the lesson in one line, its section, and the passage it was taken from."""

    text: str
    section: str
    evidence: str


def observations(trace: Trace) -> list[Observation]:
    """What the trace states, surest first; at most three."""
    found = [*_from_feedback(trace), *_from_corrections(trace.messages)]
    found += [seen for error, seen in _from_errors(trace) if not any(_mentions(said, error.subject) for said in found)]
    if not any(said.is_rule for said in passages(trace.feedback)) or len(_JUDGING.findall(trace.feedback)) > 1:
        found = [*_from_answer(trace), *found]
    if not found and trace.outcome.success is not True:
        found = [_observed(error.text, error.evidence) for error in stated_errors(trace.messages)]
    return list(dict.fromkeys(found))[:LESSONS_A_TRACE]


def _from_feedback(trace: Trace) -> Iterator[Observation]:
    """What the feedback teaches. A judge that compares texts at length teaches something only about a failure."""
    found = passages(trace.feedback)
    if len(_JUDGING.findall(trace.feedback)) > 1:
        found = found[:1] if trace.outcome.success is False and not trace.reference else []
    for passage in found:
        text = _worded(passage, trace)
        if len(text) >= SHORTEST:
            yield _observed(text, _evidence(trace.feedback, passage))


def _evidence(text: str, passage: Passage) -> str:
    """What the lesson rests on: the whole saying where it is short, else the passage of it."""
    return text if len(text) <= EVIDENCE_CHARS else passage.text


def _worded(passage: Passage, trace: Trace) -> str:
    """A passage as a bullet; one that cannot stand alone gets the question or the task it was about in front."""
    if passage.is_rule:
        return f"{_tool_meant(passage.text, trace.messages) or _context(passage.text, trace)}{passage.text}"
    if trace.outcome.success is not True:
        return f"{_asked(trace)}{passage.text}"
    is_specific = len(wording(passage.text).weights) >= 5 or bool(wording(passage.text).names)
    return f"What worked: {passage.text}" if is_specific and not is_report(passage.text) else ""


def _tool_meant(text: str, messages: Iterable[Message]) -> str:
    """A head that names the tool, for a passage without names whose words point to one tool of the run."""
    found = wording(text)
    if found.names:
        return ""
    tools = dict.fromkeys(call.name for message in messages for call in message.tool_calls)
    meant = [tool for tool in tools if "_" in tool and wording(tool).weights.keys() & found.weights.keys()]
    return f"When calling `{meant[0]}`: " if len(meant) == 1 else ""


def _context(text: str, trace: Trace) -> str:
    found = wording(text)
    alone = not found.names and (len(found.weights) < 3 or bool(_DEICTIC.search(text)))
    return _asked(trace) if alone else ""


def _asked(trace: Trace) -> str:
    task = " ".join(trace.task.replace("“", '"').replace("”", '"').split())
    if not task:
        return ""
    return f"When asked “{task if len(task) <= TASK_CHARS else task[: TASK_CHARS - 1] + '…'}”: "


def _observed(text: str, evidence: str) -> Observation:
    return Observation(text, section_of(text), evidence)


def section_of(text: str) -> str:
    """The playbook section that a lesson belongs to, by the words in it."""
    scores = [(len(set(re.findall(pattern, text, re.IGNORECASE))), name) for name, pattern in _SECTIONS]
    most, name = max(scores, key=lambda score: score[0])
    return name if most else "COMMON MISTAKES"


def _from_corrections(messages: tuple[Message, ...]) -> Iterator[Observation]:
    """Rules that the user states when correcting the agent, after its first answer."""
    answered, tool = False, ""
    for message in messages:
        if message.role == "user" and answered and _CORRECTION.search(message.text):
            for passage in passages(message.text[:1000])[:1]:
                if passage.is_rule and _STANDING.search(passage.text) and not passage.text.endswith("?"):
                    head = f"When calling `{tool}`: " if tool and not wording(passage.text).names else ""
                    yield _observed(f"{head}{passage.text}", _evidence(message.text, passage))
        answered = answered or message.role == "assistant"
        tool = message.tool_calls[-1].name if message.tool_calls else "" if message.role == "user" else tool


def _from_errors(trace: Trace) -> Iterator[tuple[Mended, Observation]]:
    """Mended errors; a mere change of values is believed only where the run did not fail."""
    for mended in mended_errors(trace.messages):
        if mended.sure or trace.outcome.success is not False:
            yield mended, _observed(mended.text, mended.evidence)


def _mentions(said: Observation, subject: str) -> bool:
    """Whether somebody has put into words what there is to say of a tool."""
    return re.search(rf"(?<!\w){re.escape(subject)}(?!\w)", said.text) is not None


def _from_answer(trace: Trace) -> Iterator[Observation]:
    if trace.outcome.success is not False or not trace.reference:
        return
    said = next((message.text for message in reversed(trace.messages) if message.role == "assistant"), "").strip()
    missed = what_was_missed(said, trace.reference)
    if missed:
        yield _observed(f"{_asked(trace)}{missed}.", f"answered {said[:80]}, expected {trace.reference.strip()[:80]}")
