"""Asks where the demand of a workload and its budget differ by more than a factor of five at list prices."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from planner.inputs.cell_grid import Cell
from planner.inputs.reading_log import ReadingLog
from pricing.errors import UnknownName

if TYPE_CHECKING:
    from pricing.catalog.price_catalog import Catalog

FACTOR_MAX = 5.0
COMPARABLE_CURRENCIES = ("", "USD", "EUR", "GBP", "CHF", "CAD", "AUD")
"""Currencies of which one is within a factor of two of a dollar; none stated is the plan's, a dollar by default."""
BOTH = "both"


def ask_about_budgets(log: ReadingLog, catalog: Catalog | None) -> None:
    """Adds a doubt for each workload whose budget a month is far from what its hours cost on demand."""
    if catalog is None or log.amount[0] not in COMPARABLE_CURRENCIES:
        return
    stated = [(index, each) for index, each in enumerate(log.workloads) if each.get("budget_per_month")]
    hours = [_mean_hours(each) for each in log.workloads] if stated else []
    for index, workload in stated:
        price = _hourly_price(catalog, workload["demand"].get("accelerator", ""))
        if price is None or not hours[index]:
            continue
        cost, budget = price * hours[index], workload["budget_per_month"]
        ratio = cost / budget
        if 1 / FACTOR_MAX <= ratio <= FACTOR_MAX:
            continue
        place = log.places.get(f"workloads[{index}].budget_per_month", "")
        costs = f"the demand costs about {cost:,.0f} USD a month on demand"
        question = f"{costs}, {ratio:.2g} times the budget: are both right?"
        change = (max(ratio, 1 / ratio) - 1) * hours[index] / math.fsum(hours)
        cell = Cell(place, f"{budget:,.15g}")
        log.doubts.decide(f"budget: {workload['name']}", cell, question, {BOTH: 1.0}, BOTH, index, change=change)


def _mean_hours(workload: Mapping[str, Any]) -> float:
    """Accelerator-hours in the mean month with demand; 0 for demand in other units."""
    value = workload["demand"].get("accelerator_hours_per_month", 0.0)
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
    used = [each for each in values if each]
    return math.fsum(used) / len(used) if used else 0.0


def _hourly_price(catalog: Catalog, accelerator: str) -> float | None:
    """The median of the prices on demand of an hour of one accelerator, in USD; None where there is none."""
    try:
        names = {catalog.names.resolve(accelerator).name} if accelerator else set[str]()
    except UnknownName:
        return None
    quotes = catalog.quotes(accelerators=names, options=("on_demand",))
    prices = [
        quote.price.price_per_hour / quote.offering.accelerator_count
        for quote in quotes
        if quote.offering.accelerator_count and quote.price.currency == "USD"
    ]
    return statistics.median(prices) if prices else None
