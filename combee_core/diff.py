"""What changed between two playbooks, and word by word between two texts.

Pure functions for the review and the version pages; this module does not know how a change is drawn or decided.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal

from pydantic import BaseModel, ConfigDict
from rapidfuzz import fuzz, process
from rapidfuzz.distance import LCSseq

from combee_core.playbook import Bullet, Playbook

SAME_BULLET = 0.75
"""Similarity (0 to 1) from which a removed and an added bullet are taken for one bullet that was rewritten."""

# Characters of one side times those of the other: about a second of work.
_MOST_COMPARISONS = 40_000_000_000
# Tokens of one side times those of the other: difflib up to the first, LCS up to the second (50 MB while it runs).
_FINE = 250_000
_COARSE = 400_000_000
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_AFTER_LINE_OR_SENTENCE = re.compile(r"(?<=\n)|(?<=[.!?] )")

_Hunk = tuple[str, str]
"""Text before and text after; a hunk whose two texts are the same is unchanged."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Change(_Frozen):
    """One bullet in its old and new state; the two ids differ when it was matched by similarity."""

    before: Bullet
    after: Bullet

    @property
    def id(self) -> str:
        """The id that the bullet has now."""
        return self.after.id


class PlaybookDiff(_Frozen):
    """Every bullet of `after` is in `added`, `changed` or `unchanged`, in the order of the new playbook.

    `removed` keeps the order of the old one. `unchanged` holds the new state, whose counts may differ.
    """

    added: tuple[Bullet, ...] = ()
    removed: tuple[Bullet, ...] = ()
    changed: tuple[Change, ...] = ()
    unchanged: tuple[Bullet, ...] = ()


class Span(_Frozen):
    """A stretch of text: in both texts, only in the new one, or only in the old one."""

    kind: Literal["equal", "insert", "delete"]
    text: str


def compare(before: Playbook, after: Playbook) -> PlaybookDiff:
    """Match bullets by id, and those left over on both sides by the similarity of their content.

    A bullet has changed when its content or its section has; its counts and a new id alone are no change. Where more
    than about 200,000 characters are left over on each side, only bullets with the very same content are matched.
    """
    lost = [bullet for bullet in before.bullets if after.get(bullet.id) is None]
    new = [bullet for bullet in after.bullets if before.get(bullet.id) is None]
    predecessor = _pair(lost, new)
    matched = {old.id for old in predecessor.values()}
    added, changed, unchanged = [], [], []
    for bullet in after.bullets:
        old = before.get(bullet.id) or predecessor.get(bullet.id)
        if old is None:
            added.append(bullet)
        elif (old.content, old.section) == (bullet.content, bullet.section):
            unchanged.append(bullet)
        else:
            changed.append(Change(before=old, after=bullet))
    return PlaybookDiff(
        added=tuple(added),
        removed=tuple(bullet for bullet in lost if bullet.id not in matched),
        changed=tuple(changed),
        unchanged=tuple(unchanged),
    )


def word_diff(before: str, after: str) -> tuple[Span, ...]:
    """The two texts as stretches that stayed, went and came; a stretch that went stands before the one that came.

    The equal and deleted spans together are `before`, the equal and inserted ones `after`; no span is empty. Changes
    that only white space separates are one change, so that a rewritten phrase can be read in one go.

    Long texts are matched by lines and sentences first and by words only where these differ, and a stretch of more
    than about 10,000 rewritten words is shown as replaced as a whole: the time stays in seconds for any text.
    """
    hunks: Iterable[_Hunk] = [(before, after)]
    if _size(before, after) > _FINE:
        hunks = _align(_AFTER_LINE_OR_SENTENCE.split(before), _AFTER_LINE_OR_SENTENCE.split(after))
    words = [fine for hunk in hunks for fine in ([hunk] if _same(hunk) else _by_words(*hunk))]
    return tuple(_spans(_without_confetti(_joined(words))))


def _pair(lost: Sequence[Bullet], new: Sequence[Bullet]) -> dict[str, Bullet]:
    """For the id of a new bullet, the lost one that it most resembles; the most similar pairs are made first."""
    by_content: dict[str, list[Bullet]] = {}
    for old in reversed(lost):
        by_content.setdefault(old.content, []).append(old)
    pairs = {bullet.id: by_content[bullet.content].pop() for bullet in new if by_content.get(bullet.content)}
    taken = {old.id for old in pairs.values()}
    rest_lost = [old for old in lost if old.id not in taken]
    rest_new = [bullet for bullet in new if bullet.id not in pairs]
    for _, old, bullet in sorted(_similar(rest_lost, rest_new), key=lambda pair: -pair[0]):
        if bullet.id not in pairs and old.id not in taken:
            pairs[bullet.id] = old
            taken.add(old.id)
    return pairs


def _similar(lost: Sequence[Bullet], new: Sequence[Bullet]) -> Iterator[tuple[float, Bullet, Bullet]]:
    texts = [bullet.content for bullet in new]
    if sum(len(old.content) for old in lost) * sum(map(len, texts)) > _MOST_COMPARISONS:
        return
    for old in lost:
        for _, score, index in process.extract(
            old.content, texts, scorer=fuzz.ratio, score_cutoff=SAME_BULLET * 100, limit=None
        ):
            yield score, old, new[index]


def _size(before: str, after: str) -> int:
    return len(_TOKEN.findall(before)) * len(_TOKEN.findall(after))


def _by_words(before: str, after: str) -> Iterable[_Hunk]:
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    if len(old) * len(new) > _FINE:
        return _align(old, new)
    steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [("".join(old[i:j]), "".join(new[k:m])) for _, i, j, k, m in steps]


def _align(old: Sequence[str], new: Sequence[str]) -> Iterable[_Hunk]:
    """Longest common subsequence: coarser to read than difflib's blocks, but its time and memory have a bound."""
    if len(old) * len(new) > _COARSE:
        return [("".join(old), "".join(new))]
    steps = LCSseq.opcodes(old, new)
    return _joined(
        ("".join(old[step.src_start : step.src_end]), "".join(new[step.dest_start : step.dest_end])) for step in steps
    )


def _same(hunk: _Hunk) -> bool:
    return hunk[0] == hunk[1]


def _joined(hunks: Iterable[_Hunk]) -> list[_Hunk]:
    return [_concatenated(run) for _, run in groupby(hunks, key=_same)]


def _without_confetti(hunks: list[_Hunk]) -> list[_Hunk]:
    """Changes and unchanged hunks alternate here: one of white space alone joins its two neighbours."""
    inner = range(1, len(hunks) - 1)
    numbered = enumerate(hunks)
    runs = groupby(numbered, key=lambda item: _same(item[1]) and not (item[0] in inner and item[1][0].isspace()))
    return [_concatenated(hunk for _, hunk in run) for _, run in runs]


def _concatenated(hunks: Iterable[_Hunk]) -> _Hunk:
    parts = list(hunks)
    return "".join(before for before, _ in parts), "".join(after for _, after in parts)


def _spans(hunks: Iterable[_Hunk]) -> Iterator[Span]:
    for before, after in hunks:
        if before == after:
            if before:
                yield Span(kind="equal", text=before)
            continue
        if before:
            yield Span(kind="delete", text=before)
        if after:
            yield Span(kind="insert", text=after)
