"""Constraints of every plan: all work is done, no capacity is used twice, gangs and services have whole nodes.

Committed money pays, in each hour, for nodes that run in that hour, and whole nodes run: for work at any hour it pays
for n whole nodes of price p at a place, which takes n p of it in all hours of a block, and this work shares their
hours. Work of G nodes at once takes G p, however few its hours are. Of work that is all done at one place in a month, a
share f takes f G p in every hour that it runs; where a part is done elsewhere or in another month, money pays for whole
gangs.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from planner.optimization.home_constraints import add_home_rows
from planner.optimization.linear_program import (
    ANY_HOUR,
    DemandTask,
    LinearProgram,
    ProgramColumn,
    RowEntries,
)
from planner.optimization.solution import PlanningContext
from planner.request.calendar import days_of_month
from planner.supply.costs import SharedResource
from planner.workloads.demand import PortfolioDemand, WorkloadDemand
from planner.workloads.placement import parallel_limit
from pricing.frozen_values import dataclass
from pricing.units import HOURS_PER_DAY

HIDDEN_FRACTION = 1e-3
"""Of the largest entry of a row: smaller ones need a row of their own to be kept exactly."""
HOURS_ROUNDING = 1e-9
"""Of a gang: work that exceeds whole gangs by less is theirs."""
NODES_ROUNDING = 1e-6
"""Of a node: money that was committed for whole nodes may lack so much in the solver's arithmetic."""
StartColumns = dict[tuple[int, int], list[int]]
"""The start columns of a shared resource that cover a month."""


def add_constraints(
    program: LinearProgram, setting: PlanningContext, shared: Sequence[SharedResource], started: StartColumns
) -> None:
    """All rows of the model but the limits."""
    _add_shared_rows(program, setting.demands, shared, started)
    _add_parallel_rows(program, setting.demands, shared)
    add_home_rows(program, setting.demands, setting.market.resources)


@dataclass(frozen=True, slots=True)
class _SharedUses:
    """Columns that draw on shared resources: `used` by resource, month and block, with the capacity of each; `paid`
    also by candidate's resource, the node-hours of work at any hour that committed money pays for; and `spanning` by
    step and month, the columns of work that has all nodes of a gang."""

    used: dict[tuple[int, int, int], RowEntries]
    paid: dict[tuple[int, int, int, int], RowEntries]
    spanning: dict[tuple[int, int], list[int]]


def _list_uses(program: LinearProgram, demands: PortfolioDemand, shared: Sequence[SharedResource]) -> _SharedUses:
    uses = _SharedUses(defaultdict(list), defaultdict(list), defaultdict(list))
    for number, column in enumerate(program.columns):
        step = program.steps[column.owner] if column.kind in ("work", "ready", "pooled") else None
        if step is None or step.shared is None:
            continue
        item = shared[step.shared]
        at_any_hour = column.kind == "work" and not demands.needs[step.candidate.need].serving
        if at_any_hour if item.weights else column.kind == "work" and step.candidate.nodes_per_gang > 1:
            uses.spanning[column.owner, column.month].append(number)
            if item.by_month:
                continue
        if item.weights and at_any_hour:
            at = step.shared, column.month, step.candidate.resource, column.block
            uses.paid[at].append((number, column.node_hours))
        elif column.node_hours:
            block = ANY_HOUR if item.by_month else column.block
            entry = number, column.node_hours * item.weight(step.candidate)
            uses.used[step.shared, column.month, block].append(entry)
    return uses


