"""Portfolios of many workloads: how near to a proven optimum a plan is, and after how long.

The bound holds for the whole program whatever was left out of the search (planner/optimization/dual_bounds.py).
Workloads are made from
a seed over the shipped catalogue.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

from measure import Figure
from portfolio import portfolio, setting_of

from planner.optimization.model import build_program
from planner.optimization.solver import solve_large
from planner.optimization.strategy import strategy_scope
from pricing.catalog.price_catalog import Catalog

SIZES = ((10, 36, 5, 0.1), (50, 36, 5, 0.1), (100, 60, 20, 0.5))
"""Workloads, months, seconds and percent: the goals."""


def portfolios() -> Iterator[Figure]:
    """Hybrid plans of made portfolios over the shipped catalogue: seconds, and percent above the bound of the whole."""
    for workloads, months, goal_s, goal_percent in SIZES:
        yield from one(workloads, months, goal_s, goal_percent)


def one(workloads: int, months: int, goal_s: float, goal_percent: float) -> Iterator[Figure]:
    title = f"{workloads} workloads x {months} months"
    began = time.perf_counter()
    setting = setting_of(portfolio(workloads, months), Catalog.embedded())
    rules = strategy_scope("hybrid", setting)
    program = build_program(setting, rules)
    sys.stderr.write(f"  {title}: {len(program.columns):,} columns after {time.perf_counter() - began:.1f} s\n")
    best = solve_large(program)
    took = time.perf_counter() - began
    above = 100 * (best.objective - best.bound) / best.objective
    yield Figure(f"{title}: {best.searched or len(program.columns):,} of {len(program.columns):,} columns", took * 1000,
                 took / goal_s, f"{goal_s:g} s", 1.0)  # fmt: skip
    yield Figure(f"{title}: above the bound", above, above / goal_percent, f"{goal_percent:g} %", 1.0, unit="%")
