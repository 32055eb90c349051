"""Which items of a merge its operations say nothing of, whatever they cite: a weak model cites what it has left out."""

from collections.abc import Sequence

from combee_core.lesson import Item
from combee_core.playbook import Merged, Operation
from combee_core.specificity import terms


def unsaid(items: Sequence[Item], merged: Merged) -> list[Item]:
    """The items that no operation cites, or only such as hold not one of the numbers and identifiers that they name.

    An item that names none is taken at its citation, and so is one that proves a bullet wrong (DELETE).
    """
    citing: dict[str, list[Operation]] = {}
    for operation in merged.operations:
        for source in operation.sources:
            citing.setdefault(source, []).append(operation)
    return [item for item in items if not any(_says(operation, item) for operation in citing.get(item.id, ()))]


def _says(operation: Operation, item: Item) -> bool:
    named = _named(item.text)
    return operation.kind == "DELETE" or not named or bool(named & _named(operation.content))


def _named(text: str) -> frozenset[str]:
    found = terms(text)
    return found.numbers | found.identifiers
