"""Cost of a core for an hour: the server's price over all core-hours of its life, and its power."""

from __future__ import annotations

import math
from collections.abc import Mapping

from planner.finance.time_value import break_even
from planner.request.field_types import Amount, Positive
from planner.studies.comparison import Nested
from planner.studies.conventions import FullCost, PlanningConventions, build_study_node, count_published_costs
from planner.studies.formulas import cost_per_unit
from planner.studies.inputs import Amounts, PositiveFraction, StudyInputs, apply_to_each
from pricing.units import HOURS_PER_YEAR

LEAVES_OUT = "It leaves out interest, resale, support and staff, and idle hours unless a utilisation is stated."


class CoreHourInputs(StudyInputs):
    """One server; power is drawn around the clock."""

    server_usd: Amount
    cores: Positive
    years: Positive
    hours_per_year: Positive = HOURS_PER_YEAR
    server_kw: Amount = 0.0
    all_in_power_usd_per_kwh: Amount = 0.0
    pue: Positive = 1.0
    utilisation: PositiveFraction = 1.0
    cloud_usd_per_core_hour: Amounts | None = None

    def of_a_core(self, usd_per_hour: float) -> float:
        return cost_per_unit(usd_per_hour, self.cores * self.utilisation)


INPUTS = CoreHourInputs


def outputs(inputs: CoreHourInputs) -> Mapping[str, Nested]:
    costs = count_published_costs(
        build_study_node(inputs.server_usd, inputs.server_kw, 0),
        pue=inputs.pue,
        electricity_price_per_kwh=inputs.all_in_power_usd_per_kwh,
    )
    capital = inputs.of_a_core(cost_per_unit(costs.capital, inputs.years * inputs.hours_per_year))
    power = inputs.of_a_core(costs.energy)
    total = math.fsum((capital, power))
    results: dict[str, Nested] = {
        "capital_usd_per_core_hour": capital,
        "power_usd_per_core_hour": power,
        "total_usd_per_core_hour": total,
    }
    if inputs.cloud_usd_per_core_hour is not None:
        fixed = total * inputs.utilisation
        results["breakeven_utilisation"] = apply_to_each(
            lambda rent: break_even(0.0, 0.0, rent, level_per_period=fixed)[1], inputs.cloud_usd_per_core_hour
        )
    return results


def full_cost(inputs: CoreHourInputs, house: PlanningConventions) -> FullCost:
    per_hour = house.per_hour(build_study_node(inputs.server_usd, inputs.server_kw, 0))
    return FullCost(
        {"own_usd_per_core_hour": inputs.of_a_core(per_hour)},
        f"{house.all_in}; no staff, which we count by accelerators: there are none",
    )
