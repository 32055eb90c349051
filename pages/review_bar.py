"""The bar at the bottom of a review: how much is decided, by whom, and the approval."""

from collections.abc import Mapping

import streamlit as st

from pages.numbers import counted
from pages.review_desk import BAR, Desk


@st.fragment(key=BAR)
def show_bar(desk: Desk, page_of: Mapping[str, int]) -> None:
    """Draw the bar; `page_of` gives for each change the page that it is on."""
    left = (page_of.keys() - desk.decisions.keys()) | desk.open_edits
    rejected = sum(desk.decisions[name].choice == "reject" for name in page_of.keys() & desk.decisions.keys())
    said = f"<strong>{len(page_of) - len(left):,} of {len(page_of):,} decided</strong><br>{rejected:,} rejected"
    if offers := desk.open_offers:
        said += f" · {counted(offers, 'open proposal')}"
    pages = sorted({page_of[name] for name in left})
    if max(page_of.values(), default=1) > 1 and pages:
        said += f" · left on {'page' if len(pages) == 1 else 'pages'} {', '.join(map(str, pages[:3]))}"
        said += "…" if len(pages) > 3 else ""
    with st.bottom:
        if problem := desk.problem():
            st.error(problem)
        with st.container(key="prompts_bar", horizontal=True, vertical_alignment="bottom"):
            st.html(said, width="content")
            if st.button("Accept all remaining", disabled=not left):
                desk.accept_rest()
                st.rerun()
            st.text_input("Your name", key="prompts_reviewer", on_change=desk.remember_reviewer, width=180)
            note = st.text_input("Note", key="prompts_note", placeholder="Why, in a few words (optional)")
            if st.button("Approve", type="primary", disabled=bool(left)):
                desk.approve(note)
                st.rerun()
