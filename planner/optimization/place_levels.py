"""The work of the program by place (place_program.py) by levels.

Work of all workloads at a place is one level in a month and block where it is worth as much by the hour. There are
hundreds of thousands of pieces of work, so they are kept in arrays.
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

from planner.optimization.program_names import name_numbers, name_values
from planner.optimization.row_table import join_numbers
from planner.optimization.stays import Place, Stay
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int64]

ROUNDING = 1e-9
RATE_DIGITS = 6
"""Rates that agree to so many digits are one level, which saves the highest of them."""


class LevelKind(NamedTuple):
    """What all work of a stay has in common, whatever its month, block and rate."""

    place: Place
    elsewhere: frozenset[int]
    """Shared resources of other places that may do it, too."""
    span: int
    """Nodes of one gang."""
    need: int
    """The workload, of work at any hour where committed money may pay it; else -1."""


@dataclass(frozen=True, slots=True)
class WorkLevels:
    """All levels as they first appear: kind (its number among `kinds`) with its span and need, month, block, rate by
    the hour (infinite: no hour is sold), and the most node-hours of the whole tasks of which it is a part. Their work,
    level by level: the column that brings it, and node-hours."""

    kinds: tuple[LevelKind, ...]
    kind: Numbers
    span: Floats
    need: Numbers
    month: Numbers
    block: Numbers
    rate: Floats
    task_hours: Floats
    work_level: Numbers
    work_column: Numbers
    work_hours: Floats

    def name_levels(self) -> Numbers:
        """The name of each level (program_names.py)."""
        import numpy as np

        kinds = [name_values(each.place, sorted(each.elsewhere), each.span, each.need) for each in self.kinds]
        return name_numbers(np.array(kinds)[self.kind], self.month, self.block, self.rate.view(np.int64))


@dataclass(slots=True)
class LevelWork:
    """Pieces of work, as they are added: the number of their kind each, and by piece month, block, column, node-hours,
    rate and node-hours of the whole task."""

    kinds: dict[LevelKind, int] = field(default_factory=dict)
    _pieces: list[tuple[int, Numbers, Numbers, Numbers, Floats, Floats, Floats]] = field(default_factory=list)

    def add(self, stay: Stay, need: int, slots: Numbers, columns: Numbers, hours: Floats, rates: Floats) -> None:
        """Work of some slots of a stay, by column; `need`: as in LevelKind."""
        kind = LevelKind(stay.place, frozenset(stay.overflows_to), stay.span, need)
        number = self.kinds.setdefault(kind, len(self.kinds))
        of_task = (stay.steady_hours + stay.spot_hours)[slots]
        self._pieces.append((number, stay.months[slots], stay.blocks[slots], columns, hours, rates, of_task))

    def group_levels(self) -> WorkLevels | None:
        """The work by level; None where there is none."""
        import numpy as np

        if not self._pieces:
            return None
        kind = np.repeat([piece[0] for piece in self._pieces], [len(piece[1]) for piece in self._pieces])
        month, block, column, hours, rate, of_task = (
            np.concatenate(part) for part in list(zip(*self._pieces, strict=True))[1:]
        )
        rate = round_up_rates(rate)
        key = join_numbers(kind, month, block + 1, np.unique(rate, return_inverse=True)[1])
        _, first, level = np.unique(key, return_index=True, return_inverse=True)
        appeared = np.argsort(first)  # levels as they first appear, not as their keys rank
        level, first = np.argsort(appeared)[level], first[appeared]
        # Work of one column comes twice where steady and spot are one level: added up.
        order = np.argsort(level, kind="stable")
        at, column, hours = level[order], column[order], hours[order]
        starts = np.flatnonzero(np.diff(at, prepend=-1) | np.diff(column, prepend=-1))
        most = np.maximum.reduceat(of_task[order], np.flatnonzero(np.diff(at, prepend=-1)))
        work = at[starts], column[starts], np.add.reduceat(hours, starts)
        span, need = np.array([(each.span, each.need) for each in self.kinds])[kind[first]].T
        same = kind[first], span.astype(np.float64), need
        return WorkLevels(tuple(self.kinds), *same, month[first], block[first], rate[first], most, *work)


def round_up_rates(rates: Floats) -> Floats:
    """Rates to some digits, each once: many are equal."""
    import numpy as np

    each, which = np.unique(rates, return_inverse=True)
    return np.array([_round_rate(rate) for rate in each.tolist()])[which].reshape(rates.shape)


def _round_rate(rate: float) -> float:
    if not math.isfinite(rate) or rate <= 0:
        return rate
    scale = 10.0 ** (RATE_DIGITS - 1 - math.floor(math.log10(rate)))
    return math.ceil(rate * scale - ROUNDING) / scale
