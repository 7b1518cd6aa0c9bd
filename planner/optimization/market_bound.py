"""A bound of a plan with targets on commitments, from all that is sold.

Offers that are pruned as dearer could meet a target for less, so a search among the others has no bound for the whole
problem. That of the same problem without targets is valid, but may be far below: targets can be most of the cost of a
plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from planner.optimization.dominance import full_choice_set
from planner.optimization.model import build_program, count_columns
from planner.optimization.program_parts import FAR_GAP
from planner.optimization.solution import PlanningContext, SearchEffort
from planner.optimization.solver import relax_program
from planner.optimization.strategy import SolvedStrategy, proven_bound, strategy_scope, with_bound

RELAXED_COLUMNS: Mapping[SearchEffort, int] = {"quick": 25_000, "standard": 50_000, "proof": 100_000}
"""Columns of all that is sold up to which it is relaxed: 21,060 take 0.4 s, 45,816 take 13 s."""


def prove_with_targets(solved: SolvedStrategy, setting: PlanningContext) -> SolvedStrategy:
    """The same plan; where it is far from its bound and pruned offers could meet its targets, with the bound of the
    relaxation of all that is sold, if that is better and not too large."""
    present, bound = solved.strategy.present_cost, proven_bound(solved)
    if not setting.choice.is_partial or present - bound <= FAR_GAP * abs(present):
        return solved
    choice = full_choice_set(setting.market, setting.assumptions, setting.terms, len(setting.demands.needs))
    whole = replace(setting, choice=choice)
    scope = strategy_scope(solved.strategy.name, whole)
    most = RELAXED_COLUMNS.get(setting.effort, 0)
    program = build_program(whole, scope) if count_columns(whole, scope) <= most else None
    if program is None or len(program.columns) > most:  # gangs and replicas have columns that are not counted before
        return solved
    relaxed = relax_program(program)
    return with_bound(solved, max(bound, relaxed.bound), cut_by_clock=relaxed.cut_by_clock)
