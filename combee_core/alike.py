"""When two pieces of advice say the same in nearly the same words: wording may differ, facts and a "not" may not.

Pure functions on text; what is done about twins is the business of who asks.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from rapidfuzz import fuzz, process

ALIKE = 90.0
"""Similarity of the words, in any order, from which two texts are twins (0 to 100; ACE's threshold)."""

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
