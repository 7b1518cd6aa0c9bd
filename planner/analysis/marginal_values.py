"""Marginal values: the cost of one more unit of work in the recommended strategy, and the saving from a higher limit.

An integer program has no dual prices. So one per cent more work is solved with the purchases fixed, and a limit is
solved a tenth higher with everything else free.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal

from planner.optimization.linear_program import LinearProgram, raise_limit
from planner.optimization.model import build_program
from planner.optimization.solution import Decisions, PlanningContext
from planner.optimization.solver import solve_program
from planner.optimization.strategy import SolvedStrategy, strategy_scope
from planner.result import StrategyName
from planner.result.marginal_values import MarginalValue

MORE_WORK = 0.01
MORE_OF_A_LIMIT = 0.1
WORK = 1e7
"""Work of the search for each value; one that it does not find, nor prove impossible, is not known."""


def compute_marginal_values(
    solved: Iterable[SolvedStrategy], name: StrategyName | None, setting: PlanningContext, of_demand: bool
) -> tuple[MarginalValue, ...]:
    """One row for each limit of the request, in the strategy of that name, and with `of_demand` one for each workload:
    each is another program to solve."""
    chosen = next((each for each in solved if each.strategy.name == name), None)
    if chosen is None:
        return ()
    return (*(_value_more_demand(chosen, setting) if of_demand else ()), *_value_higher_limits(chosen, setting))


def _value_more_demand(chosen: SolvedStrategy, setting: PlanningContext) -> Iterator[MarginalValue]:
    name, now = chosen.strategy.name, chosen.strategy.present_cost
    needs = setting.demands.needs
    for index, need in enumerate(needs):
        more = replace(need, monthly=tuple(units * (1 + MORE_WORK) for units in need.monthly))
        grown = replace(setting.demands, needs=(*needs[:index], more, *needs[index + 1 :]))
        program = _build_with_fixed_purchases(name, replace(setting, demands=grown), chosen.decisions)
        yield _build_marginal("demand", need.workload.name, need.unit, need.total * MORE_WORK, program, now)


def _value_higher_limits(chosen: SolvedStrategy, setting: PlanningContext) -> Iterator[MarginalValue]:
    name, now = chosen.strategy.name, chosen.strategy.present_cost
    if not setting.rules.has_limits(setting.demands.needs):
        return
    program = build_program(setting, strategy_scope(name, setting))
    for limit in program.limits:
        added = limit.amount * MORE_OF_A_LIMIT or 1.0
        yield _build_marginal("limit", limit.title, limit.unit, added, raise_limit(program, limit, added), now)


def _build_marginal(
    kind: Literal["demand", "limit"], subject: str, unit: str, added: float, program: LinearProgram, now: float
) -> MarginalValue:
    solution = solve_program(program, work=WORK)
    extra_cost = solution.objective - now if solution.values else None
    per_unit = None if extra_cost is None else extra_cost / added
    return MarginalValue(kind, subject, unit, added, extra_cost, per_unit, is_known=solution.status != "unsolved")


def _build_with_fixed_purchases(name: StrategyName, setting: PlanningContext, decisions: Decisions) -> LinearProgram:
    """The strategy's program with its purchases fixed."""
    rules = strategy_scope(name, setting)
    program = build_program(setting, rules)
    purchases: dict[tuple[tuple[str, ...], int], float] = defaultdict(float)
    for each in decisions.bought:
        purchases[each.resource.key, each.month] += each.quantity
    for number, column in enumerate(program.columns):
        if column.kind == "start":
            quantity = purchases[rules.shared[column.owner].resource.key, column.month]
            program.lower[number] = program.upper[number] = quantity
    return program