def _add_shared_rows(
    program: LinearProgram, demands: PortfolioDemand, shared: Sequence[SharedResource], started: StartColumns
) -> None:
    """No shared capacity is used twice, and a gang that spans shared nodes has all of them when it works."""
    uses = _list_uses(program, demands, shared)
    month_hours = math.fsum(demands.block_hours)
    gangs: dict[tuple[int, int, int, int], list[int]] = defaultdict(list)
    for (owner, month), numbers in sorted(uses.spanning.items()):
        candidate, index = program.steps[owner].candidate, program.steps[owner].shared
        assert index is not None
        nodes, need = candidate.nodes_per_gang, demands.needs[candidate.need]
        if shared[index].by_month:
            uses.used[index, month, ANY_HOUR].append(_add_gang_days(program, owner, month, numbers))
        elif shared[index].weights and is_done_in_month(need):
            gang_hours = max(program.columns[f].node_hours for f in numbers) / nodes
            share, most = limit_paid_share(gang_hours / month_hours)
            of_gang = nodes * shared[index].weight(candidate)
            money = ((y, -share) for y in started[index, month])
            program.row(-math.inf, most * of_gang, [*((f, of_gang) for f in numbers), *money])
        else:
            gangs[index, month, candidate.resource, nodes] += numbers
    for (index, month, resource, nodes), numbers in sorted(gangs.items()):
        of_gang = nodes * shared[index].weights.get(resource, 1.0)
        starts = [(y, -1 / of_gang) for y in started[index, month]]
        _add_gang_rows(program, demands, numbers, starts, nodes * month_hours)
    usable = _add_paid_nodes(program, shared, started, demands.block_hours, uses)
    for (index, month, block), entries in sorted(uses.used.items()):
        hours = shared[index].hours(demands.block_hours[block] if block != ANY_HOUR else month_hours)
        there = [(y, -hours * usable.get(y, 1.0)) for y in started[index, month]]
        program.row(-math.inf, 0.0, entries + there)
        if not shared[index].weights:
            _link_small_uses(program, entries, started[index, month], hours)


def _add_paid_nodes(
    program: LinearProgram,
    shared: Sequence[SharedResource],
    started: StartColumns,
    block_hours: Sequence[float],
    uses: _SharedUses,
) -> dict[int, float]:
    """Committed money that pays for work at any hour pays for whole nodes: it is committed to for whole nodes where all
    that it pays for has one price; else in each block for some whole nodes at each place, which that work has in all of
    its hours. Returns the share of starts decided before that whole nodes can use."""
    paying = {index: shared[index].node_price for index, _, _, _ in uses.paid}
    prices = {index: price for index, price in paying.items() if price is not None}
    starts = {y: prices[index] for (index, _), columns in started.items() if index in prices for y in columns}
    usable: dict[int, float] = {}
    for y, price in starts.items():
        if program.lower[y] < program.upper[y]:
            commit_whole_nodes(program, y, price)
        elif nodes := program.upper[y] / price:
            usable[y] = math.floor(nodes + NODES_ROUNDING) / nodes
    for (index, month, resource, block), entries in sorted(uses.paid.items()):
        price, hours = shared[index].weights[resource], block_hours[block]
        if index in prices:
            uses.used[index, month, block] += [(number, node_hours * price) for number, node_hours in entries]
            continue
        most = float(math.ceil(math.fsum(node_hours for _, node_hours in entries) / hours))
        nodes = program.column(ProgramColumn("paid_nodes", index, month, block), 0.0, most, whole=True)
        program.row(-math.inf, 0.0, [*entries, (nodes, -hours)])
        uses.used[index, month, block].append((nodes, hours * price))
    return usable


def commit_whole_nodes(program: LinearProgram, start: int, price: float) -> None:
    """Money committed at a start is for whole nodes of this price."""
    meaning = program.columns[start]._replace(kind="paid_nodes")
    nodes = program.column(meaning, 0.0, math.inf, whole=True)
    program.row(0.0, 0.0, [(start, 1.0), (nodes, -price)])


def limit_paid_share(gangs: float) -> tuple[float, float]:
    """Of work that takes so many `gangs` of nodes in the mean of a month, the share that committed money for c gangs in
    every hour may pay is at most `share` c + `most`; returns both.

    Let q whole gangs run at all hours, and one more in the part r of them that is left. Money for c from q to q + 1
    gangs pays q + r (c - q) of q + r gangs: c - q of the last one where it runs, nothing where it does not.
    """
    whole = math.floor(gangs + HOURS_ROUNDING)
    part = max(gangs - whole, 0.0)
    return part / gangs, whole * (1 - part) / gangs


