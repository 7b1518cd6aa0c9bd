"""Constraints of every plan: all work is done, no capacity is used twice, gangs and services have whole nodes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from planner.optimization.dominance import node_place
from planner.optimization.linear_program import (
    ANY_HOUR,
    CandidateActivity,
    DemandTask,
    LinearProgram,
    ProgramColumn,
    RowEntries,
)
from planner.optimization.solution import PlanningContext
from planner.supply.candidates import Resource, gang_type, has_fixed_gang_type
from planner.supply.costs import SharedResource
from planner.workloads.demand import PortfolioDemand, WorkloadDemand
from planner.workloads.placement import parallel_limit

HIDDEN_FRACTION = 1e-3
"""Of the largest entry of a row: smaller ones need a row of their own to be kept exactly."""
StartColumns = dict[tuple[int, int], list[int]]
"""The start columns of a shared resource that cover a month."""


def add_constraints(
    program: LinearProgram, setting: PlanningContext, shared: Sequence[SharedResource], started: StartColumns
) -> None:
    """All rows of the model but the limits."""
    _add_task_rows(program, setting.demands)
    _add_shared_rows(program, setting.demands, shared, started)
    _add_parallel_rows(program, setting.demands)
    _add_gang_type_rows(program, setting.demands, setting.market.resources)
    _add_service_rows(program, setting.demands, setting.market.resources)


def task_of(need: int, month: int, block: int, demands: PortfolioDemand) -> tuple[DemandTask, float]:
    """The task that work of a month and block belongs to, with the units of the whole task."""
    stated = demands.needs[need]
    if stated.deadline is not None:
        return (need, 0, ANY_HOUR), stated.total
    if stated.levels is None:
        return (need, month, ANY_HOUR), stated.monthly[month - 1]
    return (need, month, block), stated.block_units(month - 1, block, demands.block_hours)


def bills_ready_nodes(step: CandidateActivity, need: WorkloadDemand) -> bool:
    """Whether hours are billed by ready nodes (columns `ready`) and not by the work done: services by the hour."""
    return need.serving and step.by_hour


def _add_task_rows(program: LinearProgram, demands: PortfolioDemand) -> None:
    """Every task is done. A task without candidates gets a row that no solution fulfils."""
    doing: dict[DemandTask, RowEntries] = defaultdict(list)
    for number, column in enumerate(program.columns):
        if column.kind == "work":
            doing[column.task].append((number, 1.0))
    for index, need in enumerate(demands.needs):
        months = (need.deadline,) if need.deadline is not None else range(1, len(need.monthly) + 1)
        for month in months:
            for block in range(len(demands.block_hours)) if need.levels is not None else (ANY_HOUR,):
                task, units = task_of(index, month, block, demands)
                if units:
                    missing = [(program.column(ProgramColumn("short", index, 0), 0.0, 0.0, whole=False), 1.0)]
                    program.row(1.0, 1.0, doing.get(task) or missing, index)


def _add_shared_rows(
    program: LinearProgram, demands: PortfolioDemand, shared: Sequence[SharedResource], started: StartColumns
) -> None:
    """No shared capacity is used twice, and a gang that spans shared nodes has all of them in a month it works."""
    used: dict[tuple[int, int, int], RowEntries] = defaultdict(list)
    spanning: dict[tuple[int, int], dict[DemandTask, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, column in enumerate(program.columns):
        if column.kind not in ("work", "ready", "reserve"):
            continue
        step = program.steps[column.owner]
        if step.shared is None:
            continue
        item, need = shared[step.shared], demands.needs[step.candidate.need]
        if column.kind == "reserve" or (column.kind == "ready") == bills_ready_nodes(step, need):
            block = ANY_HOUR if item.by_month else column.block
            used[step.shared, column.month, block].append((number, column.node_hours * item.weight(step.candidate)))
        if column.kind == "work" and step.candidate.nodes_per_gang > 1 and not step.by_hour:
            spanning[column.owner, column.month][column.task].append(number)
    for (index, month, block), entries in sorted(used.items()):
        hours = shared[index].hours(demands.block_hours[block] if block != ANY_HOUR else math.fsum(demands.block_hours))
        program.row(-math.inf, 0.0, entries + [(y, -hours) for y in started[index, month]])
        if not shared[index].weights:
            _link_small_uses(program, entries, started[index, month], hours)
    for (owner, month), tasks in sorted(spanning.items()):
        step = program.steps[owner]
        assert step.shared is not None
        z = program.column(ProgramColumn("gang", owner, month), 0.0, 1.0, whole=True)
        for shares in tasks.values():
            program.row(-math.inf, 0.0, [*((f, 1.0) for f in shares), (z, -1.0)])
        starts = [(y, -1.0) for y in started[step.shared, month]]
        program.row(-math.inf, 0.0, [(z, float(step.candidate.nodes_per_gang)), *starts])


def _link_small_uses(program: LinearProgram, entries: RowEntries, starts: Sequence[int], hours: float) -> None:
    """No share of a task without a unit started, where the solver's tolerance could hide it: beside an entry of 10,000
    node-hours, one of 0.01 is rounding to the solver."""
    largest = max(hours, *(amount for _, amount in entries))
    for number, amount in entries:
        if amount < HIDDEN_FRACTION * largest:
            program.row(-math.inf, 0.0, [(number, 1.0), *((y, -1.0) for y in starts)])


def _add_parallel_rows(program: LinearProgram, demands: PortfolioDemand) -> None:
    """At most P gangs of a job run at once, in every month and block."""
    running: dict[tuple[int, int, int], RowEntries] = defaultdict(list)
    for number, column in enumerate(program.columns):
        if column.kind == "work":
            candidate = program.steps[column.owner].candidate
            if parallel_limit(demands.needs[candidate.need]) is not None:
                gang_hours = column.node_hours / candidate.granule
                running[candidate.need, column.month, column.block].append((number, gang_hours))
    for (index, _, block), entries in sorted(running.items()):
        limit = parallel_limit(demands.needs[index]) or 0
        program.row(-math.inf, limit * demands.block_hours[block], entries)


def _add_gang_type_rows(program: LinearProgram, demands: PortfolioDemand, resources: Sequence[Resource]) -> None:
    """A job with a fixed number of gangs at once uses one accelerator and gang size from start to end.

    Its parallelism and batch are set for them; without this, the optimum would swap hardware within a month.
    """
    teams: dict[int, dict[tuple[str, float], dict[DemandTask, list[int]]]] = defaultdict(dict)
    for number, column in enumerate(program.columns):
        if column.kind == "work":
            candidate = program.steps[column.owner].candidate
            if has_fixed_gang_type(demands.needs[candidate.need]):
                tasks = teams[candidate.need].setdefault(gang_type(candidate, resources), {})
                tasks.setdefault(column.task, []).append(number)
    for index, tasks_by_type in sorted(teams.items()):
        chosen = []
        for _, tasks in sorted(tasks_by_type.items()):
            v = program.column(ProgramColumn("team", index, 0), 0.0, 1.0, whole=True)
            chosen.append((v, 1.0))
            for shares in tasks.values():
                program.row(-math.inf, 0.0, [*((f, 1.0) for f in shares), (v, -1.0)])
        program.row(1.0, 1.0, chosen)


def _add_service_rows(program: LinearProgram, demands: PortfolioDemand, resources: Sequence[Resource]) -> None:
    """A service rents one type of node in one place by the hour (sum w <= 1), in addition to the nodes it shares.

    The last rows, that ready nodes suffice for the work due, follow from the others. They let the solver cut off
    fractions of nodes: ten times faster on a portfolio with two services.
    """
    shared: dict[DemandTask, RowEntries] = defaultdict(list)
    rented: dict[int, dict[tuple[str, ...], list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, column in enumerate(program.columns):
        if column.kind not in ("ready", "work"):
            continue
        step = program.steps[column.owner]
        if column.kind == "ready":
            rented[step.candidate.need][node_place(step.candidate, resources)].append(number)
        elif demands.needs[step.candidate.need].serving and not step.by_hour:
            shared[column.task].append((number, 1.0))
    for need, columns_by_place in sorted(rented.items()):
        chosen = [program.column(ProgramColumn("team", need, 0), 0.0, 1.0, whole=True) for _ in columns_by_place]
        program.row(-math.inf, 1.0, [(w, 1.0) for w in chosen])
        ready: dict[DemandTask, RowEntries] = defaultdict(list)
        for w, columns in zip(chosen, columns_by_place.values(), strict=True):
            for r in columns:
                column = program.columns[r]
                speed = program.steps[column.owner].candidate.units_per_node_hour
                units = task_of(need, column.month, column.block, demands)[1]
                program.row(-math.inf, 0.0, [(r, 1.0), (w, -program.upper[r])])
                ready[column.task].append((r, min(1.0, speed * column.node_hours / units)))
        for task, entries in ready.items():
            program.row(1.0, math.inf, [*shared[task], *entries])
