"""The operations that change a playbook, and what becomes of each."""

import re
from collections.abc import Iterable
from typing import Literal

from combee_core.playbook.bullets import DEFAULT_SECTION, Bullet, Frozen, Playbook, one_line

OperationKind = Literal["ADD", "UPDATE", "MERGE", "DELETE"]

_NUMBER_AT_END = re.compile(r"-([0-9]{1,9})\Z")


class Operation(Frozen):
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


class Contradiction(Frozen):
    """Items that cannot all hold, as a merge reports them; `about` says in a few words what they disagree on.

    `sources` are ids of items as in an operation, `bullets` ids of existing bullets that disagree with them.
    """

    sources: tuple[str, ...] = ()
    bullets: tuple[str, ...] = ()
    about: str = ""


class Merged(Frozen):
    """What a merge says: the changes it proposes, and the contradictions that it has met among its items.

    `by_item`: it went item by item, so that what it writes of an item has to show in the operation that cites it.
    """

    operations: tuple[Operation, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    by_item: bool = False


class AppliedOperation(Frozen):
    """An operation that took effect: `bullet` now carries the content (None for DELETE), `removed` are gone.

    `index` is the operation's place in the list that was given to `apply`, from 0.
    """

    index: int
    operation: Operation
    bullet: str | None
    removed: tuple[str, ...] = ()


class RejectedOperation(Frozen):
    """An operation that changed nothing, with a one-sentence `reason`.

    `duplicate_of` is the bullet that already says the same, so that the operation's sources can be counted for it.
    `index` is the operation's place in the list that was given to `apply`, from 0.
    """

    index: int
    operation: Operation
    reason: str
    duplicate_of: str | None = None


class Applied(Frozen):
    """What `apply` made of a list of operations: each one is in `applied` or in `rejected`, in the given order."""

    playbook: Playbook
    applied: tuple[AppliedOperation, ...] = ()
    rejected: tuple[RejectedOperation, ...] = ()
    next_number: int


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
        section = one_line(operation.section) or DEFAULT_SECTION
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
                "section": one_line(operation.section) or old[0].section,
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


def _slug(section: str) -> str:
    letters = [character for character in section.split()[0] if character.isascii() and character.isalnum()]
    return "".join(letters[:8]).lower() or "bullet"
