"""Marginal values: the cost of one more unit of work in the recommended strategy, and the saving from a higher limit.

An integer program has no dual prices. So one per cent more work is solved with the purchases fixed, and a limit is
solved a tenth higher with everything else free; of problems that are not small, among the homes of the plan and the
nearest to these.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial, reduce
from typing import Literal

from planner.optimization.home_selection import carry_plan
from planner.optimization.limit_relief import ALL_LIMITS_WORK, EXPLAIN_WORK, SEARCHED_COLUMNS, share_work
from planner.optimization.linear_program import LinearProgram, RequestLimit, keeps_rows, raise_limit
from planner.optimization.model import StrategyScope, build_program
from planner.optimization.narrowed_setting import NarrowedProblem, narrow_large_problem
from planner.optimization.program_parts import solve_used
from planner.optimization.search_limits import SMALL_COLUMNS
from planner.optimization.solution import Decisions, PlanningContext
from planner.optimization.solver import GAP_TARGET, Solution, relax_program, solve_program
from planner.optimization.solver_model import Basis
from planner.optimization.strategy import SolvedStrategy
from planner.result import StrategyName
from planner.result.marginal_values import MarginalValue

NARROWED_COLUMNS = 20_000
"""A larger problem has the homes that the plan and the relaxation use, and none of the nearest: the relaxation of two
services in one year takes 9 s with these (30,480 columns), 3 s without."""
MORE_WORK = 0.01
MORE_OF_A_LIMIT = 0.1
SAVES_NOTHING = 1e-3
"""Of the cost: where no plan with a higher limit can save more than this, it saves nothing."""


def compute_marginal_values(
    solved: Iterable[SolvedStrategy], name: StrategyName | None, setting: PlanningContext, of_demand: bool
) -> tuple[MarginalValue, ...]:
    """One row for each limit of the request, in the strategy of that name, and with `of_demand` one for each workload:
    each is another program to solve."""
    chosen = next((each for each in solved if each.strategy.name == name), None)
    if chosen is None or not (of_demand or setting.rules.has_limits(setting.demands.needs)):
        return ()
    problem = narrow_large_problem(chosen.strategy.name, setting, chosen.candidates, SMALL_COLUMNS, NARROWED_COLUMNS)
    return (*(_value_more_demand(chosen, problem) if of_demand else ()), *_value_higher_limits(chosen, problem))


def _value_more_demand(chosen: SolvedStrategy, problem: NarrowedProblem) -> Iterator[MarginalValue]:
    setting, now = problem.setting, chosen.strategy.present_cost
    needs = setting.demands.needs
    for index, need in enumerate(needs):
        more = replace(need, monthly=tuple(units * (1 + MORE_WORK) for units in need.monthly))
        grown = replace(setting, demands=replace(setting.demands, needs=(*needs[:index], more, *needs[index + 1 :])))
        program = _build_with_fixed_purchases(grown, problem.scope, chosen.decisions)
        solution = _solve(program)
        yield _build_marginal("demand", need.workload.name, need.unit, need.total * MORE_WORK, solution, now)


def _value_higher_limits(chosen: SolvedStrategy, problem: NarrowedProblem) -> Iterator[MarginalValue]:
    if not problem.setting.rules.has_limits(problem.setting.demands.needs):
        return
    now, program = chosen.strategy.present_cost, build_program(problem.setting, problem.scope)
    added = {limit: _grant_more(limit) for limit in program.limits}
    work = share_work(len(added), ALL_LIMITS_WORK)
    all_raised = reduce(lambda raised, limit: raise_limit(raised, limit, added[limit]), added, program)
    together = _solve(all_raised)
    is_kept_by = partial(_is_kept, all_raised, together)
    if together.objective < now and is_kept_by(program):  # a plan within the limits as they are: no limit saves this
        now = together.objective
    is_large = len(program.columns) > SEARCHED_COLUMNS
    basis = relax_program(all_raised).basis if is_large else None  # that of `together`, which is known
    for limit, more in added.items():
        if together.status == "unsolved":
            yield MarginalValue("limit", limit.title, limit.unit, more, None, None, is_known=False)
        elif together.bound >= now * (1 - GAP_TARGET):  # all of them save nothing, so none of them does alone
            yield MarginalValue("limit", limit.title, limit.unit, more, 0.0, 0.0)
        else:
            raised = raise_limit(program, limit, more)
            solution = together if is_kept_by(raised) else _solve(raised, work, basis)
            yield _build_marginal("limit", limit.title, limit.unit, more, solution, now)


def _grant_more(limit: RequestLimit) -> float:
    """By how much a limit is raised: a tenth of a node is nothing that anybody can be granted."""
    more = limit.amount * MORE_OF_A_LIMIT or 1.0
    return float(math.ceil(more)) if float(limit.amount).is_integer() else more


def _is_kept(all_raised: LinearProgram, together: Solution, program: LinearProgram) -> bool:
    """Whether the plan with all limits raised is one of this program too, where fewer are. Columns that count towards
    a limit and cost 0 may lie above the use, so the plan may keep a limit that its values exceed."""
    values = together.values
    if not values or keeps_rows(program, values):
        return bool(values)
    return bool(carry_plan(program, all_raised, values, EXPLAIN_WORK, GAP_TARGET).values)


def _solve(program: LinearProgram, work: float = EXPLAIN_WORK, basis: Basis | None = None) -> Solution:
    """A large program only by the columns of its relaxation, which goes on from a `basis`."""
    if len(program.columns) > SEARCHED_COLUMNS:
        return solve_used(program.to_arrays(), work, GAP_TARGET, basis=basis)
    return solve_program(program, work=work)


def _build_marginal(
    kind: Literal["demand", "limit"],
    subject: str,
    unit: str,
    added: float,
    solution: Solution,
    now: float,
) -> MarginalValue:
    is_known = solution.status != "unsolved"
    extra_cost = solution.objective - now if solution.values else None
    if extra_cost is not None and kind == "limit":
        if extra_cost >= 0:  # the plan itself keeps a higher limit; a cheaper one may not have been found
            is_known = solution.bound >= now * (1 - SAVES_NOTHING)
        extra_cost = min(extra_cost, 0.0) if is_known else None
    per_unit = None if extra_cost is None else extra_cost / added
    return MarginalValue(kind, subject, unit, added, extra_cost, per_unit, is_known=is_known)


def _build_with_fixed_purchases(setting: PlanningContext, scope: StrategyScope, decisions: Decisions) -> LinearProgram:
    """The strategy's program with its purchases fixed."""
    program = build_program(setting, scope)
    purchases: dict[tuple[tuple[str, ...], int], float] = defaultdict(float)
    for each in decisions.bought:
        purchases[each.resource.key, each.month] += each.quantity
    for number, column in enumerate(program.columns):
        if column.kind == "start":
            quantity = purchases[scope.shared[column.owner].resource.key, column.month]
            program.lower[number] = program.upper[number] = quantity
    return program
