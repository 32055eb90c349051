"""What a trace itself states about what went wrong or right: feedback, corrections, mended errors, a missed answer."""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from combee_core.trace import Message, ToolCall, Trace

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`'\"“0-9])|\n+|(?<=;)\s+(?=[A-Z])")
_SPECIFIC = re.compile(r"\d|_|`|\"|'\w+'|[a-z][A-Z]|--\w|/\w|\b(?:USD|EUR|UTC|ISO|JSON|CSV|API|SQL)\b")
_TELLING = re.compile(
    r"\b(must|should|needs?|wants?|expects?|requires?|instead|before|after|first|always|never|only|not|don't|"
    r"doesn't|isn't|wasn't|because|means|counts?|starts?|use[ds]?|read as|rather than|without|unless|missing|allowed|"
    r"forbidden)\b",
    re.IGNORECASE,
)
_VERDICT = frozenset(
    """
    great good nice well perfect excellent correct right wrong incorrect failed failure fail passed pass ok okay thanks
    thank you yes no job work done answer result the was is a an this that it very much
    """.split()
)
_LEANING = re.compile(r"^(?:it|that|this|they|these|those|so|then|otherwise|also|and|but|here|there)\b", re.IGNORECASE)
_CORRECTION = re.compile(
    r"^(?:no\b|nope|actually|wait|wrong|not quite|that(?:'s| is) (?:not|wrong)|i (?:said|meant|asked)|"
    r"you (?:forgot|missed)|it should|please use|use )|\bshould (?:have been|be)\b|\binstead of\b",
    re.IGNORECASE,
)
_SECTIONS = (
    (
        "FORMATS AND UNITS",
        r"\b(units?|cents?|dollars?|thousands?|millions?|percent|%|formats?|dates?|ISO|UTC|time ?zones?|"
        r"decimals?|round|signs?|negative|currency|encoding|seconds|minutes|bytes|digits?|index|pages?)\b",
    ),
    (
        "FORMULAS AND CALCULATIONS",
        r"\b(formulas?|calculat\w+|multipl\w+|divid\w+|subtract\w+|ratio|averages?|sum|interest|rate)\b",
    ),
    (
        "TOOLS AND APIS",
        r"\b(tools?|api|call(?:s|ed|ing)?|endpoints?|commands?|flags?|arguments?|parameters?|fields?|exit|sed|"
        r"grep|tar|git|pip|curl|script)\b|_|--\w",
    ),
    (
        "STRATEGIES AND RULES",
        r"\b(before|after|first|policy|policies|customers?|ask|confirm|verify|order|always|never)\b",
    ),
)

SHORTEST, LONGEST = 20, 320


class Observation(NamedTuple):
    """One thing that a trace states: the lesson in one line, its section, and the passage it was taken from."""

    text: str
    section: str
    evidence: str


def observations(trace: Trace) -> Iterator[Observation]:
    """What the trace states, surest first."""
    for passage in _passages(trace.feedback):
        yield _observed(passage, passage)
    for text in _corrections(trace.messages):
        yield _observed(text, text)
    yield from _mended_errors(trace.messages)
    if not trace.feedback:
        yield from _missed_answer(trace)


def _observed(text: str, evidence: str) -> Observation:
    return Observation(text, _section(text), evidence)


def _section(text: str) -> str:
    scores = [(len(re.findall(pattern, text, re.IGNORECASE)), name) for name, pattern in _SECTIONS]
    most, name = max(scores, key=lambda score: score[0])
    return name if most else "COMMON MISTAKES"


def _passages(feedback: str) -> Iterator[str]:
    """Telling sentences of a feedback text; a sentence that leans on the one before it stays with it."""
    passages: list[str] = []
    for sentence in (part.strip(" -*•\t") for part in _SENTENCE_END.split(feedback)):
        if all(word in _VERDICT for word in re.findall(r"\w+", sentence.lower())):
            continue
        if passages and _LEANING.match(sentence) and len(passages[-1]) + len(sentence) < LONGEST:
            passages[-1] = f"{passages[-1]} {sentence}"
        else:
            passages.append(sentence)
    return (" ".join(passage.split())[:LONGEST] for passage in passages if _is_telling(passage))


