"""The site of owned nodes: costs of space, power and people, per node and month.

Powers are in kW at the wall of the server; site power is that times PUE, cooling included.
"""

from __future__ import annotations

import math

from planner.finance.symbolic import larger_of
from planner.finance.time_value import capital_recovery_factor
from planner.request.assumptions import Assumptions
from planner.request.ownership import Site
from pricing.units import HOURS_PER_YEAR


def rack_fraction(rack_units: float | None, max_power_kw: float, assumptions: Assumptions) -> float:
    """The part of a rack that a node takes: by rack units or by power, whichever is more; by power alone where its
    height is unknown."""
    by_power = max_power_kw / assumptions["rack_power_kw"].value
    return larger_of(by_power, (rack_units or 0.0) / assumptions["rack_units_usable"].value)


def rent_per_month(
    site: Site, rack_units: float | None, max_power_kw: float, assumptions: Assumptions, rate_monthly: float
) -> float:
    """Rent of the place per month: by the kW contracted, by the rack, or one's own room paid off over its life."""
    if site.facility == "colocation_per_rack":
        return rack_fraction(rack_units, max_power_kw, assumptions) * assumptions["colocation_per_rack_month"].value
    if site.facility == "own_room":
        months = round(assumptions["own_room_life_months"].value)
        built = max_power_kw * assumptions["own_room_per_kw"].value
        return built * capital_recovery_factor(rate_monthly, months)
    return max_power_kw * assumptions["colocation_per_kw_month"].value


def idle_energy_cost(site: Site, max_power_kw: float, assumptions: Assumptions, hours: float) -> float:
    """Cost of the idle draw in so many hours, with the demand charge of the month: paid whether or not the node works.

    A node draws P_idle + (P_work - P_idle) x use, with P_work = server_power_fraction x its maximum and P_idle =
    idle_draw_fraction x P_work.
    """
    charge = max_power_kw * assumptions["pue"].value * assumptions["electricity_demand_charge_per_kw_month"].value
    idle = assumptions["idle_draw_fraction"].value
    return 0.0 if site.energy_included else _energy_cost(max_power_kw, assumptions, hours) * idle + charge


def working_energy_cost(site: Site, max_power_kw: float, assumptions: Assumptions, hours: float) -> float:
    """Cost of so many hours of work on top of the idle draw."""
    saved = 1 - assumptions["idle_draw_fraction"].value
    return 0.0 if site.energy_included else _energy_cost(max_power_kw, assumptions, hours) * saved


def _energy_cost(max_power_kw: float, assumptions: Assumptions, hours: float) -> float:
    """Cost of the draw at work, metered at the site: PUE adds cooling and losses."""
    draw_kw = max_power_kw * assumptions["server_power_fraction"].value
    return draw_kw * assumptions["pue"].value * hours * assumptions["electricity_price_per_kwh"].value


def staff_cost_per_month(site: Site, accelerators: float, assumptions: Assumptions) -> float:
    """Operators' cost a month by the share of one that a node takes; 0 where they are hired one by one for all."""
    if site.staff == "whole":
        return 0.0
    share = accelerators / assumptions["accelerators_per_staff"].value
    return share * assumptions["staff_cost_annual"].value / 12


def operator_count(accelerators: float, assumptions: Assumptions) -> int:
    """Operators hired one by one for so many accelerators: none for none, else at least the least number.

    The solver has the same rule as rows (`limit_constraints`).
    """
    if accelerators <= 0:
        return 0
    # The tolerance keeps a ratio that rounding puts a hair above a whole number from hiring one more.
    needed = math.ceil(accelerators / assumptions["accelerators_per_staff"].value - 1e-9)
    return max(math.ceil(assumptions["staff_minimum"].value), needed)


def available_fraction(accelerators: float, assumptions: Assumptions) -> float:
    """The share of its hours in which a node works: 1 - failures a year x hours of repair / 8,760, not below 0."""
    failures = assumptions["accelerator_failures_annual"].value * accelerators
    return max(0.0, 1 - failures * assumptions["repair_hours"].value / HOURS_PER_YEAR)
