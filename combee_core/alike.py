"""When two pieces of advice say the same in nearly the same words: wording may differ, facts and a "not" may not.

Pure functions on text; what is done about twins is the business of who asks.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz, process

ALIKE = 90.0
"""Similarity of the words, in any order, from which two texts are twins (0 to 100; ACE's threshold)."""

SAME_MEANING = 0.9
"""Cosine of two embeddings from which their texts are twins."""

_FACT = re.compile(r"\w*[\d_]\w*(?:[.,:]\d+)*")
_WORD = re.compile(r"\w+")
_NOT = re.compile(r"\b(?:not|never|no|nor|without|cannot|\w+n['’]t)\b", re.IGNORECASE)


class Phrase(NamedTuple):
    """A text as it is compared: its words in lower case and sorted, facts such as `page_index` or 3, a "not"."""

    words: str
    facts: frozenset[str]
    negated: bool


def phrase(text: str) -> Phrase:
    """What of a text counts. "Never X" and "always X" share nearly all words, hence the eye on a "not"."""
    words = " ".join(sorted(_WORD.findall(text.lower())))
    return Phrase(words, frozenset(_FACT.findall(text)), _NOT.search(text) is not None)


def alike(one: Phrase, other: Phrase) -> bool:
    """Whether two texts say the same."""
    return one[1:] == other[1:] and fuzz.ratio(one.words, other.words, score_cutoff=ALIKE) > 0


class Twins:
    """Texts seen so far, to find for another one the first that it is a twin of."""

    def __init__(self) -> None:
        self._seen: dict[tuple[frozenset[str], bool], dict[int, str]] = defaultdict(dict)
        self._number = 0

    def find(self, text: str) -> int | None:
        """Number, from 0 in the order of `add`, of the seen text that is most like this one; None without a twin."""
        found = phrase(text)
        best = process.extractOne(found.words, self._seen[found[1:]], scorer=fuzz.ratio, score_cutoff=ALIKE)
        return None if best is None else best[2]

    def add(self, text: str) -> int:
        """See a text, and return its number."""
        found = phrase(text)
        self._seen[found[1:]][self._number] = found.words
        self._number += 1
        return self._number - 1


def grouped(texts: Sequence[str]) -> list[list[int]]:
    """Indexes of texts in groups of twins: each text joins the group whose first text it is most like."""
    seen, groups = Twins(), []
    for index, text in enumerate(texts):
        twin = seen.find(text)
        if twin is None:
            seen.add(text)
            groups.append([index])
        else:
            groups[twin].append(index)
    return groups


def grouped_by_meaning(texts: Sequence[str], vectors: Sequence[npt.NDArray[np.float32]]) -> list[list[int]]:
    """The same by embeddings, vectors of length 1: each text joins the group whose first one it is nearest to.

    Embeddings hardly tell 3 from 5 or "always" from "never": twins have the same "not", and one names no fact but those
    of the other.
    """
    phrases = [phrase(text) for text in texts]
    units = np.asarray(vectors)
    groups: list[list[int]] = []
    for index, own in enumerate(phrases):
        firsts = [group[0] for group in groups]
        near = units[firsts] @ units[index] if firsts else np.zeros(0)
        # Vectors are kept in half precision: the same text may come out a little under its threshold.
        order = [place for place in np.argsort(-near, kind="stable") if near[place] >= SAME_MEANING - 1e-3]
        twin = next((place for place in order if _may_be_one(phrases[firsts[place]], own)), None)
        if twin is None:
            groups.append([index])
        else:
            groups[twin].append(index)
    return groups


def _may_be_one(one: Phrase, other: Phrase) -> bool:
    return one.negated == other.negated and (one.facts <= other.facts or other.facts <= one.facts)
