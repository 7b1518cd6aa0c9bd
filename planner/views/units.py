"""Unit economics: what a workload's work costs per readable amount of it, as cash and as present cost."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from planner import replay
from planner.answer.views import UnitCost
from planner.cashflow import present_cost
from planner.replay import Setting
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
    present = dict(zip(names, present_costs(solved, setting), strict=True))
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


def present_costs(solved: Solved, setting: Setting) -> list[float]:
    """Each workload's part of the present cost, in the order of the needs, shared as `replay.workload_costs` shares
    the cash: own use; what is bought by node-hours (committed money by what is drawn); overheads by all other costs."""
    rate, resources = setting.terms.discount_rate_monthly, setting.market.resources
    needs = range(len(setting.demands.needs))
    parts: list[list[float]] = [[] for _ in needs]
    used: dict[tuple[str, ...], dict[int, float]] = defaultdict(lambda: dict.fromkeys(needs, 0.0))
    for share in solved.decisions.shares:
        resource, need = resources[share.candidate.resource], share.candidate.need
        parts[need].append(present_cost(replay.use_payments(setting, share), rate))
        weight = resource.quote.price.price_per_hour if resource.pool and resource.quote is not None else 1.0
        used[resource.pool or resource.key][need] += share.node_hours * weight
    for bought in solved.decisions.bought:
        worth = present_cost(replay.purchase_payments(setting, bought), rate)
        _share(worth, used[bought.resource.key], parts)
    own = dict(enumerate(math.fsum(amounts) for amounts in parts))
    for overhead in solved.decisions.overheads:
        _share(present_cost(replay.overhead_payments(setting, overhead), rate), own, parts)
    return [math.fsum(amounts) for amounts in parts]


def _share(worth: float, weights: dict[int, float], parts: list[list[float]]) -> None:
    """Adds to every workload its part of `worth`; in equal parts where nothing tells them apart."""
    total = math.fsum(weights.values())
    for need, weight in weights.items():
        parts[need].append(worth * weight / total if total else worth / len(weights))
