"""Numbers of a run side by side, each with its name above and its explanation where the pointer rests.

Pure: HTML in which every value is escaped; merges.css gives it its look.
"""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple


class Fact(NamedTuple):
    """One number as it is shown; `why` explains it in a sentence."""

    name: str
    value: str
    why: str = ""


def facts_html(facts: Sequence[Fact]) -> str:
    """The numbers in one row that wraps where there is no room."""
    cells = "".join(
        f'<div title="{escape(fact.why)}"><div class="cb-fact-name">{escape(fact.name)}</div>'
        f'<div class="cb-fact">{escape(fact.value)}</div></div>'
        for fact in facts
    )
    return f'<div class="cb-fact-row">{cells}</div>'
