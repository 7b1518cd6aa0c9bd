"""Served models whose arrivals are divided over types of accelerators in one region, where that costs less.

A service that allows it (`serving.mixed_accelerators`) becomes parts: services of their own, each with a fixed share of
the arrivals of every hour on one type of accelerator, in one region, with replicas for its share alone. Replicas are
whole, so that two sizes of them leave less unused than one (Griggs et al. 2024, arXiv:2404.14527, who call it Melange).

The cost of a part rises in steps with its share, that of the rest falls, so the least cost of two is at a share that
fills whole replicas of one of them in some hour. Those shares are priced by the hour on demand; the nearest to the best
are planned as the service alone with all ways of paying, and the least costly of these stays if the whole request costs
less with it. A part may be divided again.

Beside it the service as a whole, with replicas of any types in the region where it lives (`spread`, limited to that
region), is planned: shares that differ by hour, but only those of whole replicas out of all that one type would take.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from planner.analysis.risk import BaselinePlan
from planner.optimization.solution import PlanningContext
from planner.optimization.standing_work import SECONDS, count_nodes, count_replicas, list_standing_tasks
from planner.request.models import Request, Workload
from planner.result.message import Message, message
from planner.supply.candidates import Candidate
from planner.supply.costs import hourly_rates
from planner.workloads.demand import WorkloadDemand, scale_demand

Solve = Callable[[Request], BaselinePlan]
PARTS_MAX = 3
"""Types of accelerators of one service."""
REGIONS, RATES, PLANNED = 6, 3, 4
"""How much is priced and planned: regions with the least costs, different rates of arrivals of which replicas are full,
and divisions that are planned."""
LESS_BY = 1e-6
"""Of a cost: less than this is no saving."""


class _Part(NamedTuple):
    """A share of the arrivals on a type of accelerator."""

    accelerator: str
    share: float


class _Division(NamedTuple):
    """What two parts cost by the hour, and where they are."""

    cost: float
    provider: str
    region: str
    parts: tuple[_Part, _Part]


def divide_services(request: Request, solve: Solve) -> tuple[Request, tuple[Message, ...]]:
    """The request with its services in the parts that make its plan less costly, and a note for each. `solve` gives the
    strategies of a request without explanations."""
    notes: list[Message] = []
    least: float | None = None
    for workload in request.workloads:
        if workload.serving is None or not workload.serving.mixed_accelerators:
            continue
        parts = _divide_alone(request, workload, solve)
        note = message("service_not_divided", workload=workload.name)
        if parts != (workload,):
            others = (each for each in request.workloads if each.name != workload.name)
            divided = request.model_copy(update={"workloads": (*others, *parts)})
            least = _least_cost(solve(request)) if least is None else least
            if (cost := _least_cost(solve(divided))) < least * (1 - LESS_BY):
                note = _describe_division(workload, parts, least - cost, request.currency)
                request, least = divided, cost
        notes.append(note)
    return request, tuple(notes)


def _describe_division(workload: Workload, parts: Sequence[Workload], saved: float, currency: str) -> Message:
    place = f"{parts[0].providers[0]} {parts[0].regions[0]}"
    if len(parts) == 1:
        return message("service_mixed", workload=workload.name, place=place, saved=saved, currency=currency)
    return message(
        "service_divided", workload=workload.name, accelerators=[part.accelerators[0] for part in parts],
        shares=[_sum_rates(part) / _sum_rates(workload) for part in parts],
        place=place, saved=saved, currency=currency,
    )  # fmt: skip


def _sum_rates(workload: Workload) -> float:
    """Of the months that are stated: shares of the arrivals are the same in all of them."""
    rates = workload.demand.requests_per_second
    if isinstance(rates, dict):
        return math.fsum(rates.values())
    return math.fsum(rates) if isinstance(rates, list) else rates or 0.0


def _divide_alone(request: Request, workload: Workload, solve: Solve) -> tuple[Workload, ...]:
    """The parts of a service for which its plan alone costs least; itself where no division costs less."""

    def plan_alone(*parts: Workload) -> BaselinePlan:
        return solve(request.model_copy(update={"workloads": parts, "call_prices": ()}))

    best: tuple[Workload, ...] = (workload,)
    alone = plan_alone(workload)
    least = _least_cost(alone)
    together = [_mix_in_region(workload, *place) for place in _list_regions(alone)]
    while len(best) < PARTS_MAX:
        options = []
        for index, part in enumerate(best):
            others = [*best[:index], *best[index + 1 :]]
            barred = {name for other in others for name in other.accelerators}
            whole = part.model_copy(update={"accelerators": workload.accelerators})
            case = plan_alone(whole) if others else alone
            divisions = _list_divisions(case.setting, barred)
            options += [(*others, *_make_parts(workload, part, division)) for division in divisions]
        costs = [_least_cost(plan_alone(*parts)) for parts in options]
        if not costs or min(costs) >= least * (1 - LESS_BY):
            break
        least = min(costs)
        best = options[costs.index(least)]
    for mixed in together:
        if (cost := _least_cost(plan_alone(mixed))) < least * (1 - LESS_BY):
            best, least = (mixed,), cost
    return best


def _mix_in_region(workload: Workload, provider: str, region: str) -> Workload:
    """The service with replicas of any types in one region, whose shares differ by hour."""
    return workload.model_copy(update={"spread": True, "providers": (provider,), "regions": (region,)})


def _list_regions(case: BaselinePlan) -> list[tuple[str, str]]:
    """Where the least strategies rent."""
    rented = {(use.provider, use.region) for solved in case.solved for use in solved.strategy.uses if use.provider}
    return sorted(rented)


def _least_cost(case: BaselinePlan) -> float:
    """The present cost of the least strategy; infinite where none is possible."""
    possible = (solved.strategy for solved in case.solved if solved.strategy.status != "infeasible")
    return min((strategy.present_cost for strategy in possible), default=math.inf)


def _make_parts(workload: Workload, whole: Workload, division: _Division) -> tuple[Workload, ...]:
    """Services for the shares of a part of `workload`; data is stored once, for the first of them."""
    return tuple(
        whole.model_copy(
            update={
                "name": f"{workload.name} ({part.accelerator})",
                "demand": scale_demand(whole.demand, part.share),
                "accelerators": (part.accelerator,),
                "providers": (division.provider,),
                "regions": (division.region,),
                "storage_gb": 0.0 if index else whole.storage_gb,
                "egress_gb_per_month": whole.egress_gb_per_month * part.share,
                "transfer_gb_per_month": whole.transfer_gb_per_month * part.share,
            }
        )
        for index, part in enumerate(division.parts)
    )


def _list_divisions(setting: PlanningContext, barred: set[str]) -> list[_Division]:
    """Divisions of the one service of a plan over two types that are not `barred`: the least costly by the hour."""
    prices = _HourlyPrices(setting)
    regions: dict[tuple[str, str], dict[str, list[Candidate]]] = defaultdict(lambda: defaultdict(list))
    for candidate in setting.market.candidates:
        resource = setting.market.resources[candidate.resource]
        steady = candidate.resource in prices.rates and not resource.interrupts and resource.last_month is None
        if steady and resource.accelerator not in barred:
            regions[resource.provider, resource.region][resource.accelerator].append(candidate)
    floors = {
        place: min(prices.floor(each) for homes in types.values() for each in homes)
        for place, types in regions.items()
        if len(types) > 1
    }
    cheapest: dict[tuple[str, ...], _Division] = {}
    for place in sorted(floors, key=lambda each: (floors[each], each))[:REGIONS]:
        types = {name: prices.list_useful(homes) for name, homes in sorted(regions[place].items())}
        for division in _divide_at(prices, place, types):
            key = (*place, *sorted(part.accelerator for part in division.parts))
            if key not in cheapest or division.cost < cheapest[key].cost:
                cheapest[key] = division
    return sorted(cheapest.values())[:PLANNED]


def _divide_at(prices: _HourlyPrices, place: tuple[str, str], types: dict[str, list[Candidate]]) -> Iterator[_Division]:
    """Divisions between every two types of a region, the first with full replicas."""
    for full, homes in types.items():
        for home in homes:
            for share in prices.list_full_shares(home):
                cost = prices.cost(home, share)
                for other, rest in types.items():
                    if other != full:
                        both = cost + min(prices.cost(each, 1 - share) for each in rest)
                        yield _Division(both, *place, (_Part(full, share), _Part(other, 1 - share)))


@dataclass(slots=True)
class _HourlyPrices:
    """What shares of the one service of a plan cost at a home by the hour on demand. Costs are present costs."""

    setting: PlanningContext
    rates: dict[int, tuple[float, ...]] = field(init=False)
    need: WorkloadDemand = field(init=False)
    tasks: tuple[tuple[int, float, float], ...] = field(init=False)
    """Month (from 0), units and hours of each block with work."""
    _costs: dict[tuple[int, float, float], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        setting = self.setting
        self.rates = hourly_rates(setting.market, setting.assumptions, setting.terms)
        self.need = setting.demands.needs[0]
        self.tasks = tuple(
            (month, units, setting.demands.block_hours[block])
            for month, block, units in list_standing_tasks(self.need, setting.demands)
        )

    def cost(self, home: Candidate, share: float) -> float:
        """All hours of the whole nodes that stand for a share."""
        key = (home.resource, home.gang, share)
        if key not in self._costs:
            self._costs[key] = math.fsum(
                self.rates[home.resource][month] * hours * count_nodes(home, self.need, replicas)
                for month, units, hours in self.tasks
                for replicas in (count_replicas(home, self.need, units * share, hours),)
            )
        return self._costs[key]

    def floor(self, home: Candidate) -> float:
        """All work on parts of nodes that are in full use: less than any share costs in proportion."""
        rates = self.rates[home.resource]
        return math.fsum(rates[month] * units / home.units_per_node_hour for month, units, _ in self.tasks)

    def list_useful(self, homes: Sequence[Candidate]) -> list[Candidate]:
        """The homes that no other both costs less than in full use and has a node for less."""
        useful: list[Candidate] = []
        for home in sorted(homes, key=lambda each: (self.rates[each.resource][0], self.floor(each), each.resource)):
            if not useful or self.floor(home) < self.floor(useful[-1]):
                useful.append(home)
        return useful

    def list_full_shares(self, home: Candidate) -> list[float]:
        """Shares of the arrivals that fill whole replicas of a home, at some of the rates of arrivals."""
        rates = sorted({units / hours / SECONDS for _, units, hours in self.tasks}, reverse=True)
        assert home.queue is not None
        return home.queue.list_full_shares(home.gang_rate / SECONDS, rates[:: max(1, math.ceil(len(rates) / RATES))])
