"""The stays that plans may be made of, without a relaxation of all of them.

Most stays cost more than another home of their workload even with all of their hours at the price of commitments in
full use. A program by place of the rest is relaxed, and its multipliers price all stays (node_prices.py). Those that
cost less than the value of their work are included, too, until no more of the bound is lost than a small part of the
gap. The bound so holds for all stays.

Of very many stays only the nearest are relaxed, and in each further round those that are cheapest at prices between
the best ones so far and those of the round. At any prices that leave no start worth more than its cost, all work at its
cheapest stay is a bound (the Lagrangian dual), and so it is at prices between two such: they are stabilised as in A.
Pessoa et al., Automation and combination of linear-programming based stabilization techniques in column generation,
INFORMS Journal on Computing 30 (2018).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

from planner.optimization.home_savings import PlaceOffers, list_offers, most_saved
from planner.optimization.home_search import StayPricer
from planner.optimization.model import StrategyScope
from planner.optimization.node_prices import (
    CapacityPrices,
    LeastCosts,
    LeastDeadlineCosts,
    NodePrices,
    least_costs,
    price_nodes,
)
from planner.optimization.place_program import PlaceProgram, build_place_program
from planner.optimization.program_names import NamedBasis
from planner.optimization.resource_groups import ResourceGroup, list_groups
from planner.optimization.solution import PlanningContext
from planner.optimization.solver import Solution, relax_program
from planner.optimization.stays import Place, Stay, list_stays
from planner.supply.homes import is_owned_place
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NEAREST = 4
"""Stays of each workload that are included in any case: the cheapest with commitments in full use."""
LEFT_SHARE = 0.1
"""Of the gap that ends a search: what the bound may lose by stays that are left out."""
MANY_STAYS = 30_000
"""More stays are relaxed in rounds: 14,000 promising ones of 1,000 workloads over 60 months are a program that is not
solved in 12 minutes; the four nearest of each take 6 s, and their relaxation costs 1.3 % more."""
REACHED = 1e-6
"""Of the relaxation: how far its multipliers may price a stay of the best plan too high."""
ROUND_SHARES = (0.5, 0.2)
"""Of the prices of a round in those that its new stays are cheapest at."""


@dataclass(frozen=True, slots=True)
class PromisingStays:
    """The program by place of the promising stays and its relaxation, whose bound holds for all. `losses`: of the stays
    of each workload, how much dearer than the bound a plan with one is at least."""

    program: PlaceProgram
    relaxed: Solution
    stays: list[list[Stay]]
    losses: list[list[float]]

    def list_within(self, reach: float) -> list[list[Stay]]:
        """By workload, all stays that a plan may have which is dearer than the bound by at most `reach`."""
        most = reach + REACHED * abs(self.relaxed.objective)
        return [
            [stay for stay, loss in zip(*each, strict=True) if loss <= most]
            for each in zip(self.stays, self.losses, strict=True)
        ]

    def widen(self, setting: PlanningContext, allowed: StrategyScope, reach: float) -> PlaceProgram:
        """The program of all stays that a plan may have which is dearer than the bound by at most `reach`."""
        included = self.list_within(reach)
        is_same = all(len(more) == len(there) for more, there in zip(included, self.program.stays, strict=True))
        return self.program if is_same else build_place_program(setting, allowed, included)


def relax_promising(setting: PlanningContext, allowed: StrategyScope, gap: float, rounds: int) -> PromisingStays:
    """The relaxation of a strategy by place over all stays, to a small part of the `gap`; of very many stays in so many
    `rounds` at most."""
    search = _StaySearch.of(setting, allowed)
    if sum(map(len, search.stays)) > MANY_STAYS:
        return _relax_in_rounds(search, gap, rounds)
    included, before = search.choose_first(), None
    while True:
        program = search.build_program(included)
        relaxed = relax_program(program.numbers, None if before is None else before.carry(program.names))
        before = NamedBasis.of(program.names, relaxed)
        if all(map(all, included)):
            return PromisingStays(program, relaxed, search.stays, [[0.0] * len(each) for each in included])
        if not relaxed.values:
            included = [[True] * len(each) for each in included]
            continue
        here = search.bound_relaxed(program, relaxed, included)
        if relaxed.bound - here.bound <= LEFT_SHARE * gap * abs(relaxed.objective):
            return here.of_program(program, relaxed, search.stays, included)
        included = _join_included(included, here.list_cheaper(included))
        del program, relaxed  # else two programs would be in memory while the next is built


def _relax_in_rounds(search: _StaySearch, gap: float, rounds: int) -> PromisingStays:
    """The relaxation of so many rounds. Each is solved anew: from the basis of the round before it takes up to six
    times as long."""
    best, nearest, number = search.bound_full_use(), NEAREST, 0
    included = search.list_nearest(best, nearest)
    while True:
        program, number = search.build_program(included), number + 1
        relaxed = relax_program(program.numbers)
        if not relaxed.values:
            if all(map(all, included)):
                return PromisingStays(program, relaxed, search.stays, [[0.0] * len(each) for each in included])
            nearest *= NEAREST
            included = search.list_nearest(best, nearest)
            continue
        here = search.bound_relaxed(program, relaxed, included)
        between = [search.bound_between(best, here, share) for share in ROUND_SHARES]
        best = max((best, here, *between), key=lambda each: each.bound)
        if number >= rounds or relaxed.objective - best.bound <= LEFT_SHARE * gap * abs(relaxed.objective):
            return best.of_program(program, relaxed, search.stays, included)
        joined = _join_included(*(each.list_cheapest(included) for each in between))
        included = joined if joined != included else here.list_cheapest(included)
        del program, relaxed


def _join_included(*several: Sequence[Sequence[bool]]) -> list[list[bool]]:
    """The stays that are included in any of several."""
    return [[any(there) for there in zip(*of_need, strict=True)] for of_need in zip(*several, strict=True)]


class PricedStays(NamedTuple):
    """The least costs of stays at some prices, and the bound that follows: the cheapest stay of each workload, and the
    `rest`, which no choice of stays changes."""

    prices: NodePrices
    costs: list[list[float]]
    rest: float
    bound: float

    @classmethod
    def of(cls, prices: NodePrices, costs: list[list[float]], rest: float) -> PricedStays:
        """With the bound."""
        return cls(prices, costs, rest, math.fsum(min(each) for each in costs if each) + rest)

    def of_program(
        self, program: PlaceProgram, relaxed: Solution, stays: list[list[Stay]], included: Sequence[Sequence[bool]]
    ) -> PromisingStays:
        """The relaxed program of the stays that are included, with this bound."""
        losses = [
            [cost - min(costs) for cost in costs] if costs else [0.0] * len(are_there)
            for costs, are_there in zip(self.costs, included, strict=True)
        ]
        return PromisingStays(program, replace(relaxed, bound=self.bound), stays, losses)

    def list_cheapest(self, included: Sequence[Sequence[bool]]) -> list[list[bool]]:
        """The stays that are included, and the cheapest of each workload."""
        cheapest = [min(range(len(costs)), key=costs.__getitem__, default=None) for costs in self.costs]
        return [
            [there or number == least for number, there in enumerate(are_there)]
            for are_there, least in zip(included, cheapest, strict=True)
        ]

    def list_cheaper(self, included: Sequence[Sequence[bool]]) -> list[list[bool]]:
        """Whether a stay costs less than those of its workload that are included."""
        least = [
            min(compress(costs, are_there), default=-math.inf)
            for costs, are_there in zip(self.costs, included, strict=True)
        ]
        return [
            [cost < of_need for cost in costs] if costs else [False] * len(are_there)
            for costs, are_there, of_need in zip(self.costs, included, least, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class _StaySearch:
    """All stays of a strategy by workload, with their least costs: None of workloads that are settled, of which all are
    included."""

    setting: PlanningContext
    allowed: StrategyScope
    stays: list[list[Stay]]
    costs: list[LeastCosts | LeastDeadlineCosts | None]
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
            need.may_spread or not each or any(stay.last_month < months for stay in each)
            for need, each in zip(needs, stays, strict=True)
        ]
        costs = [
            None if includes_all else least_costs(each, by_deadline=need.deadline is not None)
            for need, each, includes_all in zip(needs, stays, settled, strict=True)
        ]
        groups, blocks = list_groups(setting, allowed), np.array(setting.demands.block_hours)
        offers = list_offers(groups, allowed.shared, months)
        return cls(setting, allowed, stays, costs, groups, offers, blocks, StayPricer(offers, blocks, months))

    def choose_first(self) -> list[list[bool]]:
        """Of each workload the stays that cost less with commitments in full use than the cheapest home alone, and some
        in any case."""
        prices = self._price(None)
        return [
            [True] * len(stays) if costs is None else self._choose_of(need, stays, costs.at(prices))
            for need, (stays, costs) in enumerate(zip(self.stays, self.costs, strict=True))
        ]

    def build_program(self, included: Sequence[Sequence[bool]]) -> PlaceProgram:
        """The program by place of the stays that are included."""
        stays = [list(compress(stays, each)) for stays, each in zip(self.stays, included, strict=True)]
        return build_place_program(self.setting, self.allowed, stays)

    def bound_full_use(self) -> PricedStays:
        """At the prices of units that are all in full use. These are a bound where no unit is worth having by itself;
        workloads that are settled add nothing to it."""
        is_bound = all(start.present_cost >= 0 for item in self.allowed.shared for start in item.starts)
        prices = self._price(None)
        return PricedStays.of(prices, self._price_stays(prices), 0.0 if is_bound else -math.inf)

    def bound_relaxed(
        self, program: PlaceProgram, relaxed: Solution, included: Sequence[Sequence[bool]]
    ) -> PricedStays:
        """At the prices of a relaxation of those `included`, none of which costs less than its work is worth there."""
        work_values = self._value_work(program, relaxed)
        prices, rest = self._price_relaxed(program, relaxed), relaxed.bound - math.fsum(work_values)
        costs = [
            [max(cost, value) if there else cost for cost, there in zip(of_need, are_there, strict=True)]
            if of_need
            else []
            for of_need, are_there, value in zip(self._price_stays(prices), included, work_values, strict=True)
        ]
        return PricedStays.of(prices, costs, rest)

    def bound_between(self, one: PricedStays, other: PricedStays, share: float) -> PricedStays:
        """At prices between those of two bounds, with a `share` of the other."""
        prices = one.prices.blend(other.prices, share)
        rest = (1 - share) * one.rest + share * other.rest
        return PricedStays.of(prices, self._price_stays(prices), rest)

    def _price_stays(self, prices: NodePrices) -> list[list[float]]:
        """The least cost of each stay; none of those that are settled."""
        return [[] if costs is None else costs.at(prices) for costs in self.costs]

    def list_nearest(self, priced: PricedStays, most: int) -> list[list[bool]]:
        """Whether a stay is one of the cheapest of its workload in the cloud, or of those on owned nodes: all of
        workloads that are settled."""
        included = []
        for stays, costs in zip(self.stays, priced.costs, strict=True):
            ranked = sorted(range(len(costs)), key=costs.__getitem__)
            owned = [number for number in ranked if is_owned_place(stays[number].place)]
            cloud = [number for number in ranked if not is_owned_place(stays[number].place)]
            near = {*cloud[:most], *owned[:most]}
            included.append([not costs or number in near for number in range(len(stays))])
        return included

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

    def _value_work(self, by_place: PlaceProgram, relaxed: Solution) -> list[float]:
        """The value of all work of each workload in a relaxation (the multiplier of its row, which is scaled); 0 of
        those that are settled."""
        work_values, program = [0.0] * len(self.stays), by_place.program
        for row, need in enumerate(program.row_need):
            if need >= 0 and self.costs[need] is not None:
                work_values[need] = relaxed.multipliers[row] / program.row_scale[row]
        return work_values

    def _price_relaxed(self, by_place: PlaceProgram, relaxed: Solution) -> NodePrices:
        """The prices that the multipliers of a relaxation are."""
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
        return self._price(CapacityPrices(by_place.capacity, unit_values, left))

    def _price(self, known: CapacityPrices | None) -> NodePrices:
        demands, months = self.setting.demands, self.setting.terms.months
        return price_nodes(self.groups, self.allowed.shared, demands.block_hours, months, known)
