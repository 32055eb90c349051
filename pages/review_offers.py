"""What a review offers beyond the changes: contradictions, lessons that were not taken up, upkeep; 10 to a page.

Nothing has to be answered: what stays open stays as it is.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import streamlit as st

from combee_core.proposals import Kind, Proposal
from combee_core.store.versions import Version
from combee_core.workspace import Workspace
from pages.offer_html import offer_html
from pages.review_choice import show_choice
from pages.review_desk import OFFERS_HEAD, OfferDesk, row_fragment

PAGE_SIZE = 10
SEARCH_FROM = 12
"""Offers from which a search field is worth its place."""

WORDS: Mapping[Kind, tuple[str, str]] = {
    "contradiction": ("contradiction", "contradictions"),
    "held_back": ("held back", "held back"),
    "not_taken_up": ("not taken up", "not taken up"),
    "alike": ("near-duplicate", "near-duplicates"),
    "too_long": ("beyond the size", "beyond the size"),
}
_EDIT, _NO = ":material/edit: Edit", ":material/close: No"
_CHOICES: Mapping[Kind, Mapping[str, str]] = {
    "held_back": {"accept": ":material/add: Add", "reject": _NO, "edit": _EDIT},
    "not_taken_up": {"accept": ":material/add: Add", "reject": _NO, "edit": _EDIT},
    "alike": {"accept": ":material/merge: Merge", "reject": _NO, "edit": _EDIT},
    "too_long": {"accept": ":material/delete: Remove", "reject": _NO},
}


def _word(kind: Kind, count: int) -> str:
    return WORDS[kind][count != 1]


def show_offers(workspace: Workspace, version: Version, offers: Sequence[Proposal]) -> None:
    """Draw the offers with their evidence; a click on one redraws that one and the count alone."""
    desk = OfferDesk(workspace, version)
    st.fragment(_show_head, key=OFFERS_HEAD)(desk, offers)
    wanted = _wanted(version, offers)
    pages = max(1, -(-len(wanted) // PAGE_SIZE))
    key = f"prompts_offers_page:{version.name}:{len(wanted)}"
    page = st.session_state.get(key, 1)
    here = wanted[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
    behind = workspace.review.behind(here)
    for offer in here:
        with st.container(border=True):
            shown = offer_html(offer, behind[offer.id])
            st.fragment(show_choice, key=row_fragment(offer.id))(
                desk, offer.id, shown, _choices(offer), offer.sides[0].text
            )
    if not wanted:
        st.caption("None of them matches: search for fewer words.")
    if pages > 1:
        st.pagination(pages, key=key)


def _show_head(desk: OfferDesk, offers: Sequence[Proposal]) -> None:
    """How many are answered, and what becomes of the others."""
    answered = sum(offer.id in desk.decisions for offer in offers)
    said = f"{answered:,} of {len(offers):,} answered. What you leave open stays as it is."
    st.html(f'<div class="cb-line">{said}</div>')
    if problem := desk.problem():
        st.error(problem)


def _wanted(version: Version, offers: Sequence[Proposal]) -> Sequence[Proposal]:
    """The offers of the chosen kind that hold every word of the search."""
    counts = Counter(offer.kind for offer in offers)
    chosen, words = None, []
    with st.container(horizontal=True, vertical_alignment="center"):
        if len(counts) > 1:
            kinds = [kind for kind in WORDS if counts[kind]]
            chosen = st.segmented_control(
                "Kind",
                kinds,
                format_func=lambda kind: f"{_word(kind, counts[kind])} ({counts[kind]:,})".capitalize(),
                key=f"prompts_offers_kind:{version.name}",
                label_visibility="collapsed",
            )
        if len(offers) >= SEARCH_FROM:
            text = st.text_input(
                "Search offers",
                key="prompts_offers_search",
                type="search",
                live=True,
                placeholder="Search their text",
                label_visibility="collapsed",
                width=260,
            )
            words = (text or "").casefold().split()
    return [offer for offer in offers if chosen in (None, offer.kind) and _holds(offer, words)]


def _holds(offer: Proposal, words: Sequence[str]) -> bool:
    text = " ".join(side.text for side in offer.sides).casefold()
    return all(word in text for word in words)


def _choices(offer: Proposal) -> Mapping[str, str]:
    if offer.kind != "contradiction":
        return _CHOICES[offer.kind]
    letters = {str(number): f"Keep {letter}" for number, letter in enumerate("ABCDEFGH"[: len(offer.sides)], 1)}
    return letters | {"both": "Keep both" if len(offer.sides) == 2 else "Keep all"}
