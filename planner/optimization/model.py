"""The plan of one strategy as a mixed-integer linear program. Knows no solver.

Sets: months t, load blocks b of h[b] hours, workloads k with tasks q (a month, a block of a month, or all months up
to a deadline), candidates j of k; shared resources i (commitments, owned systems, committed money) with starts a, each
covering some months. H[q,j] are the node-hours that the whole of task q takes on j, c[i,j] the use of i by a node-hour
(1, or money at the plan's rate), A[i,b] the capacity of one unit of i in block b (h; 24 hours of the
month for a day of a node).

Decide: y[i,a] units started (whole, but for money); f[q,j,t,b] the share of task q done on j in month t and block b (0
to 1; one block where the work may run at any hour and the nodes are paid by the hour); r[j,t,b] gangs of nodes ready by
the hour for a service (whole); z[j,t] whether a gang that spans nodes uses a shared resource, v[k,g] whether a job that
runs a stated number of gangs at once uses accelerator and gang g, w[k,p] whether a service rents type and place p.

Minimise the present cost: sum cost[i,a] y + sum rate[j,t] H f (by the hour; on r for services; the power of owned nodes
at work) + sum data[q,j,t] f.

Subject to
    sum f = 1                            every task is done
    sum c H f <= A sum_a y               no shared capacity is used twice, in every month and block
    H f <= nodes h r                     a service by the hour has whole nodes ready
    sum H f / nodes per gang <= P h      at most P gangs of a job at once
    sum f <= v[k,g], sum_g v = 1         such a job uses one accelerator and gang size, in every task
    r <= most w[k,p], sum_p w <= 1       a service rents one type in one place by the hour
    sum f <= z, nodes z <= sum_a y       a gang on shared nodes has all of them
and the limits of the request (limit_constraints.py).
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

from planner.optimization import constraints, limit_constraints
from planner.optimization.constraints import task_of
from planner.optimization.linear_program import ANY_HOUR, CandidateActivity, LinearProgram, ProgramColumn
from planner.optimization.solution import PlanningContext
from planner.result.audit_trail import discount_factor
from planner.supply.costs import SharedResource
from planner.supply.payments import data_payments
from planner.workloads.demand import PortfolioDemand, WorkloadDemand
from planner.workloads.placement import parallel_limit


@dataclass(frozen=True, slots=True)
class StrategyScope:
    """Resources that a strategy may use; `hourly_until[need]` is the last month in which it may rent by the hour."""

    shared: tuple[SharedResource, ...]
    hourly_until: tuple[int, ...]


def build_program(setting: PlanningContext, allowed: StrategyScope) -> LinearProgram:
    """The program of one strategy."""
    program = LinearProgram()
    demands, shared = setting.demands, allowed.shared
    started: constraints.StartColumns = defaultdict(list)
    for index, item in enumerate(shared):
        for start in item.starts:
            column = _add_start_column(program, index, item, start.month, start.present_cost, demands)
            for month in start.covers:
                started[index, month].append(column)
    for candidates in setting.choice.hourly:
        program.steps += [CandidateActivity(c, None, True) for c in candidates if allowed.hourly_until[c.need] >= 1]
    for index, item in enumerate(shared):
        program.steps += [CandidateActivity(c, index, bool(item.weights)) for c in item.candidates]
    for number, step in enumerate(program.steps):
        need = demands.needs[step.candidate.need]
        for month in range(1, setting.terms.months + 1):
            until = setting.market.resources[step.candidate.resource].last_month
            if (until is None or month <= until) and _is_open(step, need, month, allowed, started):
                _add_work_columns(program, number, month, setting, shared)
    constraints.add_constraints(program, setting, shared, started)
    limit_constraints.add_limit_constraints(program, setting, shared, started)
    return program


def _add_start_column(
    program: LinearProgram, index: int, item: SharedResource, month: int, cost: float, demands: PortfolioDemand
) -> int:
    existing = item.resource.held
    if existing is not None:
        count = existing.count  # paid for in any case: lower bound and upper bound are equal
        return program.column(ProgramColumn("start", index, month), cost, count, whole=True, lower=count)
    return program.column(
        ProgramColumn("start", index, month), cost, _max_useful_units(item, demands), whole=not item.weights
    )


def _is_open(
    step: CandidateActivity, need: WorkloadDemand, month: int, allowed: StrategyScope, started: constraints.StartColumns
) -> bool:
    if need.deadline is None and need.monthly[month - 1] == 0:
        return False
    if need.deadline is not None and month > need.deadline:
        return False
    if step.by_hour and month > allowed.hourly_until[step.candidate.need]:
        return False
    return step.shared is None or (step.shared, month) in started


def _add_work_columns(
    program: LinearProgram, number: int, month: int, setting: PlanningContext, shared: tuple[SharedResource, ...]
) -> None:
    """The columns of one step in one month."""
    step, demands, terms = program.steps[number], setting.demands, setting.terms
    candidate = step.candidate
    need = demands.needs[candidate.need]
    resource = setting.market.resources[candidate.resource]
    rate = _use_rate(step, month, setting, shared)
    paid = data_payments(need, candidate, resource, month, 1.0, terms)
    data = math.fsum(p.amount for p in paid) * discount_factor(month, "end", terms.discount_rate_monthly)
    any_hour = step.shared is None or shared[step.shared].by_month
    by_block = need.levels is not None or not any_hour or parallel_limit(need) is not None
    for block in range(len(demands.block_hours)) if by_block else (ANY_HOUR,):
        task, units = task_of(candidate.need, month, block, demands)
        if units == 0:
            continue
        hours = units / candidate.units_per_node_hour
        is_service = constraints.bills_ready_nodes(step, need)
        work = ProgramColumn("work", number, month, block, task, hours, units)
        f = program.column(work, data * units + (0.0 if is_service else rate * hours), 1.0, whole=False)
        if is_service:
            one = candidate.nodes_per_gang * demands.block_hours[block]
            ready = ProgramColumn("ready", number, month, block, task, one)
            most = math.ceil(hours / one) + need.workload.spare_replicas
            r = program.column(ready, rate * one, most, whole=True)
            program.row(-math.inf, 0.0, [(f, 1.0), (r, -min(1.0, one / hours))])
        elif need.serving and need.workload.spare_replicas:
            gang_hours = candidate.granule * demands.block_hours[block]
            spare = ProgramColumn("reserve", number, month, block, task, gang_hours)
            program.column(spare, rate * gang_hours, float(need.workload.spare_replicas), whole=True)


def _use_rate(
    step: CandidateActivity, month: int, setting: PlanningContext, shared: tuple[SharedResource, ...]
) -> float:
    """Present cost of using a node for an hour, beyond the cost of its start."""
    if step.shared is None:
        return setting.choice.rates[step.candidate.resource][month - 1]
    costs = shared[step.shared].use_costs
    return costs[month - 1] if costs else 0.0


def _max_useful_units(item: SharedResource, demands: PortfolioDemand) -> float:
    """An upper bound on the units of a resource that could be of use: each candidate's peak, in whole gangs."""
    most = 0.0
    for candidate in item.candidates:
        need = demands.needs[candidate.need]
        spare = need.workload.spare_replicas * candidate.granule
        peak = max(need.monthly) * item.weight(candidate) / candidate.units_per_node_hour
        units = peak / item.hours(min(demands.block_hours)) + spare * item.weight(candidate)
        most += max(candidate.nodes_per_gang, math.ceil(units * (1 + 1e-9)) + 1)
    return float(most)
