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

from planner.optimization.plan_search import SearchedPlan, search_plan
from planner.optimization.search_end import budget_of_plan, limit_work
from planner.optimization.search_limits import EFFORTS
from planner.optimization.strategy import strategy_scope
from planner.request.models import Request
from planner.result import StrategyName
from pricing.catalog.price_catalog import Catalog

SIZES: tuple[tuple[int, int, str, StrategyName, float, float], ...] = (
    (14, 12, "quick", "hybrid", 1, 5), (14, 12, "standard", "hybrid", 6, 0.05),
    (10, 36, "quick", "hybrid", 1, 5), (10, 36, "standard", "hybrid", 15, 0.15),
    (50, 36, "quick", "hybrid", 3, 5), (100, 60, "quick", "hybrid", 12, 5),
    (1000, 60, "quick", "cloud", 20, 5),
)  # fmt: skip
"""Workloads, months, effort, strategy, and the goals: seconds, and percent above the bound."""


def portfolios() -> Iterator[Figure]:
    """Plans of made portfolios over the shipped catalogue: seconds, and percent above the bound of the whole."""
    for size in SIZES:
        yield from one(*size)


def one(
    workloads: int, months: int, effort: str, strategy: StrategyName, goal_s: float, goal_percent: float
) -> Iterator[Figure]:
    title = f"{workloads} workloads x {months} months, {strategy}, {effort}"
    began = time.process_time()
    found = planned(portfolio(workloads, months, effort=effort, strategies=[strategy]))
    took, best = time.process_time() - began, found.solution
    above = 100 * (best.objective - best.bound) / best.objective
    sys.stderr.write(f"  {title}: {best.objective:,.0f}, {above:.3f} % above the bound, {took:.1f} s\n")
    yield Figure(f"{title}: {len(found.program.columns):,} of {found.columns:,} columns", took * 1000,
                 took / goal_s, f"{goal_s:g} s", 1.0)  # fmt: skip
    yield Figure(f"{title}: above the bound", above, above / goal_percent, f"{goal_percent:g} %", 1.0, unit="%")


def planned(request: Request) -> SearchedPlan:
    """The plan of a request's only strategy, within the budget that a plan has, without reports."""
    setting = setting_of(request, Catalog.embedded())
    budget = budget_of_plan(EFFORTS[setting.effort].budget, len(request.workloads) * request.months)
    with limit_work(budget):
        return search_plan(setting, partial(strategy_scope, request.strategies[0]))
