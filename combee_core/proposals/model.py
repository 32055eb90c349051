"""A proposal to the reviewer of a version, and the answer to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

Kind = Literal["contradiction", "held_back", "not_taken_up", "alike", "too_long"]

BOTH = "both"
"""The answer that keeps all sides of a contradiction."""


@dataclass(frozen=True)
class Side:
    """A piece of advice that a proposal is about: a lesson, or (with `bullet`) a bullet of the version.

    `sources` are where it comes from, as a version keeps the sources of its bullets.
    """

    text: str
    section: str
    sources: tuple[Mapping[str, Any], ...]
    bullet: str | None = None

    @property
    def support(self) -> int:
        """Number of distinct traces behind it."""
        return len({entry["trace"] for entry in self.sources})


@dataclass(frozen=True)
class Proposal:
    """One thing to decide.

    A contradiction has two sides or more, of which one or all are kept; `about` says what they disagree on. A lesson
    that is held back or was not taken up (one side, whose sources are those of its twins, too) can become a bullet.
    Bullets that are alike can become one, with the text of the first side. A bullet beyond the size that was set for
    the playbook can be removed. `id` is unique within a version.
    """

    id: str
    kind: Kind
    sides: tuple[Side, ...]
    about: str = ""

    @property
    def choices(self) -> tuple[str, ...]:
        """The answers there are; `edit` takes a text of the reviewer's own."""
        match self.kind:
            case "contradiction":
                return (*(str(number) for number in range(1, len(self.sides) + 1)), BOTH)
            case "too_long":
                return ("accept", "reject")
            case _:
                return ("accept", "reject", "edit")


@dataclass(frozen=True)
class Answer:
    """What a reviewer said to one proposal; `content` is the reviewer's own text for an edit."""

    proposal: str
    choice: str
    content: str | None
    reviewer: str
    note: str
    at: datetime
