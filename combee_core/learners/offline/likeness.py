"""When two lessons say the same: shared names count most, shared words next, and some differences set them apart.

Names are what only this work has: identifiers, flags, quoted values, acronyms. It knows no traces and no playbook.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import sqrt
from typing import NamedTuple

from rapidfuzz import fuzz

_TOKEN = re.compile(
    r"\$\{?[A-Za-z_]\w*|\\[a-z]\b|--?[A-Za-z][\w-]*|/?[A-Za-z][\w.-]*(?:/[\w.*-]*\w)+|[A-Za-z]\w*(?:[-.]\w+)*|[=><!]=+|\d[\d.,:]*\d|\d"
)
_IDENTIFIER = re.compile(r"\w*[a-z0-9]_\w+|[a-z]+[a-z0-9]*[A-Z]\w*|--?[A-Za-z][\w-]*|\\[a-z]|[=><!]=+|\$\{?\w+")
_LETTER_FLAG = re.compile(r"-[A-Za-z]")
_ACRONYM = re.compile(r"[A-Z]{2,}[A-Z0-9-]*s?")
_FILE = re.compile(r".*/.*|[\w-]+\.(?:py|sh|json|jsonl|csv|tsv|txt|ya?ml|md|log|toml|conf|sql|gz|xml|js|ts)")
_QUOTED = re.compile(r"[`\"“]([^`\"“”\s]{2,40})[`\"”]")
_HEAD = re.compile(r"^When (?:asked “[^”]*”|calling `\w+`): ")
_TOOL_HEAD = re.compile(r"^When calling `(\w+)`: ")
_STOP = frozenset(
    """
    a about above after again all already also although an and any anything are as at away back be because been before
    being both but by can cannot could did do does doesn't don't done down each either else enough even every few for
    from further get gets give given gives go goes going got had has have having he her here him his how i if in into is
    it its itself just keep kept leave left less let like look made make makes many may me mean means might more most
    much must my need needed needs neither never next no nor not nothing now of off on once one only onto or other our
    out over own put rather right same say says see set shall she should since so some something such take takes tell
    than that the their them then there these they thing things this those though through to together too two under
    until up upon us use used uses using very via want wants was way we well were what when where which while who whole
    whose why will with within without would wrong yes yet you your always instead before first
    """.split()
)
_COMMON = frozenset(
    """
    agent answer answers argument ask asked call called calls check checked code command correct customer error
    expected expects fail failed field file files line lines name note number order output parameter pass passed people
    figures large question read reads result return right run say see send smaller state system task test text time tool tools try user value
    word work works write written
    """.split()
)
_EQUAL = {
    "zero": "0",
    "1000": "thousa",
    "1000000": "millio",
    "100": "hundred",
    "minus": "negati",
    "crlf": "\\r",
    "carria": "\\r",
    "gmt": "utc",
    "folder": "direct",
    "dir": "direct",
    "paramet": "argume",
    "param": "argume",
    "arg": "argume",
    "status": "code",
    "rc": "code",
}
_OPPOSITES = (("net", "gross"), ("includ", "exclud"), ("ascend", "descen"), ("positi", "negati"), ("maximu", "minimu"))
_FORBIDDEN = re.compile(
    r"\b(?:do not|don't|never|must not|should not|may not|cannot|no need to)\s+(?:be\s+)?((?:[\w'=.-]+\s*){1,6})", re.I
)
# A value in lower case is one of a fixed set; `TZ=Europe/Berlin` or `id=42` are examples that differ from run to run.
_SETTING = re.compile(r"\b(\w+)=[\"'`]?([a-z_]+)\b(?![\w./-])")
_LIMIT = re.compile(
    r"\b(?:pages?|steps?|levels?|versions?|lines?|ports?|columns?|within|above|over|below|under|up to|at most|at least|"
    r"more than|less than)\s+[$€£]?(\d[\d.,]*)|\b(\d[\d.,]*)[ -](?:days?|weeks?|months?|hours?|minutes?|seconds?|decimals?|"
    r"characters?|words?|times|per ?cent\b|%)",
    re.IGNORECASE,
)
_PLAIN_NUMBER = re.compile(r"(?<![\w.,:/-])\d[\d.,]*\d|(?<![\w.,:/-])\d")
ASIDE = re.compile(r"\([^)]*\)|“[^”]*”|(?:such as|for example|for instance|e\.g\.)[^;.]*", re.IGNORECASE)

NAME, QUOTED, ACRONYM, FILE, WORD, PART, COMMON = 2.5, 1.3, 1.05, 0.8, 1.0, 0.7, 0.35
SAME = 0.26
WITHOUT_A_NAME = 0.87
WORD_FOR_WORD = 88


class Wording(NamedTuple):
    """A lesson as it is compared: weights of its terms, the names among them, and what can set it apart."""

    weights: Mapping[str, float]
    norm: float
    names: frozenset[str]
    forbids: tuple[tuple[str, ...], ...]
    settings: Mapping[str, frozenset[str]]
    limits: frozenset[str]
    numbers: frozenset[str]
    masked: str


@lru_cache(maxsize=50_000)
def wording(text: str) -> Wording:
    """What counts when a lesson is compared; a head such as `When asked “…”:` does not."""
    tool = _TOOL_HEAD.match(text)
    body = _HEAD.sub("", text)
    plain = ASIDE.sub(" ", body)
    weights: dict[str, float] = {}
    names = set()
    for term, weight in _terms(body):
        weights[term] = max(weight, weights.get(term, 0.0))
        if weight > ACRONYM:
            names.add(term)
    if tool:
        # The tool that a lesson is about says less of it than a name in its own words.
        weights.setdefault(tool[1].lower(), WORD)
    settings: dict[str, frozenset[str]] = {}
    for key, value in _SETTING.findall(body):
        settings[key.lower()] = settings.get(key.lower(), frozenset()) | {value.lower()}
    return Wording(
        weights=weights,
        norm=sqrt(sum(weight * weight for weight in weights.values())) or 1.0,
        names=frozenset(names),
        forbids=tuple(tuple(stems) for words in _FORBIDDEN.findall(body) if len(stems := _stems(words)) > 1),
        settings=settings,
        limits=frozenset(one or other for one, other in _LIMIT.findall(plain)),
        numbers=frozenset(_PLAIN_NUMBER.findall(plain)),
        masked=_PLAIN_NUMBER.sub("#", plain).lower(),
    )


def alike(left: Wording, right: Wording) -> float:
    """How much two lessons say the same, from 0 to 1; 0 when something sets them apart."""
    score = nearness(left, right)
    return 0.0 if score < SAME / 2 or apart(left, right, score) else score


def nearness(left: Wording, right: Wording) -> float:
    """Likeness before anything sets the two apart; everyday words alone count less than with a name among them."""
    score = cosine(left, right)
    return score if left.names & right.names else score * WITHOUT_A_NAME


def apart(left: Wording, right: Wording, score: float) -> bool:
    """Whether two lessons that sound alike are not the same: they contradict each other, or name different limits."""
    if contradict(left, right):
        return True
    if left.limits and right.limits and not left.limits & right.limits:
        return True
    if not left.numbers or not right.numbers or left.numbers & right.numbers or score < SAME:
        return False
    return fuzz.token_sort_ratio(left.masked, right.masked) >= WORD_FOR_WORD


def contradict(left: Wording, right: Wording) -> bool:
    """Whether one forbids what the other demands, or they set one thing to different values."""
    for one, other in ((left, right), (right, left)):
        if any(_demands(other, verb, objects) for verb, *objects in one.forbids):
            return True
        for word, opposite in _OPPOSITES:
            if word in one.weights and opposite in other.weights:
                both = opposite in one.weights or word in other.weights
                if not both:
                    return True
    shared = left.settings.keys() & right.settings.keys()
    return any(not left.settings[key] & right.settings[key] for key in shared)


def _demands(found: Wording, verb: str, objects: Sequence[str]) -> bool:
    """Whether a lesson has a verb that another one forbids, on the same object, and does not forbid it itself."""
    if verb not in found.weights or all(verb != forbidden for forbidden, *_ in found.forbids):
        return verb in found.weights and any(word in found.weights for word in objects)
    return False


def cosine(left: Wording, right: Wording) -> float:
    """Shared terms by weight, from 0 to 1, whatever else may set the two apart."""
    small, large = sorted((left.weights, right.weights), key=len)
    return sum(weight * large[term] for term, weight in small.items() if term in large) / (left.norm * right.norm)


def _terms(text: str) -> Iterator[tuple[str, float]]:
    quoted = {word.lower() for word in _QUOTED.findall(text)}
    for token in _TOKEN.findall(text):
        lowered = token.lower()
        if _LETTER_FLAG.fullmatch(token):
            yield token, QUOTED
        elif _IDENTIFIER.fullmatch(token):
            yield _EQUAL.get(lowered, lowered), NAME
            yield from ((part, PART) for part in _stems(re.sub(r"[_-]|(?<=[a-z])(?=[A-Z])", " ", token)))
        elif _FILE.fullmatch(token):
            yield from ((part, FILE) for part in re.findall(r"[a-z][\w.-]*", lowered))
        elif token[0].isdigit():
            number = token.replace(",", "")
            if number in _EQUAL or number in ("0", "1"):
                yield _EQUAL.get(number, number), WORD
        elif _ACRONYM.fullmatch(token):
            lowered = lowered.removesuffix("s") if token.endswith("s") else lowered
            yield _EQUAL.get(lowered, lowered), ACRONYM
        elif lowered in quoted:
            yield _stem(lowered), QUOTED
        elif lowered not in _STOP:
            stem = _stem(lowered)
            yield stem, COMMON if lowered in _COMMON else WORD


def _stems(text: str) -> list[str]:
    words = (word.lower() for word in re.findall(r"[A-Za-z][\w'-]*|[=><!]=+", text))
    return [_stem(word) for word in words if word not in _STOP]


def _stem(word: str) -> str:
    """A crude stem, so that verify, verified and verification are one: endings off, at most six letters."""
    for ending in ("ies", "ied", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)] + ("y" if ending in ("ies", "ied") else "")
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    word = word.removesuffix("e")[:6] if len(word) > 4 else word[:6]
    word = word[:-1] + "y" if word.endswith("i") else word
    return _EQUAL.get(word, word)
