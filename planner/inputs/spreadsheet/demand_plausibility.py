"""Asks where demand differs by more than a factor of five from its budget, or from the cost or the hours of last year.

Costs are those of its hours at list prices on demand.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from planner.inputs.cell_grid import Cell
from planner.inputs.reading_log import LastYear, ReadingLog
from pricing.errors import UnknownName

if TYPE_CHECKING:
    from pricing.catalog.price_catalog import Catalog

FACTOR_MAX = 5.0
COMPARABLE_CURRENCIES = ("", "USD", "EUR", "GBP", "CHF", "CAD", "AUD")
"""Currencies of which one is within a factor of two of a dollar; none stated is the plan's, a dollar by default."""
BOTH = "both"


def check_demand_plausibility(log: ReadingLog, catalog: Catalog | None) -> None:
    """Adds a doubt for each workload whose budget a month is far from the cost of its hours on demand, and for amounts
    of last year that are far from the demand."""
    _check_budgets(log, catalog)
    for stated in log.last_year:
        _check_last_year(log, stated, catalog)


def _check_budgets(log: ReadingLog, catalog: Catalog | None) -> None:
    if catalog is None or log.amount[0] not in COMPARABLE_CURRENCIES:
        return
    for index, workload in enumerate(log.workloads):
        budget = workload.get("budget_per_month")
        cost = _monthly_cost(catalog, workload, _mean_hours(workload)) if budget else None
        if budget and cost:
            place = log.places.get(f"workloads[{index}].budget_per_month", "")
            cell = Cell(place, f"{budget:,.15g}")
            costs = f"the demand costs about {cost:,.0f} USD a month on demand"
            _check_ratio(log, f"budget: {workload['name']}", cell, costs, cost / budget, "the budget", index)


def _check_last_year(log: ReadingLog, stated: LastYear, catalog: Catalog | None) -> None:
    """Compares with the reading of last year's amount that is nearest to the demand."""
    workloads = log.workloads if stated.workload < 0 else log.workloads[stated.workload : stated.workload + 1]
    hours = [_mean_hours(each, with_idle_months=True) for each in workloads]
    identity = f"last year's {stated.kind}: {stated.title}" if stated.kind else f"last year: {stated.title}"
    if stated.kind == "cost":
        if catalog is None or stated.currency not in COMPARABLE_CURRENCIES:
            return
        costs = [_monthly_cost(catalog, each, its) for each, its in zip(workloads, hours, strict=True)]
        demand = math.nan if None in costs else math.fsum(cost for cost in costs if cost is not None)
        text = f"the demand costs about {demand:,.0f} USD a month on demand"
    else:
        demand = math.fsum(hours) if stated.kind else stated.planned
        text = f"the demand is {demand:,.6g}{' hours a month' if stated.kind else ''}"
    ratios = [demand / amount for amount in stated.readings if amount and demand > 0]
    if ratios:
        nearest = min(ratios, key=lambda ratio: abs(math.log(ratio)))
        _check_ratio(log, identity, stated.cell, text, nearest, "last year's", stated.workload)


def _check_ratio(
    log: ReadingLog, identity: str, cell: Cell, demand: str, ratio: float, against: str, index: int
) -> None:
    """Adds the doubt, unless the ratio is within FACTOR_MAX."""
    if 1 / FACTOR_MAX <= ratio <= FACTOR_MAX:
        return
    every = [_mean_hours(each) for each in log.workloads]
    share = every[index] / math.fsum(every) if index >= 0 and any(every) else 1.0
    question = f"{demand}, {ratio:.2g} times {against}: are both right?"
    change = (max(ratio, 1 / ratio) - 1) * share
    log.doubts.decide(identity, cell, question, {BOTH: 1.0}, BOTH, index, change=change)


def _monthly_cost(catalog: Catalog, workload: Mapping[str, Any], hours: float) -> float | None:
    """The cost of its hours on demand; None where they, or the price, are not known."""
    price = _hourly_price(catalog, workload["demand"].get("accelerator", ""))
    return price * hours if price is not None and hours else None


def _mean_hours(workload: Mapping[str, Any], *, with_idle_months: bool = False) -> float:
    """Accelerator-hours in the mean month, of those with demand by default; 0 for demand in other units."""
    value = workload["demand"].get("accelerator_hours_per_month", 0.0)
    values = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else [value]
    used = values if with_idle_months else [each for each in values if each]
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
