"""The levels of a weekly shape: the fewest for which nodes stand ready for hardly more than the work that is due.

Hours of near levels form a group, for whose highest level nodes stand in all of its hours. What that is more than the
hours need is the excess. The groups are those of least excess for their number, found by dynamic programming: with
levels in order, the best k groups of the first j are the best k - 1 groups of the first i with one group of the rest.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

LEVELS_EXACT = 24
"""Shapes of no more distinct levels keep each: every shape of a day does."""
LEVELS_MAX = 48
"""Groups of a shape with more levels, at most: the size of the program grows with them."""
EXCESS_MAX = 1e-3
"""Fraction of the work: the excess at which no more groups are needed."""


@lru_cache(maxsize=256)
def group_levels(week: tuple[float, ...]) -> tuple[float, ...]:
    """The level of each hour's group, which is its highest: never less than the level of the hour."""
    distinct = sorted(set(week))
    if len(distinct) <= LEVELS_EXACT:
        return week
    starts = _find_groups(distinct, [week.count(level) for level in distinct])
    highest = {level: distinct[end - 1] for start, end in zip(starts, (*starts[1:], len(distinct)), strict=True)
               for level in distinct[start:end]}  # fmt: skip
    return tuple(highest[level] for level in week)


def _find_groups(levels: list[float], hours: list[int]) -> list[int]:
    """The index of the first level of each group."""
    import numpy as np

    top, count = np.array(levels), np.array(hours, dtype=float)
    worked = np.concatenate(([0.0], np.cumsum(top * count)))
    elapsed = np.concatenate(([0.0], np.cumsum(count)))
    # excess[i, j]: of one group of the levels i to j
    excess = top * (elapsed[1:] - elapsed[:-1, None]) - (worked[1:] - worked[:-1, None])
    excess[np.tril_indices(len(levels), -1)] = np.inf
    best, firsts = excess[0], list[Any]()
    while best[-1] > EXCESS_MAX * worked[-1] and len(firsts) + 1 < LEVELS_MAX:
        before = np.concatenate(([np.inf], best[:-1]))[:, None] + excess
        firsts.append(before.argmin(axis=0))
        best = before.min(axis=0)
    starts, last = [], len(levels) - 1
    for first in reversed(firsts):
        starts.append(int(first[last]))
        last = starts[-1] - 1
    return [0, *reversed(starts)]
