"""Feedback and corrections in words: which sentences state a rule that an agent can follow, and which tell a story.

It keeps people's own sentences, word for word; praise, verdicts and the story of the run are left out. It reads English
and knows nothing of traces.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from combee_core.learners.offline.likeness import wording

LONGEST = 280
"""Characters of one passage, so that a bullet stays a bullet."""
SHORT = 200
"""Characters up to which rules of one paragraph make one bullet, even when they name different things."""
LONGEST_FRAGMENT, WRAPPED = 7, 50

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_LABEL = re.compile(r"^\s*[\w .-]{1,40}\((?:-?\d[\d.]*|True|False)\):\s*", re.IGNORECASE)
_MARKER = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_EMPHASIS = re.compile(r"\*\*|__(?=\w)|(?<=\w)__")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|etc|approx|cf|mr|mrs|ms|dr|st|inc|ltd|co|fig|resp)|\b[A-Z])\.\Z", re.I
)
_SENTENCE_END = re.compile(r"(?<=[\w)\]\"”’'`%][.!?])[\"”’')]*\s+")

_VERDICT_WORDS = frozenset(
    """
    a all an and answer answers are as assert be but completely correct correctly done end ever exactly excellent
    expected expectation expectations fail failed failing failure final fine good great in incorrect is it its job match
    matches met nearly nice no none nope not ok okay output pass passed passes perfect perfectly please really result
    results right solved solution success successful successfully such sure task test tests thank thanks that the these
    this those time two very was well were work worked wrong yes you your
    """.split()
)
_VERDICT_HEAD = re.compile(
    r"^(?:(?:all checks |all tests )?(?:passed|correct|good(?: work| job)?|great|nice|ok(?:ay)?|right answer|yes|"
    r"well done|what worked|exactly|nearly|no|nope|\w+ (?:is|was) (?:correct|right)|note(?: for next time)?|"
    r"for next time|actually|wait|sorry)\b)\s*[:,.;!–-]+\s*",
    re.IGNORECASE,
)
_COMPARED = re.compile(r"^expected [^:;]{1,40}(?:,| but) (?:got|was) [^:;]{1,40}[:;]\s+", re.IGNORECASE)
_VERDICT_PHRASE = re.compile(
    r"\b(?:as expected|differs? from|does not match|did not match|mismatch|matches the)\b", re.I
)
_MODAL = re.compile(
    r"\b(?:must|should|shall|ha(?:s|ve) to|had to|needs?|needed|ought|required?|requires|never|always|only|cannot|"
    r"can't|may not|do not|don't|does not|doesn't|not allowed|instead of|rather than|unless|make sure|ensure|"
    r"remember|is enough|are not|is not|isn't|aren't|insists?)\b",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"(?<!\byou )(?<!\bthey )(?<!\bto )\b(?:use|pass|call|run|exit|put|convert|give|write|send|set|check|wait|prefer|"
    r"select|before|without|after)\b"
)
_STATES = re.compile(
    r"\b(?:is|are|means?|takes?|wants?|expects?|accepts?|reads?|counts?|starts?|belongs?|stands?|reports?|comes?|goes|"
    r"makes?|works?|holds?|enforces?|removes?|gives?|lowers?|writes|bills|shows|adds|ends|ignores|rejects|returns|sends|"
    r"contains|allows|uses|refuses)\b",
    re.IGNORECASE,
)
_ORDERS = frozenset(
    """
    add allow answer apply ask assume avoid build call cast change check choose clear close combine compare compute
    confirm convert copy count create cut decide declare define delete divide do don't double-check drop encode end
    escape exclude exit fetch filter find first flag follow format give handle ignore include keep leave limit list look
    make map match measure mention merge move multiply name never normalise normalize offer omit open order parse pass
    pick pin poll prefer print put quote raise read re-run refuse remove rename repeat replace report request reset
    restart retry return round run save say search select send separate set shift show skip sort specify split start
    state stay stop strip submit subtract sum swap take tell test treat trim trust try turn update use validate verify
    wait warn wrap write always
    """.split()
)
_ORDER = re.compile(
    r"(?:^|[;:]\s+|,\s+(?:so\s+|then\s+|and\s+)?|\b(?:and|or|then|please|to|by)\s+(?:then\s+)?)([A-Za-z][\w'-]*)"
)
_STORY = re.compile(
    r"\b(?:was|were|had(?! to\b)|did|didn't|went|came|got|gave|told|said|ran|sent|saw|made|put|took|found|wrote|"
    r"thought|nobody|waited|called|counted|asked|booked|promised|ignored|skipped|rounded|charged|claimed|assumed|used|"
    r"returned|answered|failed|missed|forgot|omitted|produced|expected\b.+\bgot|the agent|agent|assistant|"
    r"submission|generation|expert|paid|you)\b|^expected\b",
    re.IGNORECASE,
)
_BE_DONE = re.compile(
    r"\b(?:be|is|are|been|being|has|have)\s+(?:not\s+|only\s+|\w+ly\s+)?\w+ed\b|\b(?:be|been|being)\s+\w+",
    re.IGNORECASE,
)
_IN_HINDSIGHT = re.compile(r"\b(?:had to|(?:should|must) have|was needed|were needed)\b", re.IGNORECASE)
_TEST_LINE = re.compile(
    r"^(?:FAILED|ERROR|PASSED)?\s*(?:[\w./-]*(?:::[\w\[\]-]+)+|test_\w+)\b|^\d+ (?:passed|failed)\b"
)
_REPORT_LINE = re.compile(
    r"^\S+(?:\(.*\))?: (?:passed|failed|skipped|done|none|ok)\.?$|^[\w ]{1,30}: [\w-]+$|^\d+ (?:passed|failed)\b",
    re.IGNORECASE,
)
_RAISED = re.compile(r"^\w*(?:Error|Exception)\b")
_LEANING = re.compile(
    r"^(?:it|its|that|this|they|these|those|he|she|so|then|otherwise|also|and|but|here|there|which|both)\b",
    re.IGNORECASE,
)
RUN_DETAIL = re.compile(
    r"\b[A-Z]{1,4}-?\d{3,}\b|\b\d{1,2}(?::\d\d|\s*[ap]m\b)|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b|"
    r"\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b|"
    r"^\d+ [a-z]|\bis (?:at|in) /|"
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December) \d{1,2}\b"
)
_POINTING_BACK = re.compile(r"^(?:\w+\s+){0,2}(?:it|its|them|this|that one|these|those)\b", re.IGNORECASE)
_NEXT_THING = re.compile(
    r"^(?:also|besides|moreover|furthermore|in addition|another|second(?:ly)?|third(?:ly)?|finally)\b", re.I
)
_OPENERS = frozenset("a an the in on at if when with without for from to after before by it there this that".split())
_BLOB = re.compile(r"[{\[(]\s*[{\"'].{80,}", re.DOTALL)


class Passage(NamedTuple):
    """Sentences that belong together, in one line; `is_rule` says that they tell what to do, not only what happened."""

    text: str
    is_rule: bool


class _Sentence(NamedTuple):
    text: str
    score: int


def passages(text: str) -> list[Passage]:
    """What a piece of feedback teaches: its rules; where it states none, the most telling sentence of its story."""
    sentences = [_Sentence(part, _score(part)) for part in _sentences(text) if not is_verdict(part)]
    rules = [Passage(rule, True) for rule in _joined(sentences)]
    if rules:
        return rules
    told = [
        sentence.text
        for sentence in sentences
        if len(wording(sentence.text).weights) >= 2 and not _BLOB.search(sentence.text)
    ]
    most = max(told, key=lambda part: sum(wording(part).weights.values()), default="")
    return [Passage(most[:LONGEST], False)] if most else []


def is_verdict(sentence: str) -> bool:
    """Whether a sentence says only that the run was right or wrong and not in what, or is a mere heading."""
    if _REPORT_LINE.search(sentence) or sentence.endswith(":"):
        return True
    words = re.findall(r"[^\W_]+(?:'\w+)?", sentence.lower())
    if not words or all(word in _VERDICT_WORDS for word in words):
        return True
    return bool(_VERDICT_PHRASE.search(sentence)) and not wording(sentence).names and len(words) < 12


def is_report(sentence: str) -> bool:
    """Whether a sentence is a line of a test report or an exception, and not somebody's words."""
    return bool(_TEST_LINE.match(sentence) or _RAISED.match(sentence))


