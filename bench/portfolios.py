"""Portfolios of many workloads: how near to a proven optimum a plan is, and after how long.

The bound holds for the whole program whatever was left out of the search (planner/optimization/place_program.py).
Workloads are made from a seed over the shipped catalogue.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import partial

from measure import Figure
from portfolio import portfolio, setting_of

from planner.optimization.plan_search import search_plan
from planner.optimization.strategy import strategy_scope
from pricing.catalog.price_catalog import Catalog

SIZES = (
    (14, 12, "quick", 1, 5), (14, 12, "standard", 6, 0.05),
    (10, 36, "quick", 1, 5), (10, 36, "standard", 15, 0.15),
    (50, 36, "quick", 3, 5), (100, 60, "quick", 12, 5),
)  # fmt: skip
"""Workloads, months, effort, and the goals: seconds, and percent above the bound."""


def portfolios() -> Iterator[Figure]:
    """Hybrid plans of made portfolios over the shipped catalogue: seconds, and percent above the bound of the whole."""
    for workloads, months, effort, goal_s, goal_percent in SIZES:
        yield from one(workloads, months, effort, goal_s, goal_percent)


def one(workloads: int, months: int, effort: str, goal_s: float, goal_percent: float) -> Iterator[Figure]:
    title = f"{workloads} workloads x {months} months, {effort}"
    began = time.process_time()
    setting = setting_of(portfolio(workloads, months, effort=effort), Catalog.embedded())
    found = search_plan(setting, partial(strategy_scope, "hybrid"))
    took, best = time.process_time() - began, found.solution
    above = 100 * (best.objective - best.bound) / best.objective
    sys.stderr.write(f"  {title}: {best.objective:,.0f}, {above:.3f} % above the bound, {took:.1f} s\n")
    yield Figure(f"{title}: {len(found.program.columns):,} of {found.columns:,} columns", took * 1000,
                 took / goal_s, f"{goal_s:g} s", 1.0)  # fmt: skip
    yield Figure(f"{title}: above the bound", above, above / goal_percent, f"{goal_percent:g} %", 1.0, unit="%")
