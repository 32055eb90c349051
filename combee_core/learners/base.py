"""The seam between the merge tree and whatever reflects and merges: a language model or the offline rules engine."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from combee_core.lesson import Item, Reflection
from combee_core.llm.base import Meter
from combee_core.playbook import Merged, Playbook
from combee_core.trace import Trace


class Learner(Protocol):
    """Reflects on traces and merges lessons; holds no state between calls, so that calls may run at once.

    Both methods count what they spend in `meter` as it happens and raise `CallFailed` when no usable answer came.
    Same arguments and same model replies give the same result.
    """

    name: str

    async def reflect(self, trace: Trace, playbook: Playbook, meter: Meter) -> Reflection:
        """Look back at one run, made with `playbook` in the prompt; return its lessons and tags for bullets used."""
        ...

    async def merge(self, items: Sequence[Item], playbook: Playbook, meter: Meter, final: bool) -> Merged:
        """Fold `items` into operations whose `sources` are ids of these items; `final` ones edit the playbook.

        Items that cannot all hold are reported beside them.
        """
        ...


@runtime_checkable
class Embedder(Protocol):
    """A learner that can tell how near texts are in meaning; the offline rules engine cannot."""

    async def embed(self, texts: Sequence[str], meter: Meter) -> list[list[float]]:
        """One vector a text, all of one length. Counts and fails as a merge does."""
        ...


@runtime_checkable
class Summariser(Protocol):
    """A learner that can also write several items up as one text; the offline rules engine cannot."""

    async def summarise(self, items: Sequence[Item], meter: Meter) -> str:
        """One text, on one line, in place of all items. Counts and fails as a merge does."""
        ...
