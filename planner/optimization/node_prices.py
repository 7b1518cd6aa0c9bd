"""The price of a node-hour at each place, and the least that a stay costs at these prices.

Multipliers of the rows of capacity price each unit in each hour; what is left of the cost of a start is spread evenly
over the hours that no row has. No start then costs less than the hours that it is there for, so that no work costs less
than with all of its hours at these prices, or by the hour where that is cheaper: the bound of a stay that is in no
program.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from planner.optimization.covered_levels import CapacityRows
from planner.optimization.place_levels import ROUNDING, round_up_rates
from planner.optimization.resource_groups import ResourceGroup
from planner.optimization.stays import Place, Stay
from planner.supply.costs import SharedResource
from pricing.frozen_values import dataclass
from pricing.units import HOURS_PER_DAY

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NodePrices:
    """The present cost of a node-hour by month and block, the last column at any hour: of what is at each place, and of
    each shared resource."""

    by_place: Mapping[Place, Floats]
    by_item: Mapping[int, Floats]

    def of(self, stay: Stay) -> Floats | None:
        """By slot, the least that an hour of a shared node costs a stay; None where it may use none."""
        import numpy as np

        if not stay.is_shared:
            return None
        there = [self.by_place.get(stay.place), *(self.by_item.get(item) for item in stay.overflows_to)]
        usable = [prices for prices in there if prices is not None]
        return np.minimum.reduce(usable)[stay.months - 1, stay.blocks] if usable else None

    def blend(self, other: NodePrices, share: float) -> NodePrices:
        """Prices between these and the other ones, of which they have a `share` (above 0 and below 1): where units are
        in neither worth more than they cost, they are not in these."""
        return NodePrices(
            {place: (1 - share) * prices + share * other.by_place[place] for place, prices in self.by_place.items()},
            {item: (1 - share) * prices + share * other.by_item[item] for item, prices in self.by_item.items()},
        )


class CapacityPrices(NamedTuple):
    """The price of units in a relaxation: the multipliers of rows of capacity, and the rest of the cost of starts, by
    shared resource and month."""

    rows: CapacityRows
    multipliers: Floats
    left: Mapping[tuple[int, int], float]


def price_nodes(
    groups: Mapping[Place, Sequence[ResourceGroup]],
    shared: Sequence[SharedResource],
    block_hours: Sequence[float],
    months: int,
    known_prices: CapacityPrices | None,
) -> NodePrices:
    """The prices of a relaxation (`known_prices`); None: of units that are all in full use."""
    import numpy as np

    sets = list(dict.fromkeys(group.items for there in groups.values() for group in there))
    sharing = Counter(item for items in sets for item in items)
    known = np.full((len(sets), months, len(block_hours) + 1), np.nan)  # the last of the blocks is any hour
    if known_prices is not None:
        rows, numbers = known_prices.rows, {items: number for number, items in enumerate(sets)}
        of_set = np.array([numbers[items] for items in rows.sets], dtype=np.int64)
        known[of_set[rows.item_set], rows.month - 1, rows.block] = known_prices.multipliers
    unit_prices = {}
    for items, there in zip(sets, known, strict=True):
        by_month = shared[items[0]].by_month
        hours = np.array([HOURS_PER_DAY] if by_month else block_hours, dtype=np.float64)
        in_block = there[:, -1:] if by_month else there[:, :-1]
        unpriced = np.isnan(in_block) & np.isnan(there[:, -1:])
        left = {} if known_prices is None else known_prices.left
        even = _spread_evenly([(shared[item], item, sharing[item]) for item in items], unpriced @ hours, left)
        priced = np.nan_to_num(in_block) / hours
        if not by_month:
            priced += np.nan_to_num(there[:, -1:]) / hours.sum()
        unit_prices[items] = np.where(unpriced, even[:, None], priced)
    by_place: dict[Place, list[Floats]] = defaultdict(list)
    by_item: dict[int, list[Floats]] = defaultdict(list)
    for place, of_place in groups.items():
        for group in of_place:
            price = group.weight * unit_prices[group.items]
            if group.use_costs:
                price = price + np.array(group.use_costs)[:, None]
            in_blocks = np.repeat(price, len(block_hours), axis=1) if group.by_month else price
            prices = np.column_stack([in_blocks, price.min(axis=1)])
            by_place[place].append(prices)
            for item in group.items:
                by_item[item].append(prices)
    return NodePrices(
        {place: np.minimum.reduce(each) for place, each in by_place.items()},
        {item: np.minimum.reduce(each) for item, each in by_item.items()},
    )


def _spread_evenly(
    items: Sequence[tuple[SharedResource, int, int]], hours: Floats, left: Mapping[tuple[int, int], float]
) -> Floats:
    """By month, the price of a unit-hour so that no start costs less than its `hours` that have no price: of what is
    left of its cost a part, where several groups share it. Infinite where nothing is there."""
    import numpy as np

    least, before = np.full(len(hours), math.inf), np.concatenate([[0.0], hours.cumsum()])
    for item, number, sharing in items:
        for start in item.starts:
            first, end = start.covers.start - 1, min(start.covers.stop - 1, len(hours))
            there = before[end] - before[first]
            cost = left.get((number, start.month), start.present_cost)
            an_hour = max(cost, 0.0) / (there * sharing) if there else math.inf
            least[first:end] = np.minimum(least[first:end], an_hour)
    return least


@dataclass(frozen=True, slots=True)
class LeastCosts:
    """The parts of the least costs of a workload's stays: `paid` by stay in any case, and by stay, level and slot
    hours of work that cost their rate or what a node costs, whichever is less."""

    stays: Sequence[Stay]
    paid: Floats
    hours: Floats
    rates: Floats

    def at(self, prices: NodePrices) -> list[float]:
        """By stay; infinite where its work cannot be done."""
        costs = self.hours * _take_cheaper(self.rates, self.stays, prices)
        by_stay: list[float] = (self.paid + costs.reshape(len(costs), -1).sum(axis=1)).tolist()
        return by_stay


@dataclass(frozen=True, slots=True)
class LeastDeadlineCosts:
    """The same of work up to a deadline, all of which each slot has, by steady ways or on spot (the levels): `base`, by
    stay, level and slot, is paid for all of it there, and `shares` are done in the cheapest slot, in the next one and
    so on, since a month may do a part of it only."""

    stays: Sequence[Stay]
    base: Floats
    hours: Floats
    rates: Floats
    shares: Floats

    def at(self, prices: NodePrices) -> list[float]:
        """By stay; infinite where its work cannot be done."""
        import numpy as np

        each = self.base + self.hours * _take_cheaper(self.rates, self.stays, prices)
        ranked = np.where(self.shares > 0, np.sort(each.min(axis=1), axis=1), 0.0)
        does_all = self.shares.sum(axis=1) >= 1 - ROUNDING
        by_stay: list[float] = np.where(does_all, (self.shares * ranked).sum(axis=1), np.inf).tolist()
        return by_stay


def _take_cheaper(rates: Floats, stays: Sequence[Stay], prices: NodePrices) -> Floats:
    import numpy as np

    never = np.full(rates.shape[-1], np.inf)
    nodes = [prices.of(stay) for stay in stays]
    cheaper: Floats = np.minimum(rates, np.array([never if each is None else each for each in nodes])[:, None])
    return cheaper


def least_costs(stays: Sequence[Stay], *, by_deadline: bool) -> LeastCosts | LeastDeadlineCosts:
    """The least costs of a workload's stays, to be had at any prices. Rates are those of programs: rounded up."""
    import numpy as np

    there = stays[0].months <= np.array([[stay.last_month] for stay in stays])
    if by_deadline:
        hours = np.array([[stay.steady_hours + stay.spot_hours] for stay in stays])
        rates = np.array(
            [(stay.steady_rates, np.where(stay.spot_hours > 0, stay.spot_rates, math.inf)) for stay in stays]
        )
        rounded = round_up_rates(rates)
        data = np.where(there, np.array([stay.data for stay in stays]), math.inf)[:, None]
        base = data + hours * _finite(rates - np.where(rates < math.inf, rounded, 0.0))
        most = np.array([[stay.most_a_month] for stay in stays])
        shares = np.diff(np.minimum(np.arange(there.shape[1] + 1) * most, 1.0))
        return LeastDeadlineCosts(stays, base, hours, rounded, shares)
    levels = [list(stay.levels()) for stay in stays]
    each = np.zeros((len(stays), max(map(len, levels)), 2, there.shape[1]))
    for of_stay, known in zip(each, levels, strict=True):
        of_stay[: len(known)] = known
    hours = np.where(there[:, None], each[:, :, 0], 0.0)
    rates = np.where(hours > 0, round_up_rates(each[:, :, 1]), 0.0)
    all_by_hour = np.where(there, np.array([stay.cost() for stay in stays]), 0.0)
    paid = (all_by_hour - (hours * _finite(rates)).sum(axis=1)).sum(axis=1)
    has_work = hours.any(axis=(0, 2))
    return LeastCosts(stays, paid, hours[:, has_work], rates[:, has_work])


def _finite(rates: Floats) -> Floats:
    import numpy as np

    return np.where(np.isfinite(rates), rates, 0.0)
