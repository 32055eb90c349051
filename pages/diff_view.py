"""What changed between two playbooks, as rows in reading order and as HTML; every text in it is escaped.

Pure functions: asks no workspace, draws no widget and knows nothing of decisions.
"""

import html
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import Literal

from combee_core.diff import compare, word_diff
from combee_core.playbook import Bullet, Playbook

Kind = Literal["added", "changed", "moved", "removed", "unchanged"]

_BADGES: dict[Kind, str] = {
    "added": "+ Added",
    "changed": "± Reworded",
    "moved": "↷ Moved",
    "removed": "− Removed",
    "unchanged": "Unchanged",
}
# Control, format and tag characters can hide text from a reader or turn its order round. Joiners belong to scripts.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)


@dataclass(frozen=True)
class Row:
    """One bullet in its old and its new state; `before` is None for an added one, `after` for a removed one."""

    kind: Kind
    before: Bullet | None
    after: Bullet | None

    @property
    def bullet(self) -> Bullet:
        """The newest state there is."""
        bullet = self.after or self.before
        assert bullet is not None, "a row has at least one state"
        return bullet

    @property
    def id(self) -> str:
        """The id by which the change is decided."""
        return self.bullet.id


def diff_rows(before: Playbook, after: Playbook) -> list[Row]:
    """All bullets by section: sections and bullets in the order of the new playbook, then what was removed."""
    diff = compare(before, after)
    states = {change.id: change.before for change in diff.changed} | {bullet.id: bullet for bullet in diff.unchanged}
    by_section: dict[str, list[Row]] = defaultdict(list)
    for bullet in after.bullets:
        by_section[bullet.section].append(_row(states.get(bullet.id), bullet))
    for bullet in diff.removed:
        by_section[bullet.section].append(Row("removed", bullet, None))
    return [row for rows in by_section.values() for row in rows]


def row_html(row: Row, aside: str = "") -> str:
    """One bullet with its changes marked; `aside` is HTML that stands beneath."""
    before, after = (state.content if state else "" for state in (row.before, row.after))
    moved = f"<span>from {visible(row.before.section)}</span>" if _has_moved(row) and row.before else ""
    return (
        f'<div class="cb-row"><div class="cb-head"><span class="cb-badge cb-{row.kind}">{_BADGES[row.kind]}</span>'
        f"<code>{html.escape(row.id)}</code>{moved}{_counts(row.bullet)}</div>"
        f'<div class="cb-text" dir="auto">{diff_html(before, after)}</div>{aside}</div>'
    )


def diff_html(before: str, after: str) -> str:
    """Two texts in one: what came as `ins`, what went as `del`."""
    parts = []
    for span in word_diff(before, after):
        tag = {"insert": "ins", "delete": "del", "equal": ""}[span.kind]
        parts.append(f"<{tag}>{visible(span.text, line_ends=True)}</{tag}>" if tag else visible(span.text))
    return "".join(parts)


def visible(text: str, line_ends: bool = False) -> str:
    """Text as HTML: escaped, with hidden characters shown by their code, and line ends marked where asked for."""
    shown = _HIDDEN.sub(lambda match: f'<span class="cb-hidden">U+{ord(match[0]):04X}</span>', html.escape(text))
    return shown.replace("\n", '<span class="cb-line-end">↵</span>\n') if line_ends else shown


def _row(before: Bullet | None, after: Bullet) -> Row:
    if before is None:
        return Row("added", None, after)
    if before.content != after.content:
        return Row("changed", before, after)
    return Row("moved" if before.section != after.section else "unchanged", before, after)


def _has_moved(row: Row) -> bool:
    return row.before is not None and row.after is not None and row.before.section != row.after.section


def _counts(bullet: Bullet) -> str:
    counts = ((bullet.helpful, "helpful"), (bullet.harmful, "harmful"))
    return "".join(f"<span>{word} {count:,}</span>" for count, word in counts if count)
