"""Groups of lessons that say the same, and the member that says it best.

Average linkage over likeness of wording: a lesson joins where it is like most members, not where it has one near twin.
"""

import heapq
from collections import defaultdict
from collections.abc import Sequence
from itertools import product

from combee_core.learners.offline.likeness import ASIDE, SAME, alike, apart, likeness, wording
from combee_core.learners.offline.passages import RUN_DETAIL, directness, points_back

TIGHT = 0.45
"""A lesson joins a group only when it is about as close to its members as they are to each other: this share of it."""
CENTRAL = 1.5
"""How much it counts, beside clarity, that a text speaks for the others of its group."""
GOOD_LENGTH = 200
"""Characters beyond which a bullet gets hard to read."""


def grouped(texts: Sequence[str]) -> list[list[int]]:
    """Indexes of the texts in groups that say the same; groups, and indexes in them, in order of first appearance."""
    distinct = list(dict.fromkeys(texts))
    group_of = {distinct[index]: number for number, group in enumerate(_Linkage(distinct).groups()) for index in group}
    groups: dict[int, list[int]] = {}
    for index, text in enumerate(texts):
        groups.setdefault(group_of[text], []).append(index)
    return list(groups.values())


def nearest(text: str, others: Sequence[str]) -> int | None:
    """Index of the text that says the same, the likest of them, or None."""
    found = wording(text)
    scores = [alike(found, wording(other)) for other in others]
    best = max(range(len(others)), key=scores.__getitem__, default=None)
    return best if best is not None and scores[best] >= SAME else None


def clearest(texts: Sequence[str], supports: Sequence[int]) -> int:
    """Index of the text that an agent can follow best and that speaks for most of the others."""
    wordings = [wording(text) for text in texts]

    def rank(index: int) -> tuple[float, int, str]:
        likes = (likeness(wordings[index], other) for other in wordings)
        shared = sum(like * support for like, support in zip(likes, supports, strict=True)) / sum(supports)
        return (-round(CENTRAL * shared + clarity(texts[index]), 6), len(texts[index]), texts[index])

    return min(range(len(texts)), key=rank)


def clarity(text: str) -> float:
    """How well a text stands as a bullet: direct, with names, not too long, not about one run."""
    names = min(len(wording(ASIDE.sub(" ", text)).names), 3)
    flaws = bool(RUN_DETAIL.search(text)) + text.startswith(("When asked “", "What worked: ")) + points_back(text)
    return 0.1 * directness(text) + 0.08 * names - 0.2 * flaws - max(0, len(text) - GOOD_LENGTH) / 400


class _Linkage:
    """Average linkage without a matrix: the mean likeness of two groups is the product of their mean vectors.

    A group's likeness to its best partner can only fall while others join, so a stale entry of the queue is an upper
    bound and is looked at again when its turn comes.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._wordings = [wording(text) for text in texts]
        self._members = {index: [index] for index in range(len(texts))}
        self._sums = {index: dict(found.vector) for index, found in enumerate(self._wordings)}
        self._having: defaultdict[str, set[int]] = defaultdict(set)
        self._enemies: set[tuple[int, int]] = set()
        for index, terms in self._sums.items():
            for term in terms:
                self._having[term].add(index)

    def groups(self) -> list[list[int]]:
        """Indexes of the texts in groups."""
        queue = [entry for index in self._members if (entry := self._best(index)) is not None]
        heapq.heapify(queue)
        while queue:
            entry = heapq.heappop(queue)
            if entry[1] not in self._members:
                continue
            now = self._best(entry[1])
            if now is not None and now > entry:
                heapq.heappush(queue, now)
            elif now is not None:
                _, one, other = now
                self._try(one, other)
                again = self._best(one)
                if again is not None:
                    heapq.heappush(queue, again)
        return sorted((sorted(group) for group in self._members.values()), key=min)

    def _best(self, one: int) -> tuple[float, int, int] | None:
        """The partner that a group is most like, as (likeness below 0, group, partner); None when it has none."""
        products: defaultdict[int, float] = defaultdict(float)
        for term, weight in self._sums[one].items():
            for other in self._having[term]:
                products[other] += weight * self._sums[other][term]
        size, floor = len(self._members[one]), self._floor(one, products.pop(one, 0.0))
        best: tuple[float, int, int] | None = None
        for other, product_ in products.items():
            mean = product_ / (size * len(self._members[other]))
            if mean >= floor and (best is None or (-mean, one, other) < best) and self._fits(one, other, mean):
                best = (-mean, one, other)
        return best

    def _fits(self, one: int, other: int, mean: float) -> bool:
        if (min(one, other), max(one, other)) in self._enemies:
            return False
        terms = self._sums[other]
        return mean >= self._floor(other, sum(weight * weight for weight in terms.values()))

    def _floor(self, index: int, square: float) -> float:
        """The likeness that a group asks of who joins it; `square` is the square of its vector."""
        members = self._members[index]
        pairs = len(members) * (len(members) - 1)
        alone = sum(self._wordings[member].square for member in members)
        return max(SAME, TIGHT * (square - alone) / pairs) if pairs else SAME

    def _try(self, one: int, other: int) -> None:
        """Join two groups, unless members of them stand apart: then they never meet again."""
        pairs = product(self._members[one], self._members[other])
        if any(apart(self._wordings[left], self._wordings[right]) for left, right in pairs):
            self._enemies.add((min(one, other), max(one, other)))
            return
        self._members[one] += self._members.pop(other)
        for term, weight in self._sums.pop(other).items():
            self._sums[one][term] = self._sums[one].get(term, 0.0) + weight
            self._having[term].discard(other)
            self._having[term].add(one)
