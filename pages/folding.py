"""Long text, folded to its beginning and its end: what a reader sees before asking for the whole."""

from dataclasses import dataclass

LONG_LINES, LONG_CHARACTERS = 24, 2_400
HEAD_LINES, TAIL_LINES = 10, 4
HEAD_CHARACTERS, TAIL_CHARACTERS = 1_000, 400
MOST_SHOWN = 200_000
"""Characters of one text that a browser still handles at ease."""


@dataclass(frozen=True)
class Folded:
    """The parts of a long text that are shown, and how much lies between them."""

    head: str
    tail: str
    lines: int
    characters: int

    @property
    def size(self) -> str:
        """ "340 lines", or "12,400 characters" of a text with few lines."""
        return f"{self.lines:,} lines" if self.lines > LONG_LINES else f"{self.characters:,} characters"


def fold(text: str) -> Folded | None:
    """The folded form of a text; None when it is short enough to be shown as it is."""
    lines = text.count("\n") + 1
    if lines <= LONG_LINES and len(text) <= LONG_CHARACTERS:
        return None
    head = "\n".join(text[:HEAD_CHARACTERS].split("\n")[:HEAD_LINES])
    tail = "\n".join(text[-TAIL_CHARACTERS:].split("\n")[-TAIL_LINES:])
    cut_off = "…" if len(head) == HEAD_CHARACTERS else ""
    cut_on = "…" if len(tail) == TAIL_CHARACTERS else ""
    return Folded(head + cut_off, cut_on + tail, lines, len(text))
