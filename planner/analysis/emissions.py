"""Energy and carbon of a solved strategy by month and place, and gaps in their figures."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator

from planner.optimization.solution import PlanningContext
from planner.optimization.strategy import SolvedStrategy
from planner.result import Emission, Gap
from planner.supply.carbon import NodeEnergy, find_carbon_gap, node_energy
from planner.supply.payments import delivered_months
from planner.supply.resources import Resource


def list_emissions(solved: SolvedStrategy, setting: PlanningContext) -> tuple[Emission, ...]:
    """A row for each month and place with nodes that work or are there, by month, owned nodes first."""
    hours: dict[tuple[int, str, str], list[float]] = defaultdict(list)
    energies: dict[tuple[int, str, str], list[tuple[NodeEnergy, float]]] = defaultdict(list)
    for use in solved.decisions.shares:
        resource = setting.market.resources[use.candidate.resource]
        energy, key = _energy_of(resource, setting), (use.month, resource.provider, resource.region)
        hours[key].append(use.node_hours)
        kwh = math.nan if energy.work_kw is None else (energy.work_kw - energy.idle_kw) * use.node_hours
        energies[key].append((energy, kwh))
    for order in solved.decisions.bought:
        if order.resource.node is not None:
            energy = _energy_of(order.resource, setting)
            kwh = energy.idle_kw * setting.terms.hours_per_month * order.quantity
            for month in delivered_months(order.resource, order.month, setting.assumptions, setting.terms):
                energies[month, "", ""].append((energy, kwh))
    return tuple(_sum_emission(*key, math.fsum(hours[key]), energies[key]) for key in sorted(energies))


def find_emission_gaps(solved: SolvedStrategy, setting: PlanningContext) -> Iterator[Gap]:
    """The powers and grids that are unknown where nodes work or are there."""
    used = [setting.market.resources[use.candidate.resource] for use in solved.decisions.shares]
    owned = [order.resource for order in solved.decisions.bought if order.resource.node is not None]
    for resource in dict.fromkeys((*used, *owned)):
        gap = find_carbon_gap(resource, _energy_of(resource, setting))
        if gap is not None:
            yield gap


def _energy_of(resource: Resource, setting: PlanningContext) -> NodeEnergy:
    return node_energy(resource, setting.rules.carbon, setting.assumptions)


def _sum_emission(
    month: int, provider: str, region: str, node_hours: float, parts: list[tuple[NodeEnergy, float]]
) -> Emission:
    """The sums of a place; unknown as soon as a part of them is."""
    kwh = math.fsum(each for _, each in parts)
    grid = parts[0][0].kg_per_kwh  # of one place
    energy = None if math.isnan(kwh) else kwh
    carbon = None if energy is None or grid is None else energy * grid
    return Emission(month, provider, region, node_hours, energy, carbon)
