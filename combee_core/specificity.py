"""How specific a text is, counted without a judge: the numbers, identifiers and entities that it holds.

Words of everyday language count for nothing here. It knows no runs and no lessons, only texts.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_IDENTIFIER = re.compile(
    r"`([^`\s]{1,80})`"  # set off as code
    r"|((?<![\w-])--?[A-Za-z][\w-]*"  # a flag
    r"|\$\{?[A-Za-z_]\w*\}?"  # a variable
    r"|(?<![\w/])/[\w.*-]+(?:/[\w.*-]+)*"  # a path
    r"|[\w-]+(?:/[\w.-]+)*\.(?:py|sh|jsonl?|csv|tsv|txt|ya?ml|md|log|toml|conf|sql|gz|xml|html|js|ts)\b"  # a file
    r"|\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\(\)"  # a call
    r"|\b\w*[A-Za-z0-9]_\w+"  # snake_case
    r"|\b[a-z]+[a-z0-9]*[A-Z]\w*"  # camelCase
    r"|\b[A-Z][A-Za-z]*-\d[\w-]*"  # ISO-8601
    r"|\b[A-Za-z]+\d\w*)"  # utf8
)
_NUMBER = re.compile(r"(?<![\w.])\d(?:[\d.,:]*\d)?")
_NAME = re.compile(r"\b[A-Z]{2,}[A-Z0-9]*\b|(?<=[a-z,;:] )[A-Z][a-z]\w*")
_WORD = re.compile(r"[^\W_][\w'-]*")


@dataclass(frozen=True)
class Terms:
    """What a text names, in lower case: numbers without thousands separators, identifiers, entities (named things)."""

    numbers: frozenset[str] = frozenset()
    identifiers: frozenset[str] = frozenset()
    entities: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.numbers) + len(self.identifiers) + len(self.entities)


@dataclass(frozen=True)
class Carried:
    """How many distinct terms the lessons held, and how many of them the prompt holds still."""

    in_lessons: int
    kept: int

    @property
    def share(self) -> float | None:
        """Share kept, 0 to 1; None when the lessons held none."""
        return self.kept / self.in_lessons if self.in_lessons else None


@dataclass(frozen=True)
class Specificity:
    """What became of the terms of the lessons; `per_bullet` is how many distinct terms a bullet has on average."""

    numbers: Carried
    identifiers: Carried
    entities: Carried
    per_bullet: float | None

    @property
    def all(self) -> Carried:
        """The three kinds together."""
        kinds = (self.numbers, self.identifiers, self.entities)
        return Carried(sum(kind.in_lessons for kind in kinds), sum(kind.kept for kind in kinds))


def terms(text: str) -> Terms:
    """The numbers, identifiers and entities in a text; a part of an identifier is no number of its own.

    A capital at the start of a sentence makes no entity, an acronym anywhere does.
    """
    identifiers: set[str] = set()

    def taken(match: re.Match[str]) -> str:
        identifiers.add((match[1] or match[2]).lower())
        return " "

    rest = _IDENTIFIER.sub(taken, text)
    return Terms(
        frozenset(_plain(number) for number in _NUMBER.findall(rest)),
        frozenset(name.removesuffix("()") for name in identifiers),
        frozenset(name.lower() for name in _NAME.findall(rest)),
    )


def exact_terms(text: str) -> frozenset[str]:
    """The numbers and identifiers in a text: what no other wording can stand for."""
    found = terms(text)
    return found.numbers | found.identifiers


def specificity(lessons: Iterable[str], bullets: Iterable[str]) -> Specificity:
    """Compare the terms of lessons with those of the bullets made of them.

    A number is kept when a bullet holds the same number, an identifier or an entity when a bullet says it in any case.
    """
    texts = list(bullets)
    held, said = terms("\n".join(lessons)), [terms(text) for text in texts]
    numbers = frozenset().union(*(each.numbers for each in said))
    spoken = {word.lower() for text in texts for word in _WORD.findall(text)}
    spoken = spoken.union(*(each.identifiers | each.entities for each in said))
    return Specificity(
        Carried(len(held.numbers), len(held.numbers & numbers)),
        Carried(len(held.identifiers), len(held.identifiers & spoken)),
        Carried(len(held.entities), len(held.entities & spoken)),
        sum(map(len, said)) / len(said) if said else None,
    )


def _plain(number: str) -> str:
    """A number without thousands separators: 1,200 is 1200."""
    return re.sub(r",(?=\d{3}(?!\d))", "", number)
