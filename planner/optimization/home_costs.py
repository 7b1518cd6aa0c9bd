"""The cost of a workload at one place, alone: by the hour, and at least with commitments that are used in every hour.

A workload that lives in one place takes a known number of node-hours there in each month, so its cost by the hour is a
sum over months of hours and rates. No plan is cheaper for it there than each hour at the least rate at which any way
of paying gives one. Costs are present costs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from planner.finance.cashflow import Terms
from planner.optimization.standing_work import count_nodes, count_replicas, largest_spot_share, list_standing_tasks
from planner.result.audit_trail import discount_factor
from planner.supply.candidates import Candidate, Market
from planner.supply.costs import HourlyRates
from planner.supply.data_costs import DataCosts
from planner.supply.limits import LimitRules
from planner.supply.payments import data_payments
from planner.workloads.demand import PortfolioDemand, WorkloadDemand
from planner.workloads.placement import parallel_limit

Months = tuple[float, ...]


@dataclass(slots=True)
class HomeCosts:
    """Computes costs of homes; `_hours` keeps node-hours by month of placements that were asked for, `_data` costs of
    data, and `_tasks` the standing tasks of a workload."""

    market: Market
    demands: PortfolioDemand
    rates: HourlyRates
    rules: LimitRules
    terms: Terms
    _hours: dict[tuple[int, float, float, float], Months | None] = field(default_factory=dict)
    _data: dict[tuple[int, bool, DataCosts], Months] = field(default_factory=dict)
    _tasks: dict[int, tuple[tuple[int, int, float], ...]] = field(default_factory=dict)

    def by_the_hour(self, ways: Sequence[Candidate]) -> float:
        """The cost of a workload at a place in its `ways` by the hour, all of one gang; infinite where they cannot do
        all of its work: spot does no more than its limit."""
        need = self.demands.needs[ways[0].need]
        steady = [way for way in ways if not self.market.resources[way.resource].interrupts]
        share = self.rules.spot_share(need)
        costs = [self._cost(way, self.rates[way.resource], most=True) for way in (ways if share == 1 else steady)]
        if 0 < share < 1 and len(steady) < len(ways):
            costs += [self._mixed_cost(spot, way) for spot in ways if spot not in steady for way in steady]
        return min(costs, default=math.inf)

    def at_least(self, way: Candidate, rate: Sequence[float]) -> float:
        """A lower bound on the cost of all the work of a workload on a candidate, at the least rates of a node-hour."""
        return self._cost(way, rate, most=False)

    def node_hours(self, way: Candidate) -> Months | None:
        """Node-hours in each month, all of a deadline in its month; None where more gangs at once would be needed than
        the workload allows, in a month or until its deadline."""
        key = (way.need, way.gang_rate, way.granule, way.units_per_node_hour)
        if key not in self._hours:
            self._hours[key] = self._count_node_hours(way)
        return self._hours[key]

    def _cost(self, way: Candidate, rate: Sequence[float], *, most: bool) -> float:
        """Node-hours at their rates and data; of a deadline in its dearest month, or (not `most`) in its cheapest."""
        need = self.demands.needs[way.need]
        hours = self.node_hours(way)
        until = self.market.resources[way.resource].last_month
        if hours is None or (until is not None and any(hours[until:])):  # too few gangs at once, or its type ends
            return math.inf if most else 0.0
        data = self.data(way)
        if need.deadline is not None:
            each = [hours[need.deadline - 1] * of_hour + of_data for of_hour, of_data in zip(rate, data, strict=False)]
            return max(each) if most else min(each)
        return math.fsum(
            amount * of_hour + of_data for amount, of_hour, of_data in zip(hours, rate, data, strict=True) if amount
        )

    def _mixed_cost(self, spot: Candidate, way: Candidate) -> float:
        """The cost with as much on spot as its limit allows, and the rest in another way."""
        need = self.demands.needs[spot.need]
        if not need.serving:
            share = self.rules.spot_share(need)
            on_spot, steady = (self._cost(each, self.rates[each.resource], most=True) for each in (spot, way))
            return share * on_spot + (1 - share) * steady
        total = math.fsum(self.data(way))
        for month, block, units in list_standing_tasks(need, self.demands):
            hours = self.demands.block_hours[block]
            replicas = count_replicas(way, need, units, hours)
            part = largest_spot_share(self.rules, way, need, replicas)
            rate = part * self.rates[spot.resource][month] + (1 - part) * self.rates[way.resource][month]
            total += rate * hours * count_nodes(way, need, replicas)
        return total

    def data(self, way: Candidate) -> Months:
        """All data of each month (up to a deadline: of all its months, for work done in this one)."""
        key = (way.need, self.market.resources[way.resource].node is None, way.around)
        if key not in self._data:
            need = self.demands.needs[way.need]
            months = range(1, (need.deadline or self.terms.months) + 1)
            has_cost = way.around.total != 0
            self._data[key] = tuple(self._price_data(need, way, month) if has_cost else 0.0 for month in months)
        return self._data[key]

    def _price_data(self, need: WorkloadDemand, way: Candidate, month: int) -> float:
        units = need.total if need.deadline is not None else need.monthly[month - 1]
        paid = data_payments(need, way, self.market.resources[way.resource], month, units, self.terms)
        return math.fsum(p.amount for p in paid) * discount_factor(month, "end", self.terms.discount_rate_monthly)

    def _count_node_hours(self, way: Candidate) -> Months | None:
        need, at_once = self.demands.needs[way.need], parallel_limit(self.demands.needs[way.need])
        if not need.serving:
            units, months = (max(need.monthly), 1) if need.deadline is None else (need.total, need.deadline)
            fits = at_once is None or units / way.gang_rate <= at_once * months * self.terms.hours_per_month
            return tuple(units / way.units_per_node_hour for units in need.monthly) if fits else None
        if way.need not in self._tasks:
            self._tasks[way.need] = tuple(list_standing_tasks(need, self.demands))
        hours, nodes = [0.0] * len(need.monthly), dict[int, float]()
        for month, block, units in self._tasks[way.need]:
            length = self.demands.block_hours[block]
            replicas = count_replicas(way, need, units, length)
            if at_once is not None and replicas > at_once:
                return None
            if replicas not in nodes:
                nodes[replicas] = count_nodes(way, need, replicas)
            hours[month] += length * nodes[replicas]
        return tuple(hours)
