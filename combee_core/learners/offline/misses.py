"""A wrong answer beside the right one: how the two relate, said as advice for questions of that kind.

Pure comparison of two texts. Numbers that have no plain relation teach nothing that could be said without a model.
"""

import re

_NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?")
_FACTORS = (
    (100, "100", "see whether a percentage or a fraction, cents or whole units are asked for"),
    (1_000, "1,000", "see whether the figures are in thousands"),
    (1_000_000, "1,000,000", "see whether the figures are in millions"),
)

LABEL_CHARS, TEXT_CHARS = 60, 240


def what_was_missed(answer: str, reference: str) -> str:
    """The relation of a wrong answer to the right one, as advice in a few words; empty when there is none to tell."""
    said, right = answer.strip().rstrip("."), reference.strip().rstrip(".")
    if not said or not right or said == right:
        return ""
    wrong_number, right_number = _number(said), _number(right)
    if wrong_number is not None and right_number is not None:
        return _of_numbers(wrong_number, right_number)
    if _letters(said) == _letters(right):
        return f"write the answer exactly as “{right}”, not as “{said}”" if len(right) <= LABEL_CHARS else ""
    if sorted(re.findall(r"\d+", said)) == sorted(re.findall(r"\d+", right)) and re.search(r"\d\D+\d", right):
        return f"mind the order of the parts: “{right}” is right, “{said}” is not" if len(right) <= LABEL_CHARS else ""
    return _of_labels(said, right) if _is_label(said) and _is_label(right) else _of_texts(right)


def _of_numbers(wrong: float, right: float) -> str:
    example = f"({right:.12g}, not {wrong:.12g})"
    if wrong == right:
        return ""
    if wrong == -right:
        return f"the right answer had the opposite sign {example}: see which figures count as negative"
    for factor, words, advice in _FACTORS:
        if right and wrong and _close(right / wrong, factor):
            return f"the right answer was {words} times as large {example}: {advice}"
        if right and wrong and _close(wrong / right, factor):
            return f"the right answer was {words} times smaller {example}: {advice}"
    if abs(wrong - right) == 1 and right == int(right):
        less = "less" if wrong > right else "more"
        return f"the right answer was one {less} {example}: see whether counting starts at 0 or at 1"
    if right and abs(wrong - right) < abs(right) * 0.005:
        return f"the answer was not rounded as asked {example}"
    return ""


def _of_labels(said: str, right: str) -> str:
    """Names in the place of others; in lists of the same length only those that differ."""
    given, wanted = ([part.strip() for part in text.split(",")] for text in (said, right))
    if len(given) == len(wanted):
        pairs = [(one, other) for one, other in zip(given, wanted, strict=True) if one.casefold() != other.casefold()]
        return "; ".join(f"the answer is “{other}”, not “{one}”" for one, other in pairs[:4])
    return f"the answer is “{right}”, not “{said}”"


def _of_texts(right: str) -> str:
    """A right answer in a sentence or two; structures and long texts cannot be quoted."""
    line = " ".join(right.split())
    is_text = 20 < len(line) <= TEXT_CHARS and line[0] not in "[{<" and "\\" not in line
    return f"the expected answer is “{line}”" if is_text else ""


def _is_label(text: str) -> bool:
    """A name, a tag, a short phrase, or a few of them with commas between."""
    return bool(re.fullmatch(r"[\w .:/&'-]+(?:,[\w .:/&'-]+)*", text)) and all(
        len(part) <= LABEL_CHARS for part in text.split(",")
    )


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def _number(text: str) -> float | None:
    """The one number of a short answer."""
    found = _NUMBER.findall(text)
    if len(found) != 1 or len(text) > LABEL_CHARS:
        return None
    return float(found[0].replace(",", "").replace("−", "-"))


def _close(ratio: float, factor: int) -> bool:
    return abs(abs(ratio) - factor) < 1e-6 * factor
