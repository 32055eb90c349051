"""What the learning loop passes along between a trace and a playbook: reflections, lessons, and items of a merge.

Pure data; how a lesson is found or merged is a learner's business.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict

Tag = Literal["helpful", "harmful", "neutral"]
Kind = Literal["ADD", "UPDATE", "MERGE", "DELETE"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Lesson(_Frozen):
    """One piece of advice drawn from one trace.

    `text` is a single line. `section` is the playbook section it would belong to, `evidence` the passage of the
    trace that it rests on (both may be empty).
    """

    text: str
    section: str = ""
    evidence: str = ""


class Reflection(_Frozen):
    """What one look back at one trace yielded: lessons, and a tag for each playbook bullet that the run used."""

    lessons: tuple[Lesson, ...] = ()
    tags: dict[str, Tag] = {}
    reasoning: str = ""


class Item(_Frozen):
    """One line of a merge's input.

    `id` is unique within an iteration and depends on the plan alone: `r12-1` is the first lesson of reflection 12,
    `m1-3-2` the second operation of group 3 on level 1. `support` is the number of distinct traces behind it.
    An item that a group wrote as an edit of existing bullets keeps that edit in `kind` and `bullets`.
    """

    id: str
    text: str
    section: str = ""
    support: int = 1
    kind: Kind = "ADD"
    bullets: tuple[str, ...] = ()

    @property
    def merged(self) -> bool:
        """Whether a merge has written it, not a reflection."""
        return self.id.startswith("m")
