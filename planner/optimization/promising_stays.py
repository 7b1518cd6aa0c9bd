"""The stays that plans may be made of, without a relaxation of all of them.

Most stays cost more than another home of their workload even with all of their hours at the price of commitments in
full use. A program by place of the rest is relaxed, and its multipliers price all stays (node_prices.py). Those that
cost less than the value of their work are included, too, until no more of the bound is lost than a small part of the
gap. The bound so holds for all stays.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING

from planner.optimization.home_savings import PlaceOffers, list_offers, most_saved
from planner.optimization.home_search import StayPricer
from planner.optimization.model import StrategyScope
from planner.optimization.node_prices import CapacityPrices, LeastCost, NodePrices, least_cost, price_nodes
from planner.optimization.place_program import PlaceProgram, build_place_program
from planner.optimization.program_names import NamedBasis
from planner.optimization.resource_groups import ResourceGroup, list_groups
from planner.optimization.solution import PlanningContext
from planner.optimization.solver import Solution, relax_program
from planner.optimization.stays import Place, Stay, list_stays
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NEAREST = 4
"""Stays of each workload that are included in any case: the cheapest with commitments in full use."""
LEFT_SHARE = 0.1
"""Of the gap that ends a search: what the bound may lose by stays that are left out."""


@dataclass(frozen=True, slots=True)
class PromisingStays:
    """The program by place of the promising stays and its relaxation, whose bound holds for all. `losses`: of the stays
    of each workload, how much dearer than the bound a plan with one is at least; of those in the program 0."""

    program: PlaceProgram
    relaxed: Solution
    stays: list[list[Stay]]
    losses: list[list[float]]

    def widen(self, setting: PlanningContext, allowed: StrategyScope, reach: float) -> PlaceProgram:
        """The program of all stays that a plan may have which is dearer than the bound by less than `reach`."""
        included = [
            [stay for stay, loss in zip(*each, strict=True) if loss < reach]
            for each in zip(self.stays, self.losses, strict=True)
        ]
        is_same = all(len(more) == len(there) for more, there in zip(included, self.program.stays, strict=True))
        return self.program if is_same else build_place_program(setting, allowed, included)


def relax_promising(setting: PlanningContext, allowed: StrategyScope, gap: float) -> PromisingStays:
    """The relaxation of a strategy by place over all stays, to a small part of the `gap`."""
    search = _StaySearch.of(setting, allowed)
    included = search.choose_first()
    before = None
    while True:
        program = build_place_program(setting, allowed, search.list_included(included))
        relaxed = relax_program(program.numbers, None if before is None else before.carry(program.names))
        before = NamedBasis.of(program.names, relaxed)
        if all(map(all, included)):
            return PromisingStays(program, relaxed, search.stays, [[0.0] * len(each) for each in included])
        if not relaxed.values:
            included = [[True] * len(each) for each in included]
            continue
        work_values = search.value_work(program, relaxed)
        losses = search.price_left_out(program, relaxed, work_values, included)
        missed = math.fsum(min(0.0, *each) for each in losses)
        if -missed <= LEFT_SHARE * gap * abs(relaxed.objective):
            return PromisingStays(program, replace(relaxed, bound=relaxed.bound + missed), search.stays, losses)
        included = [
            [was or loss < 0 for was, loss in zip(*each, strict=True)] for each in zip(included, losses, strict=True)
        ]
        del program, relaxed  # else two programs would be in memory while the next is built


@dataclass(frozen=True, slots=True)
class _StaySearch:
    """All stays of a strategy by workload, with their least costs; `settled`: workloads of which all are included."""

    setting: PlanningContext
    allowed: StrategyScope
    stays: list[list[Stay]]
    costs: list[list[LeastCost]]
    settled: list[bool]
    groups: Mapping[Place, Sequence[ResourceGroup]]
    offers: Mapping[Place, PlaceOffers]
    blocks: Floats
    pricer: StayPricer

    @classmethod
    def of(cls, setting: PlanningContext, allowed: StrategyScope) -> _StaySearch:
        """The search of a strategy. All stays are included of work that may be spread, or may move when a type ends."""
        import numpy as np

        stays, needs, months = list_stays(setting, allowed), setting.demands.needs, setting.terms.months
        settled = [
            need.may_spread or any(stay.last_month < months for stay in each)
            for need, each in zip(needs, stays, strict=True)
        ]
        costs = [
            [] if includes_all else [least_cost(stay, by_deadline=need.deadline is not None) for stay in each]
            for need, each, includes_all in zip(needs, stays, settled, strict=True)
        ]
        groups, blocks = list_groups(setting, allowed), np.array(setting.demands.block_hours)
        offers = list_offers(groups, allowed.shared, months)
        return cls(setting, allowed, stays, costs, settled, groups, offers, blocks, StayPricer(offers, blocks, months))

    def choose_first(self) -> list[list[bool]]:
        """Of each workload the stays that cost less with commitments in full use than the cheapest home alone, and some
        in any case."""
        prices = self._price(None)
        return [
            [True] * len(stays) if includes_all else self._choose_of(need, stays, [cost.at(prices) for cost in costs])
            for need, (stays, costs, includes_all) in enumerate(zip(self.stays, self.costs, self.settled, strict=True))
        ]

    def _choose_of(self, need: int, stays: Sequence[Stay], costs: Sequence[float]) -> list[bool]:
        ranked = sorted(range(len(stays)), key=costs.__getitem__)
        least = math.inf
        for number in ranked:
            if costs[number] >= least:
                break
            least = min(least, self._price_alone(need, stays[number]))
        nearest = set(ranked[:NEAREST])
        return [cost <= least or number in nearest for number, cost in enumerate(costs)]

    def _price_alone(self, need: int, stay: Stay) -> float:
        """What a workload costs at a place where nothing else is."""
        return min(
            (
                each.cost - (most_saved(self.offers[each.place], each.levels, (), self.blocks) if each.levels else 0.0)
                for each in self.pricer.price_all(self.setting.demands.needs[need], [stay])
                if each.idle_work is None
            ),
            default=math.inf,
        )

    def list_included(self, included: Sequence[Sequence[bool]]) -> list[list[Stay]]:
        """The stays that are included."""
        return [list(compress(stays, each)) for stays, each in zip(self.stays, included, strict=True)]

    def value_work(self, by_place: PlaceProgram, relaxed: Solution) -> list[float]:
        """The value of all work of each workload in a relaxation (the multiplier of its row, which is scaled); 0 of
        those that are settled."""
        work_values, program = [0.0] * len(self.stays), by_place.program
        for row, need in enumerate(program.row_need):
            if need >= 0 and not self.settled[need]:
                work_values[need] = relaxed.multipliers[row] / program.row_scale[row]
        return work_values

    def price_left_out(
        self,
        by_place: PlaceProgram,
        relaxed: Solution,
        work_values: Sequence[float],
        included: Sequence[Sequence[bool]],
    ) -> list[list[float]]:
        """By workload, how much dearer than the relaxation a plan with a stay is at least; 0 of those in the
        program."""
        import numpy as np

        program, rows = by_place.program, by_place.capacity.row
        unit_values = np.maximum(0.0, -np.array(relaxed.multipliers)[rows] / np.array(program.row_scale)[rows])
        left = {
            (column.owner, column.month): reduced if lower < upper else 0.0
            for column, reduced, lower, upper in zip(
                program.columns, relaxed.reduced_costs, program.lower, program.upper, strict=True
            )
            if column.kind == "start"
        }
        prices = self._price(CapacityPrices(by_place.capacity, unit_values, left))
        return [
            [0.0 if there else cost.at(prices) - value for cost, there in zip(costs, are_there, strict=True)]
            if costs
            else [0.0] * len(are_there)
            for costs, are_there, value in zip(self.costs, included, work_values, strict=True)
        ]

    def _price(self, found: CapacityPrices | None) -> NodePrices:
        demands, months = self.setting.demands, self.setting.terms.months
        return price_nodes(self.groups, self.allowed.shared, demands.block_hours, months, found)
