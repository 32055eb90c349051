"""What a reviewer does to one version: decide, edit, accept the rest, approve. The page draws it, the review stores it.

The session keeps what is not stored: edits that are open, and the last problem, to be shown once.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import streamlit as st

from combee_core.errors import CombeeError
from combee_core.proposals import Answer
from combee_core.review import Decision
from combee_core.store.versions import Version
from combee_core.workspace import Workspace
from pages import address

BAR = "prompts_bar_fragment"
OFFERS_HEAD = "prompts_offers_head"


def row_fragment(bullet: str) -> str:
    """Key of the fragment that draws the row of a change."""
    return f"prompts_row:{bullet}"


class Desk:
    """One version under review in this session. Callbacks redraw the row they are about and the bar, nothing else."""

    _EDITS = "prompts_editing"

    def __init__(self, workspace: Workspace, version: Version) -> None:
        self._workspace, self.version = workspace, version
        self.read_decisions()
        st.session_state.setdefault("prompts_reviewer", workspace.preference("reviewer") or "")

    def read_decisions(self) -> None:
        """Take the decisions in force from the database, also those that others have made."""
        self.decisions: Mapping[str, Decision | Answer] = self._workspace.review.decisions(self.version)

    @property
    def open_edits(self) -> set[str]:
        """Ids of the bullets whose edit is open and not saved."""
        edits: set[str] = st.session_state.setdefault(f"{self._EDITS}:{self.version.name}", set())
        return edits

    @property
    def reviewer(self) -> str:
        """The name in the bar, remembered from one time to the next."""
        # The session forgets the field where the bar is not drawn.
        name: str | None = st.session_state.get("prompts_reviewer")
        return (self._workspace.preference("reviewer") or "" if name is None else name).strip()

    @property
    def open_offers(self) -> int:
        """Proposals beside the changes that have no answer; none of them has to be answered."""
        review = self._workspace.review
        answers = review.answers(self.version)
        return sum(offer.id not in answers for offer in review.proposals(self.version))

    def remember_reviewer(self) -> None:
        """Keep the name for later reviews."""
        self._workspace.set_preference("reviewer", self.reviewer)

    def problem(self) -> str | None:
        """What went wrong in the last click, once."""
        found: str | None = st.session_state.pop("prompts_problem", None)
        return found

    def choose(self, bullet: str, key: str) -> None:
        """Take the choice of the control `key`: accept and reject are stored at once, edit opens the editor."""
        choice = st.session_state[key]
        if choice == "edit":
            self.reopen(bullet)
        with self._problems_shown():
            self._store(bullet, choice)
        self.close_edit(bullet)

    def reopen(self, bullet: str) -> None:
        """Open the editor of a bullet."""
        self.open_edits.add(bullet)
        self._redraw(bullet)

    def close_edit(self, bullet: str) -> None:
        """Close the editor without storing what it holds."""
        self.open_edits.discard(bullet)
        self._redraw(bullet)

    def save_edit(self, bullet: str, key: str) -> None:
        """Store the text of the editor `key` as the decision."""
        with self._problems_shown():
            self._store(bullet, "edit", st.session_state[key])
            self.open_edits.discard(bullet)
        self._redraw(bullet)

    def accept_rest(self) -> None:
        """Accept whatever has no decision."""
        with self._problems_shown():
            self._workspace.review.accept_rest(self.version, self.reviewer)

    def approve(self, note: str) -> None:
        """Approve what was decided and open it."""
        with self._problems_shown():
            approved = self._workspace.approve(self.version.name, self.reviewer, note)
            said = f"{approved.name} is approved by {approved.approved_by}."
            if approved.version != self.version.version:
                said += f" It is a new version: {self.version.name} with your decisions put in."
            st.session_state["prompts_said"] = said
            address.move(version=approved.name, against=None)

    def _store(self, name: str, choice: Any, content: str | None = None) -> None:
        self._workspace.review.decide(self.version, name, choice, self.reviewer, content)

    def _redraw(self, name: str) -> None:
        self.read_decisions()
        st.rerun([row_fragment(name), BAR])

    @contextmanager
    def _problems_shown(self) -> Iterator[None]:
        try:
            yield
        except CombeeError as problem:
            st.session_state["prompts_problem"] = str(problem)


class OfferDesk(Desk):
    """The proposals of a version in this session: they are answered, and stored, like changes, beside the bar."""

    _EDITS = "prompts_editing_offer"

    def read_decisions(self) -> None:
        """Take the answers in force from the database."""
        self.decisions = self._workspace.review.answers(self.version)

    def _store(self, name: str, choice: Any, content: str | None = None) -> None:
        self._workspace.review.answer(self.version, name, choice, self.reviewer, content)

    def _redraw(self, name: str) -> None:
        self.read_decisions()
        st.rerun([row_fragment(name), OFFERS_HEAD])
