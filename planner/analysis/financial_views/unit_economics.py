"""Unit economics: the cost of a workload's work per readable amount of it, as cash and as present cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

from planner.finance.cashflow import present_cost
from planner.optimization.cost_allocation import allocate_costs
from planner.optimization.solution import PlanningContext
from planner.optimization.strategy import SolvedStrategy
from planner.result.financial_views import UnitCost

USUAL_SCALES = {"token": 1e6, "request": 1e3, "sample": 1e3, "image": 1e3}
"""How many units a cost is usually quoted for; 1 of every other unit (job, accelerator-hour ...)."""
SCALE_WORDS = {1e3: "thousand", 1e6: "million", 1e9: "billion"}
READABLE_COST_MIN = 0.001
"""A smaller cost is quoted for a thousand times as many."""


def compute_unit_costs(solved: Sequence[SolvedStrategy], setting: PlanningContext) -> tuple[UnitCost, ...]:
    """One row for each workload and strategy that does its work; a workload has one quoting unit in all of them."""
    least: dict[str, float] = {}
    for cost in (cost for each in solved for cost in each.strategy.workloads if cost.units):
        least[cost.workload] = min(cost.cost_per_unit, least.get(cost.workload, math.inf))
    return tuple(row for each in solved for row in _compute_strategy_unit_costs(each, setting, least))


def _compute_strategy_unit_costs(
    solved: SolvedStrategy, setting: PlanningContext, least: Mapping[str, float]
) -> list[UnitCost]:
    names = (need.workload.name for need in setting.demands.needs)
    at_present = partial(present_cost, rate_monthly=setting.terms.discount_rate_monthly)
    present = dict(zip(names, allocate_costs(solved.decisions, setting, at_present), strict=True))
    rows = []
    for cost in solved.strategy.workloads:
        if not cost.units:
            continue
        per, each = find_quoting_unit(cost.unit, least[cost.workload])
        discounted = present[cost.workload]
        rows.append(
            UnitCost(
                solved.strategy.name,
                cost.workload,
                cost.team,
                cost.units,
                per,
                each,
                cost.cost,
                discounted,
                cost.cost / cost.units * per,
                discounted / cost.units * per,
            )
        )
    return rows


def find_quoting_unit(unit: str, cost_of_one: float) -> tuple[float, str]:
    """How many of a unit to quote a cost for, and in words.

    >>> find_quoting_unit("output tokens", 2e-8), find_quoting_unit("jobs", 3.5), find_quoting_unit("samples", 5e-8)
    ((1000000.0, 'million output tokens'), (1.0, 'job'), (1000000.0, 'million samples'))
    """
    single = unit[:-1] if unit.endswith("s") and not unit.endswith("ss") else unit
    scale = next((usual for word, usual in USUAL_SCALES.items() if single.casefold().endswith(word)), 1.0)
    while 0 < cost_of_one * scale < READABLE_COST_MIN and scale < max(SCALE_WORDS):
        scale *= 1e3
    return scale, f"{SCALE_WORDS[scale]} {unit}" if scale in SCALE_WORDS else single
