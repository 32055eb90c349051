"""The changes of a version on the page: read, or decided one by one with a bar at the bottom that approves.

A click on a change redraws that change and the bar alone, whatever the size of the playbook.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import streamlit as st

from combee_core.store.versions import Version
from combee_core.workspace import Workspace
from pages.diff_view import Row, row_html, visible
from pages.evidence_view import evidence_html, removal_html
from pages.review_bar import show_bar
from pages.review_choice import show_choice
from pages.review_desk import Desk, row_fragment

PAGE_SIZE = 25
_CHOICES = {"accept": ":material/check: Accept", "reject": ":material/close: Reject", "edit": ":material/edit: Edit"}
_WORDS = {"added": "added", "changed": "reworded", "moved": "moved", "removed": "removed"}


@dataclass(frozen=True)
class Reading:
    """What is compared: `version` against `base` (None: the empty playbook), bullet by bullet."""

    workspace: Workspace
    version: Version
    base: Version | None
    rows: Sequence[Row]

    @property
    def changes(self) -> list[Row]:
        """The rows that differ."""
        return [row for row in self.rows if row.kind != "unchanged"]


def show_changes(reading: Reading, deciding: bool) -> None:
    """Draw the changes, 25 to a page; with `deciding`, each can be decided and the bar at the bottom approves."""
    desk = Desk(reading.workspace, reading.version) if deciding else None
    rows = _rows_to_show(reading)
    pages = max(1, -(-len(rows) // PAGE_SIZE))
    key = f"prompts_page:{reading.version.name}:{reading.base and reading.base.name}:{pages}"
    page = st.session_state.get(key, 1)
    _show_rows(reading, rows[(page - 1) * PAGE_SIZE : page * PAGE_SIZE], desk)
    if pages > 1:
        st.pagination(pages, key=key, on_change=_turn_page)
        _go_to_first_row(page)
    if desk:
        page_of = {row.id: 1 + index // PAGE_SIZE for index, row in enumerate(rows) if row.kind != "unchanged"}
        show_bar(desk, page_of)


def _turn_page() -> None:
    st.session_state["prompts_turned"] = True


def _go_to_first_row(page: int) -> None:
    """After a page was turned at the end of the list, start at its beginning; the script is ours alone."""
    if st.session_state.pop("prompts_turned", False):
        script = f'document.querySelector(".st-key-prompts_counts").scrollIntoView(); /* page {page} */'
        st.html(f"<script>{script}</script>", unsafe_allow_javascript=True)


def _rows_to_show(reading: Reading) -> Sequence[Row]:
    changes = reading.changes
    counts = [(sum(row.kind == kind for row in changes), word) for kind, word in _WORDS.items()]
    said = " · ".join(f"{count:,} {word}" for count, word in counts if count) or "No bullet differs."
    unchanged = len(reading.rows) - len(changes)
    with st.container(
        key="prompts_counts", horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    ):
        st.html(f'<div class="cb-line">{said}</div>', width="content")
        everything = unchanged and st.toggle(f"Show {unchanged:,} unchanged", key="prompts_unchanged")
    return reading.rows if everything else changes


def _show_rows(reading: Reading, rows: Sequence[Row], desk: Desk | None) -> None:
    """`desk` None: the rows are only read."""
    asides = _asides(reading, rows)
    for section, group in groupby(rows, key=lambda row: row.bullet.section):
        st.html(f'<div class="cb-section">{visible(section)}</div>')
        for row in group:
            with st.container(border=True):
                if desk and row.kind != "unchanged":
                    shown = row_html(row, asides[row.id])
                    st.fragment(show_choice, key=row_fragment(row.id))(
                        desk, row.id, shown, _CHOICES, row.bullet.content
                    )
                else:
                    st.html(row_html(row, asides[row.id]))


def _asides(reading: Reading, rows: Sequence[Row]) -> dict[str, str]:
    """What stands beneath each row: its evidence, or what became of a removed bullet."""
    review, version = reading.workspace.review, reading.version
    evidence = review.evidence(version, [row.id for row in rows if row.after])
    removed = [row.id for row in rows if row.kind == "removed"]
    removals = review.removals(version, removed) if removed else {}
    earlier = reading.base.sources if reading.base else {}
    asides = {name: removal_html(removals.get(name)) for name in removed}
    for row in rows:
        if row.after:
            known = earlier.get(row.before.id, ()) if row.before else ()
            asides[row.id] = evidence_html(evidence[row.id], {entry["trace"] for entry in known})
    return asides
