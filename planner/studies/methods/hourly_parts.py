"""Own cost of an hour from yearly maintenance, monthly rent and, where given, power: each over the hours it is paid
for."""

from __future__ import annotations

import math
from collections.abc import Mapping

from planner.request.field_types import Amount, Positive
from planner.studies.comparison import Nested
from planner.studies.conventions import FullCost, PlanningConventions, build_study_node, count_published_costs
from planner.studies.formulas import cost_per_unit
from planner.studies.inputs import StudyInputs
from pricing.units import HOURS_PER_MONTH, HOURS_PER_YEAR

LEAVES_OUT = "It leaves out the capital itself, staff and network, and may divide by a year and a month that differ."


class HourlyCostSystem(StudyInputs):
    """One system; `cooling_usd_per_kwh` comes on top of the energy, instead of a PUE."""

    capex_usd: Amount
    maintenance_fraction_per_year: Amount = 0.0
    rack_usd_per_month: Amount = 0.0
    server_kw: Amount = 0.0
    pue: Positive = 1.0
    usd_per_kwh: Amount = 0.0
    cooling_usd_per_kwh: Amount = 0.0
    hours_per_year: Positive = HOURS_PER_YEAR
    hours_per_month_used_for_rent: Positive = HOURS_PER_MONTH

    def parts(self) -> dict[str, float]:
        costs = count_published_costs(
            build_study_node(self.capex_usd, self.server_kw, 0),
            hardware_support_fraction_annual=self.maintenance_fraction_per_year,
            pue=self.pue,
            electricity_price_per_kwh=self.usd_per_kwh + self.cooling_usd_per_kwh,
        )
        return {
            "maintenance": cost_per_unit(costs.support_per_year, self.hours_per_year),
            "colocation": cost_per_unit(self.rack_usd_per_month, self.hours_per_month_used_for_rent),
            "power_cooling": costs.energy,
        }


class HourlyPartsInputs(StudyInputs):
    """Systems by name; what they share may be given once for all of them."""

    systems: dict[str, HourlyCostSystem]


INPUTS = HourlyPartsInputs


def outputs(inputs: HourlyPartsInputs) -> Mapping[str, Nested]:
    parts = {name: system.parts() for name, system in inputs.systems.items()}
    results: dict[str, Nested] = {
        f"{part}_usd_per_hour": _one_or_all({name: costs[part] for name, costs in parts.items()})
        for part in ("maintenance", "colocation", "power_cooling")
    }
    results["onprem_usd_per_hour"] = {name: math.fsum(costs.values()) for name, costs in parts.items()}
    return results


def _one_or_all(figures: dict[str, float]) -> Nested:
    """A value that is the same for every system is one figure."""
    values = set(figures.values())
    return values.pop() if len(values) == 1 and len(figures) > 1 else dict(figures)


def full_cost(inputs: HourlyPartsInputs, house: PlanningConventions) -> FullCost:
    results: dict[str, Nested] = {}
    bases = []
    for name, system in inputs.systems.items():
        own, basis = house.system(name, system.capex_usd)
        bases.append(f"{name}: {basis}")
        if own is not None:
            results[name] = {
                "running_usd_per_hour": house.running_per_hour(own),
                "own_usd_per_hour": house.per_hour(own),
            }
    return FullCost(results, "; ".join([*bases, house.all_in]))
