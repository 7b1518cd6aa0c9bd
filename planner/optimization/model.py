"""The plan of one strategy as a mixed-integer linear program. Knows no solver.

Sets: months t, load blocks b of h[b] hours, workloads k with tasks q (a month, a block of a month, or all months up
to a deadline), candidates j of k, each at a place (a rented type in a region, or an owned system); shared resources i
(commitments, owned systems, committed money) with starts a, each covering some months. H[q,j] are the node-hours that
the whole of task q takes on j: those of whole nodes that stand for it where q belongs to a block, of nodes as busy as
they can be where it may run at any hour. c[i,j] is the use of i by a node-hour (1, or money at the plan's rate),
A[i,b] the capacity of one unit of i in block b (h; 24 hours of the month for a day of a node).

Decide: u[k,p] whether k lives at place p (homes; its gang is part of it), w[k,p] whether p takes what exceeds its owned
nodes; y[i,a] units started (whole, but for money); f[q,j,t,b] the share of task q done on j in month t and block b (0
to 1; one block where the work may run at any hour and the nodes are paid by the hour); r[j,t,b] whole nodes or gangs of
nodes, where work is divided between an owned system and the cloud, or nodes are shared with other workloads; z[j,t] how
many gangs that span nodes use a shared resource at once; d[j,t] days of a whole gang; n whole nodes that money pays
for.

Minimise the present cost: sum cost[i,a] y + sum rate[j,t] H f (by the hour; on r where nodes are counted; the power of
owned nodes at work) + sum data[q,j,t] f.

Subject to
    sum_p u = 1                          one home (home_constraints.py)
    sum over p's j of f = u[k,p]         a home in the cloud does every task
    sum over owned j of f = sum u        owned systems (f <= u[k,p] each) and the overflow by the hour do, too:
    sum over p's j of f <= w[k,p]        in one place, sum_p w <= sum of u over owned systems (of the same accelerator
                                         and gang for a job that runs a stated number of gangs at once)
    sum c H f <= A sum_a y               no shared capacity is used twice, in every month and block
    H f <= h r                           nodes are whole where they are counted
    sum H f / nodes per gang <= P h      at most P gangs of a job at once
    sum f <= z, nodes z <= sum_a y       gangs on shared nodes have all of them
    sum H f <= nodes h z                 and do no more than so many whole ones
    nodes price sum f <= sum_a y         money pays in each hour for what runs then (constraints.py),
    y = price n, or sum H f <= h n       and for n whole nodes of work at any hour
    H f <= 24 nodes d, sum nodes d <= y  and all of their days
and the limits of the request (limit_constraints.py).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import field

from planner.optimization import constraints, limit_constraints
from planner.optimization.home_constraints import task_of
from planner.optimization.linear_program import ANY_HOUR, CandidateActivity, LinearProgram, ProgramColumn
from planner.optimization.solution import PlanningContext
from planner.optimization.standing_work import (
    add_pooled_nodes,
    add_spread_nodes,
    add_standing_columns,
    count_nodes,
    count_replicas,
    list_standing_tasks,
)
from planner.result.audit_trail import discount_factor
from planner.supply.candidates import Candidate
from planner.supply.costs import SharedResource
from planner.supply.data_costs import DataCosts
from planner.supply.payments import data_payments
from planner.workloads.demand import PortfolioDemand, WorkloadDemand
from planner.workloads.placement import parallel_limit
from pricing.frozen_values import dataclass


@dataclass(frozen=True, slots=True)
class StrategyScope:
    """Resources that a strategy may use; `hourly_until[need]` is the last month in which it may rent by the hour."""

    shared: tuple[SharedResource, ...]
    hourly_until: tuple[int, ...]


def build_program(setting: PlanningContext, allowed: StrategyScope) -> LinearProgram:
    """The program of one strategy."""
    program = LinearProgram()
    demands, shared = setting.demands, allowed.shared
    started = add_start_columns(program, shared, demands)
    program.steps += list_steps(setting, allowed)
    data_costs = _DataCostsOfUnits(setting)
    divided = {step.candidate.need for step in program.steps if step.overflow}
    for number, step in enumerate(program.steps):
        need = demands.needs[step.candidate.need]
        for month in range(1, setting.terms.months + 1):
            until = setting.market.resources[step.candidate.resource].last_month
            if (until is None or month <= until) and _is_open(step, need, month, allowed, started):
                data = data_costs.price(step.candidate, month)
                is_divided = _is_divided(step, setting, divided)
                _add_work_columns(program, number, month, setting, shared, data, divided=is_divided)
    add_spread_nodes(program, setting)
    add_pooled_nodes(program, setting, lambda step, month: _use_rate(step, month, setting, shared))
    constraints.add_constraints(program, setting, shared, started)
    limit_constraints.add_limit_constraints(program, setting, shared, started)
    return program


def count_columns(setting: PlanningContext, allowed: StrategyScope) -> int:
    """About how many decisions the program of a strategy has, before any of it is made."""
    demands, choice = setting.demands, setting.choice
    offered = (*choice.hourly, *choice.overflow, *(item.candidates for item in allowed.shared))
    slots = [demands.count_slots(need) for need in demands.needs]
    return sum(slots[candidate.need] for candidates in offered for candidate in candidates)


def list_steps(setting: PlanningContext, allowed: StrategyScope) -> Iterator[CandidateActivity]:
    """All candidates as the model uses them. What exceeds owned nodes is rented by the hour, or in existing
    commitments; work that may be spread needs no overflow."""
    shared = allowed.shared
    owned = {c.need for item in shared if item.resource.node is not None for c in item.candidates}
    overflows = {need for need in owned if not setting.demands.needs[need].may_spread}
    for candidates in setting.choice.hourly:
        yield from (CandidateActivity(c, None, True) for c in candidates if allowed.hourly_until[c.need] >= 1)
    for candidates in setting.choice.overflow:
        for c in candidates:
            if c.need in overflows and allowed.hourly_until[c.need] >= 1:
                yield CandidateActivity(c, None, True, overflow=True)
    for index, item in enumerate(shared):
        yield from (CandidateActivity(c, index, bool(item.weights)) for c in item.candidates)
        if item.resource.held is not None and item.resource.node is None:
            for c in item.candidates:
                if c.need in overflows:
                    yield CandidateActivity(c, index, False, overflow=True)


def add_start_columns(
    program: LinearProgram,
    shared: Sequence[SharedResource],
    demands: PortfolioDemand,
    only: Collection[int] | None = None,
) -> constraints.StartColumns:
    """The units of each shared resource (or `only` some, by number) by the month of their start; returns them by the
    months that they cover."""
    started: constraints.StartColumns = defaultdict(list)
    peaks = _PeakNodes(demands)
    for index, item in enumerate(shared):
        if only is not None and index not in only:
            continue
        existing, most = item.resource.held, _max_useful_units(item, peaks)
        for start in item.starts:
            count = start.decided if existing is None else existing.count  # paid for in any case
            least, upper = (0.0, most) if count is None else (count, count)
            kind = ProgramColumn("start", index, start.month)
            column = program.column(kind, start.present_cost, upper, whole=not item.weights, lower=least)
            for month in start.covers:
                started[index, month].append(column)
    return started


def _is_divided(step: CandidateActivity, setting: PlanningContext, divided: Collection[int]) -> bool:
    """Whether its work may be only a part: on owned nodes, or what exceeds them, or in several places."""
    if setting.demands.needs[step.candidate.need].may_spread:
        return True
    owned = setting.market.resources[step.candidate.resource].node is not None
    return step.candidate.need in divided and (step.overflow or owned)


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
    program: LinearProgram,
    number: int,
    month: int,
    setting: PlanningContext,
    shared: tuple[SharedResource, ...],
    data: float,
    *,
    divided: bool,
) -> None:
    """The columns of one step in one month; `data` is the cost of the data of a unit of work."""
    step, demands = program.steps[number], setting.demands
    candidate = step.candidate
    need = demands.needs[candidate.need]
    rate = _use_rate(step, month, setting, shared)
    any_hour = step.shared is None or shared[step.shared].by_month
    by_block = need.serving or not any_hour or parallel_limit(need) is not None
    for block in range(len(demands.block_hours)) if by_block else (ANY_HOUR,):
        task, units = task_of(candidate.need, month, block, demands)
        if units == 0:
            continue
        if need.serving:
            work = ProgramColumn("work", number, month, block, task, units=units)
            add_standing_columns(program, work, setting, rate, data * units, divided=divided)
        else:
            hours = units / candidate.units_per_node_hour
            work = ProgramColumn("work", number, month, block, task, hours, units)
            program.column(work, data * units + rate * hours, 1.0, whole=False)


@dataclass(frozen=True, slots=True)
class _DataCostsOfUnits:
    """Present costs of the data of a unit of work, by workload, month and volumes: each is priced once."""

    setting: PlanningContext
    known: dict[tuple[int, int, bool, DataCosts], float] = field(default_factory=dict)

    def price(self, candidate: Candidate, month: int) -> float:
        resource, terms = self.setting.market.resources[candidate.resource], self.setting.terms
        key = (candidate.need, month, resource.node is None, candidate.around)
        if key not in self.known:
            need = self.setting.demands.needs[candidate.need]
            paid = data_payments(need, candidate, resource, month, 1.0, terms)
            factor = discount_factor(month, "end", terms.discount_rate_monthly)
            self.known[key] = math.fsum(p.amount for p in paid) * factor
        return self.known[key]


def _use_rate(
    step: CandidateActivity, month: int, setting: PlanningContext, shared: tuple[SharedResource, ...]
) -> float:
    """Present cost of using a node for an hour, beyond the cost of its start."""
    if step.shared is None:
        return setting.choice.rates[step.candidate.resource][month - 1]
    costs = shared[step.shared].use_costs
    return costs[month - 1] if costs else 0.0


@dataclass(frozen=True, slots=True)
class _PeakNodes:
    """The most nodes that stand for a workload: those of its busiest block, which is looked for once."""

    demands: PortfolioDemand
    busiest: dict[int, tuple[float, float]] = field(default_factory=dict)
    """By workload, the units of work in that block and its hours."""

    def count(self, candidate: Candidate) -> float:
        need = self.demands.needs[candidate.need]
        if candidate.need not in self.busiest:
            tasks = list_standing_tasks(need, self.demands)
            loads = ((units, self.demands.block_hours[block]) for _, block, units in tasks)
            self.busiest[candidate.need] = max(loads, key=lambda load: load[0] / load[1])
        return count_nodes(candidate, need, count_replicas(candidate, need, *self.busiest[candidate.need]))


def _max_useful_units(item: SharedResource, peaks: _PeakNodes) -> float:
    """An upper bound on the units of a resource that could be of use: each candidate's peak, in whole gangs."""
    most, demands = 0.0, peaks.demands
    for candidate in item.candidates:
        need = demands.needs[candidate.need]
        if need.serving:
            units = peaks.count(candidate) * item.weight(candidate)
        else:
            peak = max(need.monthly) * item.weight(candidate) / candidate.units_per_node_hour
            units = peak / item.hours(min(demands.block_hours))
        whole = math.ceil(units * (1 + 1e-9)) + 1
        if item.by_month and candidate.nodes_per_gang > 1:  # the last day of a gang is a day of all of its nodes
            whole += candidate.nodes_per_gang
        most += max(candidate.nodes_per_gang * item.weight(candidate), whole)
    return float(most)
