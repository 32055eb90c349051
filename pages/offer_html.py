"""A proposal as HTML, with every text in it escaped: what it is, each side, and the evidence behind it."""

from collections.abc import Sequence
from html import escape

from combee_core.evidence import Evidence
from combee_core.proposals import Proposal, Side
from pages.diff_view import diff_html, visible
from pages.evidence_view import evidence_html
from pages.numbers import counted

_BADGES = {
    "contradiction": ("changed", "⇄ Contradiction"),
    "not_taken_up": ("added", "+ Not taken up"),
    "held_back": ("added", "+ Held back"),
    "alike": ("changed", "≈ Near-duplicate"),
    "too_long": ("removed", "− Beyond the size"),
}


def offer_html(offer: Proposal, behind: Sequence[Sequence[Evidence]]) -> str:
    """`behind` is the evidence of each side."""
    look, badge = _BADGES[offer.kind]
    head = f'<span class="cb-badge cb-{look}">{badge}</span>{_said(offer)}'
    return f'<div class="cb-row"><div class="cb-head">{head}</div>{_sides(offer, behind)}</div>'


def _said(offer: Proposal) -> str:
    """What the reviewer has to know beyond the badge."""
    first = offer.sides[0]
    said = {
        "contradiction": visible(offer.about),
        "held_back": f"seen in {'one trace' if first.support == 1 else counted(first.support, 'trace')}",
        "not_taken_up": f"for {visible(first.section)}" if first.section else "",
        "alike": "would become one bullet",
        "too_long": f"<code>{escape(first.bullet or '')}</code><span>among the least supported</span>",
    }[offer.kind]
    return f"<span>{said}</span>" if said else ""


def _sides(offer: Proposal, behind: Sequence[Sequence[Evidence]]) -> str:
    if len(offer.sides) == 1:
        return _text(visible(offer.sides[0].text)) + evidence_html(behind[0])
    first = offer.sides[0]
    shown = []
    for number, (side, evidence) in enumerate(zip(offer.sides, behind, strict=True)):
        same = offer.kind == "alike" and number > 0
        text = diff_html(first.text, side.text) if same else visible(side.text)
        shown.append(f"<div>{_place(offer, number, side)}{_text(text)}{evidence_html(evidence)}</div>")
    return f'<div class="cb-sides">{"".join(shown)}</div>'


def _place(offer: Proposal, number: int, side: Side) -> str:
    name = f"<strong>{'ABCDEFGH'[number % 8]}</strong>" if offer.kind == "contradiction" else ""
    place = f"<code>{escape(side.bullet)}</code>" if side.bullet else "<span>not in the prompt</span>"
    kept = "<span>its text stays</span>" if offer.kind == "alike" and number == 0 else ""
    return f'<div class="cb-head">{name}{place}{kept}</div>'


def _text(html: str) -> str:
    return f'<div class="cb-text" dir="auto">{html}</div>'
