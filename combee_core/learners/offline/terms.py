"""The terms of a lesson and what each counts: names of this work most, everyday words least, stop words nothing.

Names are identifiers, flags, variables, quoted words. It compares nothing.
"""

import re
from collections.abc import Iterator

NAME, QUOTED, ACRONYM, FILE, WORD, PART, COMMON = 2.5, 1.3, 1.05, 0.8, 1.0, 0.7, 0.35
"""Weights: an identifier, its parts, a quoted word or a one-letter flag, an acronym, a part of a path, other words."""

_TOKEN = re.compile(
    r"\$\{?[A-Za-z_]\w*|\\[a-z]\b|--?[A-Za-z][\w-]*|/?[A-Za-z][\w.-]*(?:/[\w.*-]*\w)+|[A-Za-z]\w*(?:[-.]\w+)*|"
    r"[=><!]=+|\d[\d.,:]*\d|\d"
)
_IDENTIFIER = re.compile(r"\w*[a-z0-9]_\w+|[a-z]+[a-z0-9]*[A-Z]\w*|--?[A-Za-z][\w-]*|\\[a-z]|[=><!]=+|\$\{?\w+")
_LETTER_FLAG = re.compile(r"-[A-Za-z]")
_ACRONYM = re.compile(r"[A-Z]{2,}[A-Z0-9-]*s?")
_FILE = re.compile(r".*/.*|[\w-]+\.(?:py|sh|json|jsonl|csv|tsv|txt|ya?ml|md|log|toml|conf|sql|gz|xml|js|ts)")
_QUOTED = re.compile(r"[`\"“]([^`\"“”\s]{2,40})[`\"”]")
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
    expected expects fail failed field figures file files large line lines name note number order output parameter
    pass passed people question read reads result return right run say see send smaller state system task test text
    time tool tools try user value word work works write written
    """.split()
)
# The first of each stands for the others.
_SAME_THING = (
    ("negative", "minus"),
    ("carriage", "crlf", "\\r"),
    ("utc", "gmt"),
    ("directory", "folder", "dir"),
    ("argument", "parameter", "param", "arg"),
    ("0", "zero"),
    ("hundred", "100"),
    ("thousand", "1000"),
    ("million", "1000000"),
)


def terms(text: str) -> Iterator[tuple[str, float]]:
    """Terms of a text with their weights, as often as they occur."""
    quoted = {word.lower() for word in _QUOTED.findall(text)}
    for token in _TOKEN.findall(text):
        lowered = token.lower()
        if _LETTER_FLAG.fullmatch(token):
            yield token, QUOTED
        elif _IDENTIFIER.fullmatch(token):
            yield _ONE.get(lowered, lowered), NAME
            yield from ((part, PART) for part in stems(re.sub(r"[_-]|(?<=[a-z])(?=[A-Z])", " ", token)))
        elif _FILE.fullmatch(token):
            yield from ((part, FILE) for part in re.findall(r"[a-z][\w.-]*", lowered))
        elif token[0].isdigit():
            number = token.replace(",", "")
            if number in _ONE or number in ("0", "1"):
                yield _ONE.get(number, number), WORD
        elif _ACRONYM.fullmatch(token):
            lowered = lowered.removesuffix("s") if token.endswith("s") else lowered
            yield _ONE.get(lowered, lowered), ACRONYM
        elif lowered in quoted:
            yield stem(lowered), QUOTED
        elif lowered not in _STOP:
            yield stem(lowered), COMMON if lowered in _COMMON else WORD


def stems(text: str) -> list[str]:
    """Stems of the words of a text without stop words, in order."""
    words = (word.lower() for word in re.findall(r"[A-Za-z][\w'-]*|[=><!]=+", text))
    return [stem(word) for word in words if word not in _STOP]


def stem(word: str) -> str:
    """A crude stem, so that verify, verified and verification are one: endings off, at most six letters."""
    for ending in ("ies", "ied", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)] + ("y" if ending in ("ies", "ied") else "")
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    word = word.removesuffix("e")[:6] if len(word) > 4 else word[:6]
    word = word[:-1] + "y" if word.endswith("i") else word
    return _ONE.get(word, word)


_ONE: dict[str, str] = {}
_ONE |= {stem(other): stem(first) for first, *others in _SAME_THING for other in others}
