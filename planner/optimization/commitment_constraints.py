"""Rows for targets on commitments for a term: coverage, utilisation, and how much may end in one quarter.

All are shares of sums over the plan, so they are linear: coverage (1 - c) x covered >= c x on demand, in cost on
demand; utilisation used >= u x committed, and ends of a quarter <= e x all, in cost by the hour. Capacity from before
the plan counts in coverage only. Use on committed nodes counts what its work needs, never nodes that stand idle.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from planner.optimization.linear_program import LinearProgram, ProgramColumn, RowEntries
from planner.optimization.solution import PlanningContext
from planner.request.calendar import name_quarter
from planner.supply.costs import SharedResource
from planner.supply.limits import SHARE_ROUNDING

SLACK = SHARE_ROUNDING / 2
"""Of a target that whole units decide: the rest is left to the tolerance of the solver."""


def add_commitment_target_rows(
    program: LinearProgram, setting: PlanningContext, shared: Sequence[SharedResource]
) -> None:
    """Rows for each target of the request."""
    limits = setting.rules.limits
    if limits.commitment_coverage_min is not None:
        _add_coverage_row(program, setting, shared, limits.commitment_coverage_min)
    if limits.commitment_utilisation_min is not None:
        _add_utilisation_row(program, setting, shared, limits.commitment_utilisation_min)
    if limits.commitment_ending_per_quarter_max is not None:
        _add_ending_rows(program, setting, shared, limits.commitment_ending_per_quarter_max)


def _add_coverage_row(
    program: LinearProgram, setting: PlanningContext, shared: Sequence[SharedResource], least: float
) -> None:
    resources, terms = setting.market.resources, setting.terms
    on_demand = {
        resource.place: resource.quote.price.price_per_hour
        for resource in resources
        if resource.quote is not None and resource.quote.price.kind == "on_demand"
    }
    entries: RowEntries = []
    for number, column in enumerate(program.columns):
        if column.kind not in ("work", "ready", "pooled"):
            continue
        step = program.steps[column.owner]
        resource = resources[step.candidate.resource]
        value = on_demand.get(resource.place, 0.0) * terms.price_factor(column.month, "on_demand")
        if step.shared is not None and shared[step.shared].resource.is_term_commitment:
            entries.append((number, -(1 - least) * value * _hours_of_work(column, setting)))
        elif step.shared is None and resource.quote is not None and resource.quote.price.kind == "on_demand":
            entries.append((number, least * value * column.node_hours))
    program.row(-math.inf, 0.0, [(number, value) for number, value in entries if value])


def _add_utilisation_row(
    program: LinearProgram, setting: PlanningContext, shared: Sequence[SharedResource], least: float
) -> None:
    entries: RowEntries = []
    for number, column in enumerate(program.columns):
        if column.kind == "start" and _is_new(shared[column.owner]):
            item = shared[column.owner]
            months = next(len(start.covers) for start in item.starts if start.month == column.month)
            entries.append((number, least * _cost_an_hour(item) * setting.terms.hours_per_month * months))
        elif column.kind == "work":
            step = program.steps[column.owner]
            if step.shared is not None and _is_new(shared[step.shared]):
                item = shared[step.shared]
                used = item.weight(step.candidate) * _cost_an_hour(item) * _hours_of_work(column, setting)
                entries.append((number, -used))
    program.row(-math.inf, 0.0, entries)


def _add_ending_rows(
    program: LinearProgram, setting: PlanningContext, shared: Sequence[SharedResource], most: float
) -> None:
    ends: dict[str, RowEntries] = defaultdict(list)
    for number, column in enumerate(program.columns):
        if column.kind == "start" and _is_new(shared[column.owner]):
            quote = shared[column.owner].resource.quote
            assert quote is not None
            last = column.month + quote.price.term_months - 1
            quarter = name_quarter(setting.demands.month_names[0], last)
            ends[quarter].append((number, _cost_an_hour(shared[column.owner])))
    for quarter in sorted(ends):
        entries = [
            (number, value * ((1.0 if each == quarter else 0.0) - most - SLACK))
            for each, started in ends.items()
            for number, value in started
        ]
        program.row(-math.inf, 0.0, entries, counts_small=True)


def _is_new(item: SharedResource) -> bool:
    return item.resource.held is None and item.resource.is_term_commitment


def _cost_an_hour(item: SharedResource) -> float:
    """Of one unit; 1 of committed money."""
    return item.resource.quote.price.price_per_hour if item.resource.quote is not None else 0.0


def _hours_of_work(column: ProgramColumn, setting: PlanningContext) -> float:
    """Node-hours that the work of a column needs, parts of nodes where it shares them; nodes that are counted for it in
    columns of their own have none."""
    if column.kind != "work":
        return 0.0
    return column.node_hours or column.nodes * (setting.demands.block_hours[column.block] if column.block >= 0 else 0.0)
