"""When two lessons say the same: likeness of wording, with names and numbers as what sets lessons apart."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz import fuzz

_WORD = re.compile(r"--?[a-z][\w-]*|[a-z_][\w./:-]*[\w]|[a-z]|\d[\d.,:/%-]*", re.IGNORECASE)
_NAME = re.compile(
    r"[a-z0-9]+_[\w]+|[a-z]+[A-Z]\w*|--?[a-zA-Z][\w-]+|\w+\.(?:py|sh|json|csv|txt|ya?ml|md|log|toml|conf)\b"
)
_QUOTED = re.compile(r"[`'\"“”‘’]([^`'\"“”‘’\s]{2,40})[`'\"“”‘’]")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_STOP = frozenset(
    """
    a an and are as at be been but by did do does for from had has have he her his i if in into is it its just not
    no of on or our out she should so than that the their them then there they this to too up was we were what when
    which while who will with would you your must need needs always never only also again agent answer wrong instead
    because
    """.split()
)


class Wording(NamedTuple):
    """A lesson as it is compared: content words in one string, the names it mentions, the numbers in it."""

    words: str
    names: frozenset[str]
    numbers: frozenset[str]


@lru_cache(maxsize=20_000)
def wording(text: str) -> Wording:
    """Content words, names (identifiers, flags, file names, quoted words) and numbers of a lesson."""
    names = {name.lower() for name in _NAME.findall(text)} | {name.lower() for name in _QUOTED.findall(text)}
    words = [word.lower().strip(".,:/") for word in _WORD.findall(text)]
    kept = [_stem(word) for word in words if word not in _STOP and not word[0].isdigit()]
    return Wording(" ".join(kept), frozenset(names), frozenset(_NUMBER.findall(text)))


def alike(left: Wording, right: Wording) -> float:
    """How much two lessons say the same, 0 to 100; 0 when names or numbers set them apart."""
    score = fuzz.token_sort_ratio(left.words, right.words) * 0.5 + fuzz.token_set_ratio(left.words, right.words) * 0.5
    shared_names = bool(left.names & right.names)
    if left.names and right.names and not shared_names:
        return score if score >= STRICT else 0.0
    if left.numbers and right.numbers and not left.numbers & right.numbers and not shared_names:
        return score if score >= STRICT else 0.0
    return score + (NAME_BONUS if shared_names else 0.0)


SAME = 68.0
STRICT = 90.0
NAME_BONUS = 10.0


def cluster(texts: Sequence[str]) -> list[list[int]]:
    """Indexes of texts in groups that say the same, in order of first appearance; each joins its best group."""
    wordings = [wording(text) for text in texts]
    groups: list[list[int]] = []
    for index, found in enumerate(wordings):
        scores = [_likeness_to(found, group, wordings) for group in groups]
        best = max(range(len(groups)), key=scores.__getitem__, default=None)
        if best is not None and scores[best] >= SAME:
            groups[best].append(index)
        else:
            groups.append([index])
    return groups


def _likeness_to(found: Wording, group: Sequence[int], wordings: Sequence[Wording]) -> float:
    """The mean of the two best members: one near twin is not enough in a large group, an average over all too much."""
    scores = sorted((alike(found, wordings[member]) for member in group[:12]), reverse=True)
    return sum(scores[:2]) / len(scores[:2])


def medoid(texts: Sequence[str]) -> int:
    """Index of the text that is closest to all others; among equals the one with most names, then the shortest."""
    wordings = [wording(text) for text in texts]

    def rank(index: int) -> tuple[float, int, int, str]:
        closeness = sum(alike(wordings[index], other) for other in wordings)
        return (-closeness, -len(wordings[index].names), len(texts[index]), texts[index])

    return min(range(len(texts)), key=rank)


def nearest(text: str, others: Sequence[str]) -> int | None:
    """Index of the text that says the same, the likest of them, or None."""
    found = wording(text)
    scores = [alike(found, wording(other)) for other in others]
    best = max(range(len(others)), key=scores.__getitem__, default=None)
    return best if best is not None and scores[best] >= SAME else None


def _stem(word: str) -> str:
    """A crude stem: plural and verb endings make no other lesson."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word