def directness(text: str) -> float:
    """How directly a text says what to do: the mean over its sentences, from -3 for a mere story upwards."""
    scores = [min(_score(sentence), 4) for sentence in _sentences(text)]
    return sum(scores) / len(scores) if scores else 0.0


def _sentences(text: str) -> Iterator[str]:
    for line in _lines(_FENCED.sub("\n", text)):
        pending = ""
        for part in _SENTENCE_END.split(line):
            pending = f"{pending} {part}".strip()
            if not _ABBREVIATION.search(pending):
                yield _tidy(pending)
                pending = ""
        if pending:
            yield _tidy(pending)


def _lines(text: str) -> Iterator[str]:
    """Lines without list markers, labels and emphasis; a wrapped line is joined to the one before."""
    held = ""
    for raw in text.splitlines():
        line = _EMPHASIS.sub("", _LABEL.sub("", _MARKER.sub("", raw))).strip()
        if len(held) >= WRAPPED and line[:1].islower() and held[-1] not in ".!?:;" and not is_report(held):
            held = f"{held} {line}"
            continue
        if held:
            yield held
        held = line
    if held:
        yield held


def _tidy(sentence: str) -> str:
    """A sentence in one line, without a verdict in front ("Passed. ", "Note for next time: ") and without a story."""
    tidy = " ".join(sentence.split())
    bare = _COMPARED.sub("", _VERDICT_HEAD.sub("", tidy))
    for mark in ("; ", ": "):
        head, found, tail = bare.partition(mark)
        if found and _score(head) < 0 and _score(tail) >= 2 and not _POINTING_BACK.match(tail):
            bare = tail
        elif found and mark == "; " and _score(head) > 0 and _score(tail) < 0:
            bare = f"{head}."
    return bare if bare == tidy else _capitalised(bare)


