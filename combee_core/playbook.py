"""The playbook: bullets in sections, their text form, and the operations that change them.

Pure data and functions: a playbook is never changed in place, every change gives a new one. This module does not know
who proposes an operation (a learner), who accepts it (the review) or where versions are kept (the store).
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from combee_core.errors import CombeeError
from combee_core.lesson import Tag

DEFAULT_SECTION = "OTHERS"
"""Section of a bullet that names none (the one that ACE falls back to)."""

OperationKind = Literal["ADD", "UPDATE", "MERGE", "DELETE"]

_MAX_COUNT = 10**18 - 1
_ID = r"[^\s\[\]]+"
_HEADING = re.compile(r"\s*#+\s*(?P<section>.*)", re.DOTALL)
_BULLET = re.compile(
    rf"\s*(?:[-*]\s+)?\[(?P<id>{_ID})\]\s*helpful=(?P<helpful>[0-9]{{1,18}})\s*"
    r"harmful=(?P<harmful>[0-9]{1,18})\s*:: ?(?P<content>.*)",
    re.DOTALL,
)
_NUMBER_AT_END = re.compile(r"-([0-9]{1,9})\Z")
_ESCAPED = {"\\": "\\\\", "\n": "\\n", "\r": "\\r"}
_PLAIN = {escaped: plain for plain, escaped in _ESCAPED.items()}
_ESCAPED_TEXT = re.compile(r"(?:[^\\]|\\[\\nr])*")


class PlaybookError(CombeeError):
    """A playbook text that cannot be read; the message names the line, counted from 1, and what belongs there."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Bullet(_Frozen):
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
        if not re.fullmatch(_ID, value):
            raise ValueError("a bullet id needs at least one character, and neither white space nor square brackets")
        return value

    @field_validator("section")
    @classmethod
    def _tidy_section(cls, value: str) -> str:
        section = _one_line(value)
        if not section:
            raise ValueError("a section needs a name")
        return section

    @field_validator("content")
    @classmethod
    def _check_content(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("a bullet needs some text")
        return value


class Playbook(_Frozen):
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


class Operation(_Frozen):
    """One change that a merge proposes.

    `bullets` are the ids of the bullets it changes (none for ADD), `sources` the ids of the items it comes from.
    `carried` marks an item that goes on as it is because no merge has said anything of it.
    """

    kind: OperationKind
    section: str = ""
    content: str = ""
    bullets: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    carried: bool = False


class Contradiction(_Frozen):
    """Items that cannot all hold, as a merge reports them; `about` says in a few words what they disagree on.

    `sources` are ids of items as in an operation, `bullets` ids of existing bullets that disagree with them.
    """

    sources: tuple[str, ...] = ()
    bullets: tuple[str, ...] = ()
    about: str = ""


class Merged(_Frozen):
    """What a merge says: the changes it proposes, and the contradictions that it has met among its items.

    `by_item`: it went item by item, so that what it writes of an item has to show in the operation that cites it.
    """

    operations: tuple[Operation, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    by_item: bool = False


class AppliedOperation(_Frozen):
    """An operation that took effect: `bullet` now carries the content (None for DELETE), `removed` are gone.

    `index` is the operation's place in the list that was given to `apply`, from 0.
    """

    index: int
    operation: Operation
    bullet: str | None
    removed: tuple[str, ...] = ()


class RejectedOperation(_Frozen):
    """An operation that changed nothing, with a one-sentence `reason`.

    `duplicate_of` is the bullet that already says the same, so that the operation's sources can be counted for it.
    `index` is the operation's place in the list that was given to `apply`, from 0.
    """

    index: int
    operation: Operation
    reason: str
    duplicate_of: str | None = None


class Applied(_Frozen):
    """What `apply` made of a list of operations: each one is in `applied` or in `rejected`, in the given order."""

    playbook: Playbook
    applied: tuple[AppliedOperation, ...] = ()
    rejected: tuple[RejectedOperation, ...] = ()
    next_number: int


def parse(text: str) -> Playbook:
    """Read ACE's text form: `## SECTION` headings, and one `[id] helpful=0 harmful=0 :: content` line per bullet.

    Takes Windows line ends, blank lines, repeated and empty headings, and bullets before any heading (section OTHERS).
    In content, `\\n`, `\\r` and `\\\\` stand for a newline, a carriage return and a backslash; content with any other
    backslash, such as `\\d+`, was not written by `render` and is taken literally as a whole.

    Raises `PlaybookError` for a line that is none of these, and for an id that is used twice.
    """
    section = DEFAULT_SECTION
    bullets: list[Bullet] = []
    line_of: dict[str, int] = {}
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        line = raw.removesuffix("\r")
        if not line.strip():
            continue
        if heading := _HEADING.fullmatch(line):
            section = _one_line(heading["section"]) or DEFAULT_SECTION
            continue
        bullet = _read_bullet(line, number, section)
        if bullet.id in line_of:
            raise PlaybookError(
                f"Line {number}: the id {bullet.id} is already used in line {line_of[bullet.id]}; give one of the two "
                "bullets another id."
            )
        line_of[bullet.id] = number
        bullets.append(bullet)
    return Playbook(bullets=tuple(bullets))


def render(playbook: Playbook) -> str:
    """ACE's text form of a playbook; `parse(render(playbook)) == playbook` holds for every playbook."""
    blocks = []
    for section in playbook.sections:
        lines = [_write_bullet(bullet) for bullet in playbook.bullets if bullet.section == section]
        blocks.append("\n".join([f"## {section}", *lines]) + "\n")
    return "\n".join(blocks)


def section_name(name: str, playbook: Playbook) -> str:
    """A section's name in capitals and with spaces: models write one section in several spellings."""
    tidy = _one_line(name.replace("_", " ")).strip("# ").upper()
    return next((section for section in playbook.sections if section.upper() == tidy), tidy)


def first_free_number(playbook: Playbook) -> int:
    """The smallest number that is larger than every number at the end of a bullet id (`calc-00012` has 12)."""
    numbers = (_NUMBER_AT_END.search(bullet.id) for bullet in playbook.bullets)
    return max((int(number[1]) for number in numbers if number), default=0) + 1


def apply(playbook: Playbook, operations: Iterable[Operation], next_number: int) -> Applied:
    """Apply operations one after the other; each takes effect or is reported, none raises.

    `next_number` is the counter for new bullet ids. It only grows: hand the returned `next_number` to the next call,
    and the id of a deleted bullet is never given to another.
    """
    draft = _Draft(playbook, next_number)
    applied: list[AppliedOperation] = []
    rejected: list[RejectedOperation] = []
    for index, operation in enumerate(operations):
        try:
            bullet, removed = draft.apply(operation)
        except _RejectedError as error:
            rejected.append(
                RejectedOperation(
                    index=index, operation=operation, reason=error.reason, duplicate_of=error.duplicate_of
                )
            )
        else:
            applied.append(AppliedOperation(index=index, operation=operation, bullet=bullet, removed=removed))
    return Applied(
        playbook=Playbook(bullets=tuple(draft.bullets.values())),
        applied=tuple(applied),
        rejected=tuple(rejected),
        next_number=draft.next_number,
    )


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


_Effect = tuple[str | None, tuple[str, ...]]
"""The bullet that carries the operation's content, and the bullets that are gone."""


class _RejectedError(Exception):
    def __init__(self, reason: str, duplicate_of: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.duplicate_of = duplicate_of


class _Draft:
    """The playbook while operations are applied to it."""

    def __init__(self, playbook: Playbook, next_number: int) -> None:
        self.bullets = {bullet.id: bullet for bullet in playbook.bullets}
        self.next_number = max(next_number, first_free_number(playbook))
        self._gone: set[str] = set()

    def apply(self, operation: Operation) -> _Effect:
        """Check first, then change: a `_RejectedError` leaves the draft as it was."""
        match operation.kind:
            case "ADD":
                return self._add(operation)
            case "UPDATE" | "MERGE":
                return self._rewrite(operation)
            case "DELETE":
                return self._delete(operation)

    def _add(self, operation: Operation) -> _Effect:
        self._check_content(operation, targets=())
        section = _one_line(operation.section) or DEFAULT_SECTION
        bullet = Bullet(id=f"{_slug(section)}-{self.next_number:05d}", section=section, content=operation.content)
        self.next_number += 1
        self.bullets[bullet.id] = bullet
        return bullet.id, ()

    def _rewrite(self, operation: Operation) -> _Effect:
        """UPDATE is the rewriting of one bullet, MERGE that of several into the first."""
        targets = self._targets(operation)
        if operation.kind == "UPDATE" and len(targets) != 1:
            raise _RejectedError(f"UPDATE needs exactly one bullet but names {len(targets)}.")
        if operation.kind == "MERGE" and len(targets) < 2:
            raise _RejectedError(f"MERGE needs at least two different bullets but names {len(targets)}.")
        self._check_content(operation, targets)
        old = [self.bullets[target] for target in targets]
        new = old[0].model_copy(
            update={
                "section": _one_line(operation.section) or old[0].section,
                "content": operation.content,
                "helpful": sum(bullet.helpful for bullet in old),
                "harmful": sum(bullet.harmful for bullet in old),
            }
        )
        if old == [new]:
            raise _RejectedError(f"Bullet {new.id} already says exactly this.", duplicate_of=new.id)
        self.bullets[new.id] = new
        self._remove(targets[1:])
        return new.id, targets[1:]

    def _delete(self, operation: Operation) -> _Effect:
        targets = self._targets(operation)
        if not targets:
            raise _RejectedError("DELETE needs at least one bullet but names none.")
        self._remove(targets)
        return None, targets

    def _targets(self, operation: Operation) -> tuple[str, ...]:
        for target in operation.bullets:
            if target in self._gone:
                raise _RejectedError(f"Bullet {target} was removed by an earlier operation.")
            if target not in self.bullets:
                raise _RejectedError(f"There is no bullet {target} in the playbook.")
        return tuple(dict.fromkeys(operation.bullets))

    def _check_content(self, operation: Operation, targets: tuple[str, ...]) -> None:
        if not operation.content.strip():
            raise _RejectedError(f"{operation.kind} needs content but has none.")
        for bullet in self.bullets.values():
            if bullet.content == operation.content and bullet.id not in targets:
                raise _RejectedError(f"Bullet {bullet.id} already says exactly this.", duplicate_of=bullet.id)

    def _remove(self, targets: tuple[str, ...]) -> None:
        for target in targets:
            del self.bullets[target]
        self._gone.update(targets)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _slug(section: str) -> str:
    letters = [character for character in section.split()[0] if character.isascii() and character.isalnum()]
    return "".join(letters[:8]).lower() or "bullet"


def _read_bullet(line: str, number: int, section: str) -> Bullet:
    match = _BULLET.fullmatch(line)
    if not match:
        raise PlaybookError(
            f"Line {number}: expected a heading (## SECTION) or a bullet ([calc-00012] helpful=0 harmful=0 :: text), "
            f"but found: {line.strip()[:60]}"
        )
    content = _unescape(match["content"])
    if not content.strip():
        raise PlaybookError(f"Line {number}: bullet {match['id']} has no text after the ::, write some or remove it.")
    return Bullet(
        id=match["id"],
        section=section,
        content=content,
        helpful=int(match["helpful"]),
        harmful=int(match["harmful"]),
    )


def _write_bullet(bullet: Bullet) -> str:
    return f"[{bullet.id}] helpful={bullet.helpful} harmful={bullet.harmful} :: {_escape(bullet.content)}"


def _escape(content: str) -> str:
    # A regular expression such as \d+ reaches the agent as it is: only what would be misread is escaped.
    if "\n" not in content and "\r" not in content and _unescape(content) == content:
        return content
    return re.sub(r"[\\\n\r]", lambda match: _ESCAPED[match[0]], content)


def _unescape(content: str) -> str:
    if not _ESCAPED_TEXT.fullmatch(content):
        return content
    plain = re.sub(r"\\[\\nr]", lambda match: _PLAIN[match[0]], content)
    return plain if plain.strip() else content
