"""Which items of a merge its operations say nothing of, whatever they cite: a weak model cites what it has left out."""

from collections.abc import Sequence

from combee_core.lesson import Item
from combee_core.playbook import Merged
from combee_core.specificity import exact_terms


def unsaid(items: Sequence[Item], merged: Merged) -> list[Item]:
    """The items that no operation cites, or only such as hold not one of the numbers and identifiers that they name.

    An item that names none is taken at its citation, and so is one that proves a bullet wrong (DELETE), or any item
    where the model did not go item by item and gave its sources outright.
    """
    said: dict[str, set[str]] = {}
    proven: set[str] = set()
    for operation in merged.operations:
        names = exact_terms(operation.content)
        for source in operation.sources:
            said.setdefault(source, set()).update(names)
        if operation.kind == "DELETE" or not merged.by_item:
            proven.update(operation.sources)
    return [item for item in items if item.id not in proven and not _says(said.get(item.id), item)]


def mended(first: Merged, again: Merged, rest: Sequence[Item]) -> Merged:
    """Both answers of a merge that was asked again for the `rest` of its items.

    What the first answer wrote about items of the rest alone said nothing of them: it goes where the second one has
    them all, so that a bullet without a lesson does not stay beside the lesson.
    """
    left = {item.id for item in rest}
    had = {source for operation in again.operations for source in operation.sources} & left
    stays = [
        operation for operation in first.operations if not operation.sources or not had.issuperset(operation.sources)
    ]
    return Merged(
        operations=(*stays, *again.operations),
        contradictions=first.contradictions + again.contradictions,
        by_item=first.by_item,
    )


def _says(said: set[str] | None, item: Item) -> bool:
    if said is None:
        return False
    named = exact_terms(item.text)
    return not named or not named.isdisjoint(said)
