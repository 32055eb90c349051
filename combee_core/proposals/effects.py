"""What answers to proposals make of a playbook: ordinary operations, so that provenance stays whole."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from combee_core.playbook import Operation, Playbook, apply
from combee_core.proposals.model import BOTH, Answer, Proposal, Side
from combee_core.store.versions import Sources

_Step = tuple[Operation, Sequence[Mapping[str, Any]]]
"""An operation, and where what it adds comes from."""


class State(NamedTuple):
    """A playbook with the sources of its bullets and the number for the next new one."""

    playbook: Playbook
    sources: Sources
    next_number: int


def answered(state: State, proposals: Sequence[Proposal], answers: Mapping[str, Answer]) -> State:
    """The state with the answers put in, in the order of the proposals; one without an answer changes nothing.

    What an answer finds no more, since another one or a decision has removed it, is left alone.
    """
    for proposal in proposals:
        answer = answers.get(proposal.id)
        for step in _steps(proposal, answer, state.playbook) if answer else ():
            state = _stepped(state, *step)
    return state


def _steps(proposal: Proposal, answer: Answer, playbook: Playbook) -> Iterator[_Step]:
    if answer.choice == "reject":
        return
    first = proposal.sides[0]
    match proposal.kind:
        case "held_back" | "not_taken_up":
            yield _add(first, answer.content)
        case "alike":
            there = [side.bullet for side in proposal.sides if side.bullet and playbook.get(side.bullet)]
            if len(there) > 1:
                yield Operation(kind="MERGE", bullets=tuple(there), content=answer.content or first.text), ()
        case "too_long":
            yield from _delete([first.bullet], playbook)
        case "contradiction":
            yield from _kept(proposal, answer.choice, playbook)


def _kept(proposal: Proposal, choice: str, playbook: Playbook) -> Iterator[_Step]:
    """The sides that are kept become bullets where they are none, and the bullets of the others go."""
    keep = list(proposal.sides) if choice == BOTH else [proposal.sides[int(choice) - 1]]
    stay = {side.bullet for side in keep}
    yield from _delete([side.bullet for side in proposal.sides if side.bullet not in stay], playbook)
    shared = len({side.bullet for side in proposal.sides}) == 1
    for side in keep:
        if side.bullet is None:
            yield _add(side, None)
        elif shared and choice != BOTH and playbook.get(side.bullet):
            yield Operation(kind="UPDATE", bullets=(side.bullet,), content=side.text), ()


def _add(side: Side, content: str | None) -> _Step:
    return Operation(kind="ADD", section=side.section, content=content or side.text), side.sources


def _delete(bullets: Iterable[str | None], playbook: Playbook) -> Iterator[_Step]:
    there = tuple(dict.fromkeys(name for name in bullets if name and playbook.get(name)))
    if there:
        yield Operation(kind="DELETE", bullets=there), ()


def _stepped(state: State, operation: Operation, sources: Sequence[Mapping[str, Any]]) -> State:
    """Apply one operation; what is added in words that a bullet has already counts for that bullet."""
    done = apply(state.playbook, [operation], state.next_number)
    kept = {name: list(entries) for name, entries in state.sources.items()}
    removed = [name for each in done.applied for name in each.removed]
    inherited = [entry for name in removed for entry in kept.pop(name, [])]
    for name in (*(each.bullet for each in done.applied), *(each.duplicate_of for each in done.rejected)):
        if name is not None:
            entries = [*kept.get(name, []), *inherited, *map(dict, sources)]
            kept[name] = [entry for number, entry in enumerate(entries) if entry not in entries[:number]]
    return State(done.playbook, kept, done.next_number)
