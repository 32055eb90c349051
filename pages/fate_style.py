"""How the fate of a lesson looks and what it is called, everywhere the same: colour, shape and words.

Shape and fill tell the fates apart without colour, in print and for colour-blind readers.
"""

from dataclasses import dataclass

from combee_core.engine.fates import Fate


@dataclass(frozen=True)
class Look:
    """`symbol` is Plotly's marker name, `fill` and `line` are colours, `width` is that of the line in pixels."""

    words: str
    symbol: str
    fill: str
    line: str
    width: float


CLEAR = "rgba(0,0,0,0)"

LOOKS: dict[Fate, Look] = {
    "in_prompt": Look("in the prompt", "square", "#2F6FDB", "#2F6FDB", 0),
    "held": Look("held back for the review", "square", "rgba(47,111,219,.22)", "#2F6FDB", 2),
    "late": Look("came late, joined the next batch", "circle", CLEAR, "#2F6FDB", 1.6),
    "lost_above": Look("kept by its group, lost above", "square", "rgba(199,125,10,.38)", "#C77D0A", 2),
    "dropped": Look("dropped", "square", CLEAR, "#8C877D", 1.2),
    "failed": Look("failed", "x-thin", "#C23B2B", "#C23B2B", 2),
    "waiting": Look("waiting", "circle", "rgba(140,135,125,.6)", "#8C877D", 0.8),
}
NO_LESSON = Look("no lesson", "line-ew", "#8C877D", "#8C877D", 1.5)
"""Of a reflection that worked and found nothing to say."""

TO_COME = Look("not reflected on yet", "circle", CLEAR, "#8C877D", 0.8)
"""Of a copy whose reflection is still to come."""

NOT_FOUND = Look("not what you search for", "square", "rgba(140,135,125,.25)", CLEAR, 0)
"""Of a copy without a lesson that is searched for."""


def swatch(look: Look, size: int = 11) -> str:
    """The mark as HTML, for legends and lists. It is drawn by styles alone, as Streamlit's HTML holds no SVG."""
    line = f"{look.width:g}px solid {look.line}"
    cross = f"transparent 41%,{look.line} 41% 59%,transparent 59%"
    style = {
        "square": f"background:{look.fill};border:{line}",
        "circle": f"background:{look.fill};border:{line};border-radius:50%",
        "x-thin": f"background:linear-gradient(45deg,{cross}),linear-gradient(-45deg,{cross})",
        "line-ew": f"height:2px;margin-bottom:3px;background:{look.line}",
    }[look.symbol]
    box = f"display:inline-block;flex:none;box-sizing:border-box;width:{size}px;height:{size}px"
    return f'<span title="{look.words}" style="{box};{style}"></span>'
