"""Shared resources of each place that are used alike, in the program by place (place_program.py)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from planner.optimization.constraints import StartColumns
from planner.optimization.model import StrategyScope
from planner.optimization.solution import PlanningContext
from planner.optimization.stays import Place
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ResourceGroup:
    """Shared resources that are used alike at a place: nodes, days of nodes, or money (`weight` an hour of a node)."""

    items: tuple[int, ...]
    weight: float
    by_month: bool
    use_costs: tuple[float, ...]
    is_money: bool
    node_price: float | None
    """Of all that the money pays for, at this place and others; None where it has several."""


def list_groups(setting: PlanningContext, allowed: StrategyScope) -> dict[Place, list[ResourceGroup]]:
    """The shared resources of each place: its nodes together, days of nodes, and each commitment to money."""
    resources = setting.market.resources
    alike: dict[tuple[Place, str], dict[int, float]] = defaultdict(dict)
    for index, item in enumerate(allowed.shared):
        for candidate in item.candidates:
            kind = f"money {index}" if item.weights else item.resource.unit
            here, weight = alike[resources[candidate.resource].place, kind], item.weight(candidate)
            here[index] = min(weight, here.get(index, weight))
    groups: dict[Place, list[ResourceGroup]] = defaultdict(list)
    for (place, _), weights in alike.items():
        first = allowed.shared[next(iter(weights))]
        is_money = bool(first.weights)
        groups[place].append(
            ResourceGroup(
                tuple(weights), min(weights.values()), first.by_month, first.use_costs, is_money, first.node_price
            )
        )
    return groups


@dataclass(frozen=True, slots=True)
class StartsOfItems:
    """The start columns that cover a month, of each set of items together: sets by number, and the columns of set and
    month one after the other, from `first` of them to before the next."""

    numbers: Mapping[tuple[int, ...], int]
    months: int
    columns: Numbers
    first: Numbers

    def count(self, item_set: Numbers, month: Numbers) -> Numbers:
        """The columns of each set and month."""
        at = item_set * self.months + month - 1
        counts: Numbers = self.first[at + 1] - self.first[at]
        return counts

    def look_up(self, item_set: Numbers, month: Numbers) -> tuple[Numbers, Numbers]:
        """All columns of each set and month, one after the other: of which pair (its index), and the column."""
        import numpy as np

        counts = self.count(item_set, month)
        pair = np.repeat(np.arange(len(counts)), counts)
        before = np.cumsum(counts) - counts
        first = self.first[item_set * self.months + month - 1]
        return pair, self.columns[np.arange(len(pair)) + (first - before)[pair]]


def list_starts(groups: Iterable[Sequence[ResourceGroup]], started: StartColumns, months: int) -> StartsOfItems:
    """The start columns of the items of all groups."""
    import numpy as np

    numbers: dict[tuple[int, ...], int] = {}
    columns: list[int] = []
    first = [0]
    for group in (group for there in groups for group in there):
        if group.items not in numbers:
            numbers[group.items] = len(numbers)
            for month in range(1, months + 1):
                for item in group.items:
                    columns += started.get((item, month), ())
                first.append(len(columns))
    return StartsOfItems(numbers, months, np.array(columns, dtype=np.int64), np.array(first, dtype=np.int64))