def is_done_in_month(need: WorkloadDemand) -> bool:
    """Whether all work of a month is done in that month, at one place."""
    return need.deadline is None and not need.may_spread


def _add_gang_rows(
    program: LinearProgram, demands: PortfolioDemand, shares: Sequence[int], starts: RowEntries, a_gang: float
) -> None:
    """Gangs of one size work on shared nodes in a month only if all that they take is there: so many whole gangs at
    once, which do `a_gang` node-hours each of work at any hour. `starts` have the gangs that a unit is there for,
    negative."""
    columns, steps = program.columns, program.steps
    at_any_hour = [f for f in shares if not demands.needs[steps[columns[f].owner].candidate.need].serving]
    of_task: dict[tuple[int, DemandTask], list[int]] = defaultdict(list)
    for number in shares:
        of_task[columns[number].owner, columns[number].task].append(number)
    in_all = math.fsum(max(columns[f].node_hours for f in numbers) for numbers in of_task.values())
    most = max(1, math.ceil(in_all / a_gang - HOURS_ROUNDING)) if at_any_hour else 1
    first = columns[shares[0]]
    z = program.column(ProgramColumn("gang", first.owner, first.month), 0.0, float(most), whole=True)
    for numbers in of_task.values():
        program.row(-math.inf, 0.0, [*((f, 1.0) for f in numbers), (z, -1.0)])
    program.row(-math.inf, 0.0, [(z, 1.0), *starts])
    if most > 1:
        program.row(-math.inf, 0.0, [*((f, columns[f].node_hours) for f in at_any_hour), (z, -a_gang)])


def _add_gang_days(program: LinearProgram, owner: int, month: int, shares: Sequence[int]) -> tuple[int, float]:
    """Days of a whole gang, on all of its nodes: the column that counts them, with the node-hours that one takes."""
    nodes = program.steps[owner].candidate.nodes_per_gang
    hours = [(number, program.columns[number].node_hours) for number in shares]
    a_day = float(HOURS_PER_DAY * nodes)
    most = math.ceil(math.fsum(amount for _, amount in hours) / a_day)
    days = program.column(ProgramColumn("gang_days", owner, month), 0.0, float(most), whole=True)
    program.row(-math.inf, 0.0, [*hours, (days, -a_day)])
    _link_small_uses(program, hours, (days,), a_day)
    return days, a_day


def _link_small_uses(program: LinearProgram, entries: RowEntries, starts: Sequence[int], hours: float) -> None:
    """No share of a task without a unit started, where the solver's tolerance could hide it: beside an entry of 10,000
    node-hours, one of 0.01 is rounding to the solver."""
    largest = max(hours, *(amount for _, amount in entries))
    for number, amount in entries:
        if amount < HIDDEN_FRACTION * largest:
            program.row(-math.inf, 0.0, [(number, 1.0), *((y, -1.0) for y in starts)])


def _add_parallel_rows(program: LinearProgram, demands: PortfolioDemand, shared: Sequence[SharedResource]) -> None:
    """At most P gangs of a job run at once, in every month and block; on nodes for dated days, in the days that the
    month has."""
    running: dict[tuple[int, int, int], RowEntries] = defaultdict(list)
    on_days: dict[tuple[int, int], RowEntries] = defaultdict(list)
    for number, column in enumerate(program.columns):
        if column.kind == "work":
            step = program.steps[column.owner]
            candidate = step.candidate
            need = demands.needs[candidate.need]
            if parallel_limit(need) is not None and not need.serving:
                gang_hours = column.node_hours / candidate.granule
                running[candidate.need, column.month, column.block].append((number, gang_hours))
                if step.shared is not None and shared[step.shared].by_month:
                    on_days[candidate.need, column.month].append((number, gang_hours))
    for (index, _, block), entries in sorted(running.items()):
        limit = parallel_limit(demands.needs[index]) or 0
        program.row(-math.inf, limit * demands.block_hours[block], entries)
    for (index, month), entries in sorted(on_days.items()):
        limit = parallel_limit(demands.needs[index]) or 0
        program.row(-math.inf, limit * HOURS_PER_DAY * days_of_month(demands.month_names[month - 1]), entries)
