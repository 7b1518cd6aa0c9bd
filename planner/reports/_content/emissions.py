"""Energy and carbon as a section of the readable report; csv, json and xlsx have each month."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable

from planner.reports._content.number_format import NO_VALUE, format_money, format_number
from planner.reports._content.sections import Section, make_table
from planner.result import Emission, Plan, Strategy
from pricing.counted_nouns import format_count
from pricing.frozen_values import dataclass

OWN_SITE = "site of owned nodes"
NOTE = (
    "At the meter of the site, by the mean emission of its grid (location-based). Not known is left out of the sums and"
    " listed under gaps; it is not zero."
)


@dataclass(frozen=True, slots=True)
class EmissionSum:
    """Sums of known figures, and the node-hours of which the emission is not known."""

    node_hours: float
    energy_kwh: float
    carbon_kg: float
    unknown_node_hours: float
    is_known: bool


def sum_emissions(rows: Iterable[Emission]) -> EmissionSum:
    """The sums of rows of a strategy."""
    rows = tuple(rows)
    return EmissionSum(
        math.fsum(row.node_hours for row in rows),
        math.fsum(row.energy_kwh or 0.0 for row in rows),
        math.fsum(row.carbon_kg or 0.0 for row in rows),
        math.fsum(row.node_hours for row in rows if row.carbon_kg is None),
        all(row.carbon_kg is not None for row in rows),
    )


def emissions_section(plan: Plan, chosen: Strategy) -> Section | None:
    """The recommended strategy by place and the others in sum; None where no node works."""
    if not chosen.emissions:
        return None
    by_place: dict[str, list[Emission]] = defaultdict(list)
    for row in chosen.emissions:
        by_place[place_name(row)].append(row)
    rows = [(place, *_format_sum(sum_emissions(its))) for place, its in by_place.items()]
    rows.append((f"total of {chosen.name}", *_format_sum(sum_emissions(chosen.emissions))))
    others = [s for s in plan.strategies if s.name != chosen.name and s.emissions]
    rows += [(f"for comparison: {each.name}", *_format_sum(sum_emissions(each.emissions))) for each in others]
    titles = ("where", "node-hours", "kWh", "kg CO2e", "g per kWh", "node-hours not known")
    return Section(
        f"Energy and carbon, {format_count(plan.months, 'month')}", (make_table(titles, rows, range(1, 6)), NOTE)
    )


def place_name(row: Emission) -> str:
    """Where the nodes of a row are."""
    return f"{row.provider} {row.region}" if row.provider else OWN_SITE


def _format_sum(each: EmissionSum) -> tuple[str, ...]:
    carbon = format_money(each.carbon_kg)
    if not each.is_known:
        carbon = f"at least {carbon}" if each.carbon_kg else "not known"
    grid = format_number(1000 * each.carbon_kg / each.energy_kwh) if each.is_known and each.energy_kwh else NO_VALUE
    return (
        format_money(each.node_hours),
        format_money(each.energy_kwh),
        carbon,
        grid,
        NO_VALUE if each.is_known else format_money(each.unknown_node_hours),
    )
