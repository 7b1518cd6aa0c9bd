"""Constraints on where work is done: all of it, each workload at one home.

A workload lives at one place in the cloud, or on one owned system; then one place in the cloud takes what exceeds it,
by the hour. Where the type of a home in the cloud ends within the plan, the workload moves to another home then. With
one home possible, or where work may be spread, every task is simply done.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from planner.optimization.linear_program import ANY_HOUR, DemandTask, LinearProgram, ProgramColumn, RowEntries
from planner.supply.homes import Home, has_fixed_gang_type, home_of
from planner.supply.resources import Resource
from planner.workloads.demand import PortfolioDemand

TaskShares = dict[DemandTask, RowEntries]
HomeShares = dict[Home, TaskShares]
"""The shares of each task at each home."""


def task_of(need: int, month: int, block: int, demands: PortfolioDemand) -> tuple[DemandTask, float]:
    """The task that work of a month and block belongs to, with the units of the whole task."""
    stated = demands.needs[need]
    if stated.deadline is not None:
        return (need, 0, ANY_HOUR), stated.total
    if stated.levels is None:
        return (need, month, ANY_HOUR), stated.monthly[month - 1]
    return (need, month, block), stated.block_units(month - 1, block, demands.block_hours)


def list_tasks(index: int, demands: PortfolioDemand) -> Iterator[DemandTask]:
    """The tasks of a workload."""
    need = demands.needs[index]
    for month in (need.deadline,) if need.deadline is not None else range(1, len(need.monthly) + 1):
        for block in range(len(demands.block_hours)) if need.levels is not None else (ANY_HOUR,):
            task, units = task_of(index, month, block, demands)
            if units:
                yield task


def add_home_rows(program: LinearProgram, demands: PortfolioDemand, resources: Sequence[Resource]) -> None:
    """The rows of all workloads."""
    homes: dict[int, HomeShares] = defaultdict(dict)
    overflows: dict[int, HomeShares] = defaultdict(dict)
    of_step: dict[int, TaskShares] = {}
    for number, column in enumerate(program.columns):
        if column.kind != "work":
            continue
        if column.owner not in of_step:
            step = program.steps[column.owner]
            side = overflows if step.overflow else homes
            home = home_of(step.candidate, resources)
            of_step[column.owner] = side[step.candidate.need].setdefault(home, defaultdict(list))
        of_step[column.owner][column.task].append((number, 1.0))
    ends = {resource.place: resource.last_month for resource in resources if resource.last_month is not None}
    for index, need in enumerate(demands.needs):
        tasks = tuple(list_tasks(index, demands))
        at_home, overflow = homes[index], overflows[index]
        if need.may_spread or len(at_home) + len(overflow) < 2:
            _add_task_rows(program, index, tasks, [*at_home.values(), *overflow.values()])
        elif not at_home:  # nothing lives where only overflow may go
            _add_task_rows(program, index, tasks, ())
            _close_overflow(program, overflow)
        else:
            last = {home: ends[home.place] for home in at_home if home.place in ends and need.deadline is None}
            chosen = _add_cloud_rows(program, index, tasks, at_home, last)
            owned = {home: u for home, u in chosen.items() if home.is_owned}
            if owned:
                _add_owned_rows(program, index, tasks, at_home, overflow, owned)
                if has_fixed_gang_type(need):
                    _keep_gang_type(program, overflow, owned)
            else:
                _close_overflow(program, overflow)


def _add_task_rows(
    program: LinearProgram, index: int, tasks: Sequence[DemandTask], places: Sequence[TaskShares]
) -> None:
    """Every task is done. A task without candidates gets a row that no solution fulfils."""
    for task in tasks:
        doing = [entry for shares in places for entry in shares.get(task, ())]
        missing = [(program.column(ProgramColumn("short", index, 0), 0.0, 0.0, whole=False), 1.0)]
        program.row(1.0, 1.0, doing or missing, index)


def _add_cloud_rows(
    program: LinearProgram, index: int, tasks: Sequence[DemandTask], homes: HomeShares, last: Mapping[Home, int]
) -> dict[Home, int]:
    """One home is chosen. In the cloud all tasks are done there up to the `last` month of its type, and the later ones
    at another home that does not end. The columns of the homes, owned ones too."""
    chosen = {home: program.column(ProgramColumn("home", index, 0), 0.0, 1.0, whole=True) for home in sorted(homes)}
    program.row(1.0, 1.0, [(u, 1.0) for u in chosen.values()])
    lasting = [home for home in chosen if not home.is_owned and home not in last]
    later: dict[tuple[int, Home], int] = {}
    for month in sorted(set(last.values())):
        moves = {home: program.column(ProgramColumn("home", index, month), 0.0, 1.0, whole=True) for home in lasting}
        leaving = [(chosen[home], -1.0) for home, end in last.items() if end == month]
        program.row(0.0, 0.0, [*((v, 1.0) for v in moves.values()), *leaving])
        later |= {(month, home): v for home, v in moves.items()}
    for home, u in chosen.items():
        for task in () if home.is_owned else tasks:
            arrived = [(v, -1.0) for (month, to), v in later.items() if to == home and task[1] > month]
            if home not in last or task[1] <= last[home]:
                program.row(0.0, 0.0, [*homes[home].get(task, ()), (u, -1.0), *arrived], index)
    return chosen


def _add_owned_rows(
    program: LinearProgram,
    index: int,
    tasks: Sequence[DemandTask],
    homes: HomeShares,
    overflows: HomeShares,
    owned: Mapping[Home, int],
) -> None:
    """On owned systems all tasks are done, there and where overflow goes: to one place."""
    some_owned = [(u, -1.0) for u in owned.values()]
    sides = [*(homes[home] for home in owned), *overflows.values()]
    for task in tasks:
        program.row(0.0, 0.0, [*(entry for shares in sides for entry in shares.get(task, ())), *some_owned], index)
    taking = {home: program.column(ProgramColumn("home", index, 0), 0.0, 1.0, whole=True) for home in sorted(overflows)}
    if taking:
        program.row(-math.inf, 0.0, [*((w, 1.0) for w in taking.values()), *some_owned])
    _allow_only_there(program, homes, owned)
    _allow_only_there(program, overflows, taking)


def _close_overflow(program: LinearProgram, overflows: HomeShares) -> None:
    """No owned home is in time, and so no overflow: no other row would keep that work from nodes that are paid."""
    for shares in overflows.values():
        for entries in shares.values():
            for number, _ in entries:
                program.upper[number] = 0.0


def _keep_gang_type(program: LinearProgram, overflows: HomeShares, owned: Mapping[Home, int]) -> None:
    """Overflow runs with the accelerator and gang of the owned home: parallelism and batch of such a job are set for
    them."""
    for home in sorted(overflows):
        same = [(u, -1.0) for other, u in owned.items() if other.gang_type == home.gang_type]
        for entries in overflows[home].values():
            program.row(-math.inf, 0.0, [*entries, *same])


def _allow_only_there(program: LinearProgram, shares: HomeShares, chosen: Mapping[Home, int]) -> None:
    """No part of a task is done at a home that is not chosen."""
    for home, column in chosen.items():
        for entries in shares[home].values():
            program.row(-math.inf, 0.0, [*entries, (column, -1.0)])
