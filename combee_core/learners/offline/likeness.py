"""When two lessons say the same: shared names count most, shared words next, and some differences set them apart.

It knows no traces and no playbook.
"""

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import sqrt
from typing import NamedTuple

from rapidfuzz import fuzz

from combee_core.learners.offline.terms import ACRONYM, WORD, stem, stems, terms

_HEAD = re.compile(r"^When (?:asked “[^”]*”|calling `\w+`): ")
_TOOL_HEAD = re.compile(r"^When calling `(\w+)`: ")
_OPPOSITES = tuple(
    (stem(one), stem(other))
    for one, other in (
        ("net", "gross"),
        ("include", "exclude"),
        ("ascending", "descending"),
        ("positive", "negative"),
        ("maximum", "minimum"),
    )
)
_OPPOSED = frozenset(word for pair in _OPPOSITES for word in pair)
_FORBIDDEN = re.compile(
    r"\b(?:do not|don't|never|must not|should not|may not|cannot|no need to)\s+(?:be\s+)?((?:[\w'=.-]+\s*){1,6})", re.I
)
# A value in lower case is one of a fixed set; `TZ=Europe/Berlin` or `id=42` are examples that differ from run to run.
_SETTING = re.compile(r"\b(\w+)=[\"'`]?([a-z_]+)\b(?![\w./-])")
_LIMIT = re.compile(
    r"\b(?:pages?|steps?|levels?|versions?|lines?|ports?|columns?|within|above|over|below|under|up to|at most|"
    r"at least|more than|less than)\s+[$€£]?(\d[\d.,]*)|\b(\d[\d.,]*)[ -](?:days?|weeks?|months?|hours?|minutes?|"
    r"seconds?|decimals?|characters?|words?|times|per ?cent\b|%)",
    re.IGNORECASE,
)
_PLAIN_NUMBER = re.compile(r"(?<![\w.,:/-])\d[\d.,]*\d|(?<![\w.,:/-])\d")
ASIDE = re.compile(r"\([^)]*\)|“[^”]*”|(?:such as|for example|for instance|e\.g\.)[^;.]*", re.IGNORECASE)

SAME = 0.26
"""Likeness from which two lessons count as the same."""
DAMPING = 1.0
WORD_FOR_WORD = 88


class Wording(NamedTuple):
    """A lesson as it is compared: weights of its terms, the names among them, and what can set it apart.

    `vector` holds the weights scaled to a length of nearly 1, the less the fewer terms there are: a few everyday words
    in common prove little. `square` is the square of that length.
    """

    weights: Mapping[str, float]
    vector: Mapping[str, float]
    square: float
    names: frozenset[str]
    forbids: tuple[tuple[str, ...], ...]
    opposites: frozenset[str]
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
    for term, weight in terms(body):
        weights[term] = max(weight, weights.get(term, 0.0))
        if weight > ACRONYM:
            names.add(term)
    if tool:
        # The tool that a lesson is about says less of it than a name in its own words.
        weights.setdefault(tool[1].lower(), WORD)
    length = sqrt(DAMPING + sum(weight * weight for weight in weights.values()))
    vector = {term: weight / length for term, weight in weights.items()}
    return Wording(
        weights=weights,
        vector=vector,
        square=sum(weight * weight for weight in vector.values()),
        names=frozenset(names),
        forbids=tuple(tuple(found) for words in _FORBIDDEN.findall(body) if len(found := stems(words)) > 1),
        opposites=_OPPOSED.intersection(weights),
        settings=_settings(body),
        limits=frozenset(one or other for one, other in _LIMIT.findall(plain)),
        numbers=frozenset(_PLAIN_NUMBER.findall(plain)),
        masked=_PLAIN_NUMBER.sub("#", plain).lower(),
    )


def _settings(text: str) -> dict[str, frozenset[str]]:
    """Values that a text sets, by name: `to="card"`."""
    found: dict[str, frozenset[str]] = {}
    for name, value in _SETTING.findall(text):
        found[name.lower()] = found.get(name.lower(), frozenset()) | {value}
    return found


def alike(left: Wording, right: Wording) -> float:
    """How much two lessons say the same, from 0 to 1; 0 when something sets them apart."""
    score = likeness(left, right)
    return 0.0 if score < SAME or apart(left, right) else score


def likeness(left: Wording, right: Wording) -> float:
    """What two lessons share by weight, from 0 to 1, whatever else may set the two apart."""
    small, large = sorted((left.vector, right.vector), key=len)
    # An exact sum, so that the order of the words does not show in the last digit.
    return math.fsum(weight * large[term] for term, weight in small.items() if term in large)


def apart(left: Wording, right: Wording) -> bool:
    """Whether two lessons that sound alike are not the same: they contradict each other, or name different limits.

    Plain numbers are mostly examples; they tell rules apart only where the texts are the same but for them.
    """
    if contradict(left, right):
        return True
    if left.limits and right.limits and not left.limits & right.limits:
        return True
    if not left.numbers or not right.numbers or left.numbers & right.numbers:
        return False
    return fuzz.token_sort_ratio(left.masked, right.masked, score_cutoff=WORD_FOR_WORD) > 0


def contradict(left: Wording, right: Wording) -> bool:
    """Whether one forbids what the other demands, or they set one thing to different values."""
    for one, other in ((left, right), (right, left)):
        if one.forbids and any(_demands(other, verb, objects) for verb, *objects in one.forbids):
            return True
    if left.opposites and right.opposites and any(_opposed(left, right, *pair) for pair in _OPPOSITES):
        return True
    if not left.settings or not right.settings:
        return False
    shared = left.settings.keys() & right.settings.keys()
    return any(not left.settings[key] & right.settings[key] for key in shared)


def _opposed(left: Wording, right: Wording, word: str, opposite: str) -> bool:
    """Whether one lesson has the one word alone, and the other one the other."""
    pair = {word, opposite}
    return {frozenset({word}), frozenset({opposite})} == {left.opposites & pair, right.opposites & pair}


def _demands(found: Wording, verb: str, objects: Sequence[str]) -> bool:
    """Whether a lesson has a verb that another one forbids, on the same object, and does not forbid it itself."""
    if verb not in found.weights or all(verb != forbidden for forbidden, *_ in found.forbids):
        return verb in found.weights and any(word in found.weights for word in objects)
    return False