def _is_telling(passage: str) -> bool:
    return (
        len(passage) >= SHORTEST
        and bool(_TELLING.search(passage))
        and bool(_SPECIFIC.search(passage) or len(passage.split()) >= 7)
    )


def _corrections(messages: tuple[Message, ...]) -> Iterator[str]:
    """Sentences in which the user corrects the agent, after its first answer."""
    answered = False
    for message in messages:
        if message.role == "user" and answered and _CORRECTION.search(message.text[:200]):
            telling = [passage for passage in _passages(message.text[:1000]) if not passage.endswith("?")]
            yield from telling[:1]
        answered = answered or message.role == "assistant"


def _mended_errors(messages: tuple[Message, ...]) -> Iterator[Observation]:
    """Errors of a tool after which a changed call to the same tool worked: what the change was."""
    calls = {call.id: call for message in messages for call in message.tool_calls if call.id}
    failed: dict[str, tuple[ToolCall, str]] = {}
    for message in messages:
        for result in message.tool_results:
            call = calls.get(result.call_id)
            if call is None:
                continue
            if result.error or _looks_like_error(result.text):
                failed[call.name] = (call, _first_line(result.text))
            elif call.name in failed:
                before, error = failed.pop(call.name)
                change = _change(before, call)
                if change:
                    yield Observation(f"When {call.name} answers “{error}”: {change}.", "TOOLS AND APIS", error)


def _looks_like_error(text: str) -> bool:
    return bool(re.match(r"\W*(?:error|exception|traceback|invalid|failed|\{\W*error)\b", text[:60], re.IGNORECASE))


def _first_line(text: str) -> str:
    line = next((line for line in text.splitlines() if line.strip()), "")
    return " ".join(line.split())[:140]


def _change(before: ToolCall, after: ToolCall) -> str:
    """How the arguments changed: names first, then values."""
    old, new = _arguments(before), _arguments(after)
    if old is None or new is None or old == new:
        return ""
    gone, come = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
    if gone and come:
        return f"pass {_names(come)}, not {_names(gone)}"
    if come:
        return f"pass {_names(come)} as well"
    if gone:
        return f"leave out {_names(gone)}"
    changed = [name for name in new if new[name] != old[name]]
    name = changed[0]
    right, wrong = (json.dumps(value, ensure_ascii=False)[:80] for value in (new[name], old[name]))
    return f"{name} takes {right}, not {wrong}"


def _arguments(call: ToolCall) -> dict[str, object] | None:
    try:
        value = json.loads(call.arguments)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _names(names: list[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def _missed_answer(trace: Trace) -> Iterator[Observation]:
    """For a wrong answer with a known right one: how the two numbers relate."""
    said = next((message.text for message in reversed(trace.messages) if message.role == "assistant"), "")
    wrong, right = _number(said), _number(trace.reference)
    if trace.outcome.success is not False or wrong is None or right is None or wrong == right:
        return
    relation = _relation(wrong, right)
    if relation:
        about = _first_line(trace.task[-200:])
        evidence = f"answered {said.strip()[:80]}, expected {trace.reference.strip()[:80]}"
        yield _observed(f"In questions such as “{about}”: the answer was {relation} ({evidence}).", evidence)


def _number(text: str) -> float | None:
    found = re.findall(r"-?\d[\d,]*(?:\.\d+)?", text[-200:])
    try:
        return float(found[-1].replace(",", "")) if found else None
    except ValueError:
        return None


def _relation(wrong: float, right: float) -> str:
    if wrong == -right:
        return "right but for its sign"
    if right and wrong:
        for factor, words in ((100, "a hundred"), (1_000, "a thousand"), (1_000_000, "a million")):
            if abs(wrong / right - factor) < 1e-6 * factor:
                return f"{words} times too large"
            if abs(right / wrong - factor) < 1e-6 * factor:
                return f"{words} times too small"
    if abs(wrong - right) == 1 and right == int(right):
        return f"off by one ({'too large' if wrong > right else 'too small'})"
    return "not rounded as expected" if right and abs(wrong - right) < abs(right) * 0.01 else ""
