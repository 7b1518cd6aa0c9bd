"""Constraints of every plan: all work is done, no capacity is used twice, gangs and services have whole nodes.

Committed money pays, in each hour, for nodes that run in that hour: work of G nodes at once at price p takes G p of it,
however few its hours are. Of work that is all done at one place in a month, a share f takes f G p in every hour that it
runs; where a part is done elsewhere or in another month, money pays for all G nodes or for none.
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
from pricing.units import HOURS_PER_DAY

HIDDEN_FRACTION = 1e-3
"""Of the largest entry of a row: smaller ones need a row of their own to be kept exactly."""
StartColumns = dict[tuple[int, int], list[int]]
"""The start columns of a shared resource that cover a month."""


def add_constraints(
    program: LinearProgram, setting: PlanningContext, shared: Sequence[SharedResource], started: StartColumns
) -> None:
    """All rows of the model but the limits."""
    _add_shared_rows(program, setting.demands, shared, started)
    _add_parallel_rows(program, setting.demands, shared)
    add_home_rows(program, setting.demands, setting.market.resources)


def _add_shared_rows(
    program: LinearProgram, demands: PortfolioDemand, shared: Sequence[SharedResource], started: StartColumns
) -> None:
    """No shared capacity is used twice, and a gang that spans shared nodes has all of them when it works."""
    used: dict[tuple[int, int, int], RowEntries] = defaultdict(list)
    spanning: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, column in enumerate(program.columns):
        if column.kind not in ("work", "ready", "pooled"):
            continue
        step = program.steps[column.owner]
        if step.shared is None:
            continue
        item = shared[step.shared]
        at_any_hour = not demands.needs[step.candidate.need].serving
        if column.kind == "work" and (at_any_hour if item.weights else step.candidate.nodes_per_gang > 1):
            spanning[column.owner, column.month].append(number)
            if item.by_month:
                continue
        if column.node_hours:
            block = ANY_HOUR if item.by_month else column.block
            used[step.shared, column.month, block].append((number, column.node_hours * item.weight(step.candidate)))
    for (owner, month), numbers in sorted(spanning.items()):
        step = program.steps[owner]
        index = step.shared
        assert index is not None
        if shared[index].by_month:
            used[index, month, ANY_HOUR].append(_add_gang_days(program, owner, month, numbers))
            continue
        units = step.candidate.nodes_per_gang * shared[index].weight(step.candidate)
        if shared[index].weights and is_done_in_month(demands.needs[step.candidate.need]):
            program.row(-math.inf, 0.0, [*((f, units) for f in numbers), *((y, -1.0) for y in started[index, month])])
        else:
            _add_gang_rows(program, owner, month, numbers, [(y, -1 / units) for y in started[index, month]])
    for (index, month, block), entries in sorted(used.items()):
        hours = shared[index].hours(demands.block_hours[block] if block != ANY_HOUR else math.fsum(demands.block_hours))
        program.row(-math.inf, 0.0, entries + [(y, -hours) for y in started[index, month]])
        if not shared[index].weights:
            _link_small_uses(program, entries, started[index, month], hours)


def is_done_in_month(need: WorkloadDemand) -> bool:
    """Whether all work of a month is done in that month, at one place."""
    return need.deadline is None and not need.may_spread


def _add_gang_rows(program: LinearProgram, owner: int, month: int, shares: Sequence[int], starts: RowEntries) -> None:
    """A gang works in a month only if all that it takes is there; `starts` have the gangs that a unit is there for,
    negative."""
    z = program.column(ProgramColumn("gang", owner, month), 0.0, 1.0, whole=True)
    by_task: dict[DemandTask, list[int]] = defaultdict(list)
    for number in shares:
        by_task[program.columns[number].task].append(number)
    for numbers in by_task.values():
        program.row(-math.inf, 0.0, [*((f, 1.0) for f in numbers), (z, -1.0)])
    program.row(-math.inf, 0.0, [(z, 1.0), *starts])


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
