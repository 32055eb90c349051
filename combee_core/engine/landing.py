"""How the operations of a final merge land on the playbook: applied, refused, or held back for the review."""

from collections.abc import Mapping, Sequence
from typing import Any

from combee_core.playbook import Applied, Operation, Playbook, apply

Row = dict[str, Any]


def hold_back(rows: Sequence[Row], playbook: Playbook, traces: Mapping[str, frozenset[str]], least: int | None) -> None:
    """Mark additions that fewer than `least` distinct traces stand behind, with their support, as `held`.

    `traces` gives the traces behind each item. What the playbook says already is no addition.
    """
    said = {bullet.content for bullet in playbook.bullets}
    for row in rows:
        support = len(frozenset().union(*(traces[source] for source in row["sources"])))
        if least is not None and row["kind"] == "ADD" and support < least and row["content"] not in said:
            row["held"] = support


def land(rows: Sequence[Row], playbook: Playbook, next_number: int) -> Applied:
    """Apply what is not held back, and write into each row which bullet it landed on or why it was refused."""
    going = [row for row in rows if "held" not in row]
    applied = apply(playbook, map(_operation, going), next_number)
    for done in applied.applied:
        going[done.index] |= {"bullet": done.bullet, "removed": done.removed}
    for refused in applied.rejected:
        going[refused.index] |= {"rejected": refused.reason, "bullet": refused.duplicate_of}
    return applied


def landed(rows: Sequence[Mapping[str, Any]], playbook: Playbook, next_number: int) -> Applied:
    """What rows that have landed before have made of the playbook."""
    return land([dict(row) for row in rows], playbook, next_number)


def _operation(row: Mapping[str, Any]) -> Operation:
    return Operation(
        kind=row["kind"],
        section=row["section"],
        content=row["content"],
        bullets=tuple(row["bullets"]),
        sources=tuple(row["sources"]),
    )
