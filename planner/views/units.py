"""Unit economics: what a workload's work costs per readable amount of it, as cash and as present cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

from planner.answer.views import UnitCost
from planner.cashflow import present_cost
from planner.replay import Setting
from planner.sharing import borne
from planner.strategy import Solved

USUAL = {"token": 1e6, "request": 1e3, "sample": 1e3, "image": 1e3}
"""How many units a cost is usually quoted for; 1 of every other unit (job, accelerator-hour ...)."""
WORDS = {1e3: "thousand", 1e6: "million", 1e9: "billion"}
READABLE = 0.001
"""A smaller cost is quoted for a thousand times as many."""


def unit_costs(solved: Sequence[Solved], setting: Setting) -> tuple[UnitCost, ...]:
    """One row for each workload and strategy that does its work; a workload is quoted alike in all of them."""
    least: dict[str, float] = {}
    for cost in (cost for each in solved for cost in each.strategy.workloads if cost.units):
        least[cost.workload] = min(cost.cost_per_unit, least.get(cost.workload, math.inf))
    return tuple(row for each in solved for row in _of_strategy(each, setting, least))


def _of_strategy(solved: Solved, setting: Setting, least: Mapping[str, float]) -> list[UnitCost]:
    names = (need.workload.name for need in setting.demands.needs)
    at_present = partial(present_cost, rate_monthly=setting.terms.discount_rate_monthly)
    present = dict(zip(names, borne(solved.decisions, setting, at_present), strict=True))
    rows = []
    for cost in solved.strategy.workloads:
        if not cost.units:
            continue
        per, each = quoted(cost.unit, least[cost.workload])
        worth = present[cost.workload]
        rows.append(
            UnitCost(
                solved.strategy.name,
                cost.workload,
                cost.team,
                cost.units,
                per,
                each,
                cost.cost,
                worth,
                cost.cost / cost.units * per,
                worth / cost.units * per,
            )
        )
    return rows


def quoted(unit: str, cost_of_one: float) -> tuple[float, str]:
    """How many of a unit to quote a cost for, and in words.

    >>> quoted("output tokens", 2e-8), quoted("jobs", 3.5), quoted("samples", 5e-8)
    ((1000000.0, 'million output tokens'), (1.0, 'job'), (1000000.0, 'million samples'))
    """
    single = unit[:-1] if unit.endswith("s") and not unit.endswith("ss") else unit
    scale = next((usual for word, usual in USUAL.items() if single.casefold().endswith(word)), 1.0)
    while 0 < cost_of_one * scale < READABLE and scale < max(WORDS):
        scale *= 1e3
    return scale, f"{WORDS[scale]} {unit}" if scale in WORDS else single
