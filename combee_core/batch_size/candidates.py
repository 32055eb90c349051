"""The candidate grid: which batch sizes a run tries before it settles on one. It knows nothing of their delays."""

from collections.abc import Iterable, Sequence

from pydantic import BaseModel, ConfigDict

from combee_core.batch_size.words import count

TRIAL_SHARE = 0.15
"""The share of the traces that the trials of the default grid take at most, where there are enough traces."""

_SMALLEST = (5, 2, 1)
_RATIO = 2
_STEPS = (5, 4, 3)
_FIRM = 4  # candidates among which a slow trial stands out
_FEW_TRACES_SHARE = 1 / 3
_UNTRIED = 8  # times the smallest candidate: where the plateau lies when an iteration takes the same at any batch size


class Grid(BaseModel):
    """Candidate batch sizes in ascending order; `note` says in a sentence how they came about."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sizes: tuple[int, ...]
    dropped: tuple[int, ...] = ()
    note: str


def candidates(n: int, smallest: int | None = None, share: float = TRIAL_SHARE) -> Grid:
    """The default grid for n traces: three to five candidates, each twice the one before.

    Their sum stays within `share` of the traces. Where not even three candidates do, they take up to a third; fewer
    traces than that are not worth a trial, so that there is one candidate and nothing to measure. The plateau is a
    multiple of the smallest candidate, mostly 8 to 16 times, so that five steps reach it. `smallest` is the paper's 5,
    or less where there are too few traces to try four candidates from 5 on.

    Raises `ValueError`, in one sentence, unless n >= 1, smallest >= 1 and share is above 0 and at most 1.
    """
    if n < 1:
        raise ValueError(f"There must be at least 1 trace to choose a batch size for, not {n}.")
    if not 0 < share <= 1:
        raise ValueError(f"The share of the traces for trials must be above 0 and at most 1, not {share:g}.")
    if smallest is None:
        smallest = next((size for size in _SMALLEST if sum(_ladder(size, _FIRM)) <= share * n), 1)
    elif smallest < 1:
        raise ValueError(f"The smallest candidate must be a batch size of at least 1, not {smallest}.")
    ladders = [_ladder(smallest, steps) for steps in _STEPS]
    sizes = next((ladder for ladder in ladders if sum(ladder) <= share * n), ladders[-1])
    if sum(sizes) > max(share, _FEW_TRACES_SHARE) * n:
        return Grid(sizes=(min(n, _UNTRIED * smallest),), note=f"With {count(n)} no trial pays.")
    return Grid(sizes=sizes, note=f"The trials of {_listed(sizes)} take {sum(sizes):,} of {count(n)}.")


def candidates_by_hand(sizes: Iterable[int], n: int) -> Grid:
    """A grid that someone has set, for n traces: sorted, each size once, without those that n traces cannot fill.

    When they fill none, the smallest stays. Raises `ValueError`, in one sentence, for no size at all or one below 1.
    """
    wanted = sorted(set(sizes))
    if not wanted:
        raise ValueError("The candidate grid is empty: name at least one batch size.")
    if wanted[0] < 1:
        raise ValueError(f"A candidate batch size must be at least 1, not {wanted[0]}.")
    kept = [size for size in wanted if size <= n] or wanted[:1]
    dropped = wanted[len(kept) :]
    note = f"{_listed(kept)}, as set by hand."
    if dropped:
        note = f"{note} Left out, as {count(n)} cannot fill them: {_listed(dropped)}."
    return Grid(sizes=tuple(kept), dropped=tuple(dropped), note=note)


def _ladder(smallest: int, steps: int) -> tuple[int, ...]:
    return tuple(smallest * _RATIO**step for step in range(steps))


def _listed(sizes: Sequence[int]) -> str:
    names = [f"{size:,}" for size in sizes]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
