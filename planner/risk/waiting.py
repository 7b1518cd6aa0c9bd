"""What it costs to buy later: a strategy solved again where nothing owned can be ordered in the first months."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from planner.answer import StrategyName
from planner.answer.risk import Wait
from planner.candidates import Resource
from planner.model import Allowed, build
from planner.optimize import solve
from planner.replay import Setting
from planner.strategy import Solved, allowed

OWNING: tuple[StrategyName, ...] = ("onprem", "hybrid")


def waits(months: Sequence[int], solved: Sequence[Solved], setting: Setting) -> tuple[Wait, ...]:
    """Every wait asked for, for each strategy that may own and can be."""
    rows = []
    for each in solved:
        if each.strategy.name not in OWNING or each.strategy.status == "infeasible":
            continue
        at_once = each.strategy.present_cost
        for wait in sorted(set(months)):
            cost, nodes = _after(each, wait, setting)
            rows.append(Wait(each.strategy.name, wait, cost, None if cost is None else cost - at_once, nodes))
    return tuple(rows)


def _after(each: Solved, wait: int, setting: Setting) -> tuple[float | None, float]:
    """Present cost and nodes bought where the first order is possible `wait` months later; None where impossible."""
    at_once = math.fsum(b.quantity for b in each.decisions.bought if is_new_hardware(b.resource))
    if wait == 0 or not at_once:
        return each.strategy.present_cost, at_once
    rules = _later(allowed(each.strategy.name, setting), wait, setting.terms.months)
    program = build(setting, rules)
    solution = solve(program)
    if not solution.values:
        return None, 0.0
    nodes = (
        round(value)
        for column, value in zip(program.columns, solution.values, strict=True)
        if column.kind == "start" and is_new_hardware(rules.shared[column.owner].resource)
    )
    return solution.objective, math.fsum(nodes)


def _later(rules: Allowed, wait: int, months: int) -> Allowed:
    """New hardware ordered after the wait only; what the cloud bridges until a first delivery, it bridges longer."""
    shared = []
    for item in rules.shared:
        starts = item.starts
        if is_new_hardware(item.resource):
            starts = tuple(start for start in starts if start.month > wait)
        if starts:
            shared.append(replace(item, starts=starts))
    return Allowed(tuple(shared), tuple(min(until + wait, months) for until in rules.hourly_until))


def is_new_hardware(resource: Resource) -> bool:
    """Whether it is bought, and not there already."""
    return resource.node is not None and resource.held is None
