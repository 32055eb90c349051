"""Bullets in sections: the playbook as a value, and the counts of what helped."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property

from pydantic import BaseModel, ConfigDict, Field, field_validator

from combee_core.lesson import Tag

DEFAULT_SECTION = "OTHERS"
"""Section of a bullet that names none (the one that ACE falls back to)."""

ID_PATTERN = r"[^\s\[\]]+"
"""Regular expression of a bullet's id."""

_MAX_COUNT = 10**18 - 1


class Frozen(BaseModel):
    """A value that is never changed in place and takes no field that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Bullet(Frozen):
    """One piece of advice. `helpful` and `harmful` count the runs that were tagged so for this bullet.

    `id` has no white space and no square brackets; `section` is one line, its white space collapsed; `content` is any
    text that is not blank. Anything else raises a `ValueError`.
    """

    id: str
    section: str
    content: str
    helpful: int = Field(default=0, ge=0, le=_MAX_COUNT)
    harmful: int = Field(default=0, ge=0, le=_MAX_COUNT)

    @field_validator("id")
    @classmethod
    def _check_id(cls, value: str) -> str:
        if not re.fullmatch(ID_PATTERN, value):
            raise ValueError("a bullet id needs at least one character, and neither white space nor square brackets")
        return value

    @field_validator("section")
    @classmethod
    def _tidy_section(cls, value: str) -> str:
        section = one_line(value)
        if not section:
            raise ValueError("a section needs a name")
        return section

    @field_validator("content")
    @classmethod
    def _check_content(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("a bullet needs some text")
        return value


class Playbook(Frozen):
    """Bullets grouped by section, sections in the order in which they first appear; every id is there once.

    A `ValueError` names an id that two bullets share.
    """

    bullets: tuple[Bullet, ...] = ()

    @field_validator("bullets")
    @classmethod
    def _canonical(cls, bullets: tuple[Bullet, ...]) -> tuple[Bullet, ...]:
        repeated = [bullet_id for bullet_id, count in Counter(bullet.id for bullet in bullets).items() if count > 1]
        if repeated:
            raise ValueError(f"two bullets share the id {repeated[0]}")
        rank = {section: place for place, section in enumerate(dict.fromkeys(bullet.section for bullet in bullets))}
        return tuple(sorted(bullets, key=lambda bullet: rank[bullet.section]))

    @cached_property
    def _by_id(self) -> dict[str, Bullet]:
        return {bullet.id: bullet for bullet in self.bullets}

    @property
    def sections(self) -> tuple[str, ...]:
        """Section names in order; a section without bullets does not exist."""
        return tuple(dict.fromkeys(bullet.section for bullet in self.bullets))

    def get(self, bullet_id: str) -> Bullet | None:
        """The bullet with that id, or None."""
        return self._by_id.get(bullet_id)

    def __len__(self) -> int:
        return len(self.bullets)


def tag(playbook: Playbook, tags: Iterable[Mapping[str, Tag]]) -> Playbook:
    """Add one to a bullet's count for each mapping (one per reflection) that tags it; unknown ids are ignored."""
    counts = Counter(pair for mapping in tags for pair in mapping.items())
    return Playbook(
        bullets=tuple(
            bullet.model_copy(
                update={
                    "helpful": bullet.helpful + counts[bullet.id, "helpful"],
                    "harmful": bullet.harmful + counts[bullet.id, "harmful"],
                }
            )
            for bullet in playbook.bullets
        )
    )


def section_name(name: str, playbook: Playbook) -> str:
    """A section's name in capitals and with spaces: models write one section in several spellings."""
    tidy = one_line(name.replace("_", " ")).strip("# ").upper()
    return next((section for section in playbook.sections if section.upper() == tidy), tidy)


def one_line(text: str) -> str:
    """The text with every run of white space collapsed to one space."""
    return " ".join(text.split())