def _capitalised(text: str) -> str:
    """A capital letter in front, unless the first word may be the name of a program or a field."""
    first = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if first in _ORDERS or first in _OPENERS else text


def _score(sentence: str) -> int:
    """How much a sentence tells what to do (above 0) or what has happened (below 0)."""
    if is_report(sentence) or _BLOB.search(sentence):
        return -3
    orders = sum(word.lower() in _ORDERS for word in _ORDER.findall(sentence))
    score = 3 * min(orders, 2) + 2 * min(len(_MODAL.findall(sentence)), 2)
    score += min(len(_STATES.findall(sentence)), 2) + bool(_ADVICE.search(sentence))
    story = _BE_DONE.sub(" ", sentence)
    told = min(len(_STORY.findall(story)), 3)
    told -= bool(told and _IN_HINDSIGHT.search(sentence))
    score -= 2 * told + bool(_LEANING.match(sentence)) + bool(_IN_HINDSIGHT.search(sentence))
    score -= score == 0 and told > 0
    return score - 2 if score <= 1 and RUN_DETAIL.search(sentence) else score


def _is_fragment(sentence: _Sentence) -> bool:
    """A few words without a verb, such as "Needless escalation.": a comment on the run."""
    return sentence.score == 0 and len(sentence.text.split()) < LONGEST_FRAGMENT


def _joined(sentences: list[_Sentence]) -> Iterator[str]:
    """Rules with the plain sentences beside them; sentences on different things become passages of their own."""
    kept: list[list[_Sentence]] = []
    before: _Sentence | None = None
    for sentence in sentences:
        if sentence.score < 0 or _is_fragment(sentence):
            before = sentence
        elif kept and _belongs(sentence, kept[-1]):
            kept[-1].append(sentence)
        elif _POINTING_BACK.match(sentence.text) and before is not None and not is_report(before.text):
            kept.append([before, sentence])
        elif kept or not _LEANING.match(sentence.text) or sentence.score >= 3:
            kept.append([sentence])
    for group in kept:
        if max(sentence.score for sentence in group) > 0:
            yield " ".join(sentence.text for sentence in group)[:LONGEST].strip()


def points_back(text: str) -> bool:
    """Whether a text begins with what was said before it: "Skip it …", "That is …"."""
    return _POINTING_BACK.match(text) is not None


def _belongs(sentence: _Sentence, group: list[_Sentence]) -> bool:
    text = " ".join(part.text for part in group)
    length = len(text) + len(sentence.text)
    if length >= LONGEST or _NEXT_THING.match(sentence.text):
        return False
    mine, theirs = wording(sentence.text), wording(text)
    return bool(
        length < SHORT
        or _LEANING.match(sentence.text)
        or mine.weights.keys() & theirs.weights.keys()
        or not (mine.names and theirs.names)
    )
