"""The cost of delaying purchases: a strategy solved with no orders of hardware in the first months."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from planner.optimization.model import StrategyScope, build_program
from planner.optimization.solution import PlanningContext
from planner.optimization.solver import solve_program
from planner.optimization.strategy import SolvedStrategy, strategy_scope
from planner.result import StrategyName
from planner.result.risk import DelayedPurchase
from planner.supply.resources import Resource

OWNING_STRATEGIES: tuple[StrategyName, ...] = ("onprem", "hybrid")


def compute_delay_costs(
    months: Sequence[int], solved: Sequence[SolvedStrategy], setting: PlanningContext
) -> tuple[DelayedPurchase, ...]:
    """Every requested wait, for each feasible strategy that may own."""
    return tuple(
        _solve_delayed(each, wait, setting)
        for each in solved
        if each.strategy.name in OWNING_STRATEGIES and each.strategy.status != "infeasible"
        for wait in sorted(set(months))
    )


def _solve_delayed(each: SolvedStrategy, wait: int, setting: PlanningContext) -> DelayedPurchase:
    """The strategy where the first order is possible `wait` months later."""
    name, cost = each.strategy.name, each.strategy.present_cost
    at_once = math.fsum(b.quantity for b in each.decisions.bought if is_new_hardware(b.resource))
    if wait == 0 or not at_once:
        return DelayedPurchase(name, wait, cost, 0.0, at_once)
    rules = _delay_orders(strategy_scope(each.strategy.name, setting), wait, setting.terms.months)
    program = build_program(setting, rules)
    solution = solve_program(program)
    if not solution.values:
        return DelayedPurchase(name, wait, None, None, 0.0, is_known=solution.status != "unsolved")
    nodes = (
        round(value)
        for column, value in zip(program.columns, solution.values, strict=True)
        if column.kind == "start" and is_new_hardware(rules.shared[column.owner].resource)
    )
    return DelayedPurchase(name, wait, solution.objective, solution.objective - cost, math.fsum(nodes))


def _delay_orders(rules: StrategyScope, wait: int, months: int) -> StrategyScope:
    """New hardware is ordered after the wait only; the cloud bridges the time until its delivery for longer."""
    shared = []
    for item in rules.shared:
        starts = item.starts
        if is_new_hardware(item.resource):
            starts = tuple(start for start in starts if start.month > wait)
        if starts:
            shared.append(replace(item, starts=starts))
    return StrategyScope(tuple(shared), tuple(min(until + wait, months) for until in rules.hourly_until))


def is_new_hardware(resource: Resource) -> bool:
    """Whether it is hardware to be purchased, not existing."""
    return resource.node is not None and resource.held is None
