"""A large program cut down to the columns that matter, with a bound that holds for the whole of it. Knows no solver.

The first selection of columns is a guess (for every workload the cheapest steps of each purchase option); the bound is
not. Any prices of the rows (duals, y) bound the whole program from below, for any selection (weak duality):

    sum_rows (y > 0: lower y, y < 0: upper y) + sum_columns (d > 0: lower d, d < 0: upper d),   d = cost - y A

The prices come from the linear relaxation of the selection. A row without selected columns (the capacity of a resource
that is left out) gets the price of its most eager user, so that a resource is added only if its starts would pay off
with every hour sold at that price. Steps and resources are added until none improves: then the bound is the optimum of
the whole relaxation, which was never solved as a whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from planner.optimization.linear_program import LinearProgram

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Places = NDArray[np.int64]

COLUMNS_MAX = 20_000
"""Programs with more columns are restricted."""
CHEAPEST_ACTIVITIES = 3
"""Steps of each workload and purchase option in the first selection (its effect: decision 0016)."""
SEARCH_COLUMNS_MAX = 15_000
"""Up to so many columns, the first selection stays for the search: whole nodes need more choice than the relaxation."""
ROUNDS_MAX = 40
NEGLIGIBLE_GAIN = 1e-7
"""Of the objective: a column that could save less is not added."""
BOUND_TOLERANCE = 1e-4
"""Of the objective: how far the bound may stay below the relaxation's optimum when the search for more columns ends."""


@dataclass(frozen=True, slots=True)
class Relaxation:
    """The optimum of a linear relaxation, its values by column and the price of each row (its dual; positive where its
    lower bound holds it back). No duals: not solved."""

    objective: float
    duals: tuple[float, ...]
    values: tuple[float, ...] = ()


RelaxProgram = Callable[[LinearProgram], Relaxation]
SolveProgram = Callable[[LinearProgram], tuple[float, ...]]
"""Solves a program: the best known values by column, empty without a solution."""


@dataclass(frozen=True, slots=True)
class Restriction:
    """A program of some columns of a larger one. `bound` holds for the larger; `complete`: it is its relaxation's."""

    program: LinearProgram
    columns: tuple[int, ...]
    bound: float
    rounds: int
    complete: bool


@dataclass(frozen=True, slots=True)
class _ProgramArrays:
    """A program as arrays: entries by row and column, and for each column the group that selects it (-1: always
    selected).

    Groups are the steps, then the shared resources (their starts). `resource` is that of a step's group, itself for a
    resource's, -1 by the hour.
    """

    cost: Floats
    lower: Floats
    upper: Floats
    row_lower: Floats
    row_upper: Floats
    entry_row: Places
    entry_column: Places
    entry_value: Floats
    group: Places
    resource: Places
    is_gang: Flags
    is_ready: Flags
    is_start: Flags
    is_task: Flags


def restrict_program(
    program: LinearProgram,
    ways: Sequence[str],
    relax: RelaxProgram,
    cheapest: int = CHEAPEST_ACTIVITIES,
    rounds: int = ROUNDS_MAX,
) -> Restriction:
    """The columns that matter and the bound of the whole program: the best bound where `rounds` end first; all
    columns and no bound (minus infinity) where there is none.

    `ways[index]` is the purchase option of the shared resource of that index: the cheapest of one option need not be
    the best of another.
    """
    import numpy as np

    arrays = _build_arrays(program)
    first = included = _initial_groups(program, arrays, ways, cheapest)
    by_hour = included & (arrays.resource < 0)
    used = included
    best, number, complete = -np.inf, 0, False

    while number < rounds and not complete:
        number += 1
        columns, rows = _select_columns(arrays, included)
        relaxed = relax(_build_subprogram(program, arrays, columns, rows))
        if not relaxed.duals:
            break
        duals = np.zeros(len(arrays.row_lower))
        duals[rows] = relaxed.duals
        duals = _valid_duals(arrays, duals)
        proof = _repair_duals(arrays, _extend_duals(arrays, duals, rows, share=True), columns)
        best = max(best, _proven_bound(arrays, proof, _reduced_costs(arrays, proof)))
        eager = _reduced_costs(arrays, _extend_duals(arrays, duals, rows, share=False))
        improving = _improving_groups(arrays, eager, relaxed.objective)
        used = by_hour | _existing_groups(arrays) | _used_groups(arrays, columns, relaxed)
        complete = best >= relaxed.objective - BOUND_TOLERANCE * abs(relaxed.objective)
        included = _include_resources(arrays, included | improving, len(program.steps))
    if best == -np.inf:  # the selection cannot do all of the work, or gives no bound
        return Restriction(program, tuple(range(len(program.columns))), -np.inf, number, complete=False)
    columns, rows = _select_columns(arrays, _include_resources(arrays, used | first, len(program.steps)))
    if len(columns) > SEARCH_COLUMNS_MAX:
        columns, rows = _select_columns(arrays, _include_resources(arrays, used, len(program.steps)))
    return Restriction(
        _build_subprogram(program, arrays, columns, rows), tuple(columns.tolist()), float(best), number, complete
    )


def solve_stepwise(program: LinearProgram, solve: SolveProgram) -> tuple[float, ...]:
    """A good solution of a large program to start a search from, empty where a step has none: first the accelerator of
    each job and all starts, with everything else relaxed, then all the rest for those accelerators."""
    whole = [
        is_whole and c.kind in ("team", "start") for is_whole, c in zip(program.whole, program.columns, strict=True)
    ]
    rough = solve(replace(program, whole=whole))
    if not rough:
        return ()
    teams = [c.kind == "team" for c in program.columns]
    lower = [round(v) if team else low for team, v, low in zip(teams, rough, program.lower, strict=True)]
    upper = [round(v) if team else up for team, v, up in zip(teams, rough, program.upper, strict=True)]
    return solve(replace(program, lower=lower, upper=upper))


def expand_values(part: Restriction, values: Sequence[float], columns: int) -> tuple[float, ...]:
    """Values of the selected columns as values of all `columns` of the whole: 0 for the others."""
    import numpy as np

    expanded_values = np.zeros(columns)
    expanded_values[list(part.columns)] = values
    return tuple(expanded_values.tolist())


def bound_from_duals(program: LinearProgram, duals: Iterable[float]) -> float:
    """A lower bound on the cost of any solution of `program`, from any prices of its rows; minus infinity: no bound."""
    import numpy as np

    arrays = _build_arrays(program)
    prices = _valid_duals(arrays, np.array(list(duals), dtype=float))
    return _proven_bound(arrays, prices, _reduced_costs(arrays, prices))


def _build_arrays(program: LinearProgram) -> _ProgramArrays:
    import numpy as np

    steps = len(program.steps)
    kinds = np.array([column.kind for column in program.columns])
    owners = np.array([column.owner for column in program.columns], dtype=np.int64)
    is_start = kinds == "start"
    by_step = np.isin(kinds, ("work", "ready", "reserve", "gang", "peak"))
    shared = max([step.shared for step in program.steps if step.shared is not None], default=-1)
    resources = max(shared, int(owners[is_start].max(initial=-1))) + 1
    of_step = np.array([-1 if s.shared is None else steps + s.shared for s in program.steps], dtype=np.int64)
    return _ProgramArrays(
        cost=np.array(program.cost, dtype=float),
        lower=np.array(program.lower, dtype=float),
        upper=np.array(program.upper, dtype=float),
        row_lower=np.array(program.row_lower, dtype=float),
        row_upper=np.array(program.row_upper, dtype=float),
        entry_row=np.array(program.entry_row, dtype=np.int64),
        entry_column=np.array(program.entry_column, dtype=np.int64),
        entry_value=np.array(program.entry_value, dtype=float),
        group=np.where(is_start, steps + owners, np.where(by_step, owners, -1)),
        resource=np.concatenate([of_step, steps + np.arange(resources, dtype=np.int64)]),
        is_gang=kinds == "gang",
        is_ready=kinds == "ready",
        is_start=is_start,
        is_task=np.array(program.row_need) >= 0,
    )


def _initial_groups(program: LinearProgram, arrays: _ProgramArrays, ways: Sequence[str], cheapest: int) -> Flags:
    """The first selection: of each workload and purchase option the cheapest steps, with their resources; all existing
    capacity."""
    import numpy as np

    steps = len(program.steps)
    per_unit = _cost_per_unit(program, arrays)
    rivals: dict[tuple[int, str], list[tuple[float, int]]] = defaultdict(list)
    for number, step in enumerate(program.steps):
        way = "" if step.shared is None else ways[step.shared]
        rivals[step.candidate.need, way].append((float(per_unit[number]), number))
    included = np.zeros(len(arrays.resource), dtype=bool)
    for ranked in rivals.values():
        for _, number in sorted(ranked)[:cheapest]:
            included[number] = True
        fastest = max(ranked, key=lambda pair: (program.steps[pair[1]].candidate.gang_rate, -pair[1]))
        included[fastest[1]] = True  # the cheapest may be too slow for a deadline
    return _include_resources(arrays, included | _existing_groups(arrays), steps)


def _existing_groups(arrays: _ProgramArrays) -> Flags:
    """The groups of existing capacity, which is paid whether it is used or not."""
    import numpy as np

    groups = np.zeros(len(arrays.resource), dtype=bool)
    groups[arrays.group[arrays.is_start & (arrays.lower > 0)]] = True
    return groups


def _include_resources(arrays: _ProgramArrays, included: Flags, steps: int) -> Flags:
    """Those groups, and the resources of the steps among them."""
    resources = arrays.resource[:steps][included[:steps]]
    included[resources[resources >= 0]] = True
    return included


def _cost_per_unit(program: LinearProgram, arrays: _ProgramArrays) -> Floats:
    """By step, the least cost of a unit of work: hours of shared nodes at the cheapest start, used in full."""
    import numpy as np

    scale = np.array(program.row_scale)[arrays.entry_row]
    capacity = ~_rows_with(arrays, arrays.is_gang)[arrays.entry_row]
    column, amount = arrays.entry_column[capacity], (arrays.entry_value * scale)[capacity]
    given = np.zeros(len(arrays.cost))
    np.add.at(given, column[amount < 0], -amount[amount < 0])
    price = np.full(len(arrays.resource), np.inf)
    starts = np.flatnonzero(arrays.is_start & (given > 0))
    np.minimum.at(price, arrays.group[starts], arrays.cost[starts] / given[starts])
    hours = np.array([column.node_hours for column in program.columns])
    units = np.array([column.units for column in program.columns])
    ready = np.flatnonzero(arrays.is_ready)
    an_hour = np.zeros(len(arrays.resource))
    an_hour[arrays.group[ready]] = arrays.cost[ready] / hours[ready]
    work = np.flatnonzero(units > 0)
    group = arrays.group[work]
    of_resource = arrays.resource[group]
    shared = np.where(of_resource >= 0, price[of_resource], 0.0)
    per_unit = np.full(len(arrays.resource), np.inf)
    np.minimum.at(per_unit, group, (arrays.cost[work] + (an_hour[group] + shared) * hours[work]) / units[work])
    return per_unit


def _rows_with(arrays: _ProgramArrays, columns: Flags) -> Flags:
    """The rows that any of `columns` is in."""
    import numpy as np

    flags = np.zeros(len(arrays.row_lower), dtype=bool)
    flags[arrays.entry_row[columns[arrays.entry_column]]] = True
    return flags


def _select_columns(arrays: _ProgramArrays, included: Flags) -> tuple[Places, Places]:
    """The selected columns, and the rows that contain any of them or cannot hold without any."""
    import numpy as np

    chosen = (arrays.group < 0) | included[arrays.group]
    on_resource = np.where(arrays.group >= 0, arrays.resource[arrays.group], -1)
    chosen &= (on_resource < 0) | included[on_resource]
    needed = _rows_with(arrays, chosen) | (arrays.row_lower > 0) | (arrays.row_upper < 0)
    return np.flatnonzero(chosen), np.flatnonzero(needed)


def _used_groups(arrays: _ProgramArrays, columns: Places, relaxed: Relaxation) -> Flags:
    """The groups that the relaxation uses."""
    import numpy as np

    busy = arrays.group[columns[np.array(relaxed.values) > NEGLIGIBLE_GAIN]]
    groups = np.zeros(len(arrays.resource), dtype=bool)
    groups[busy[busy >= 0]] = True
    return groups


def _build_subprogram(program: LinearProgram, arrays: _ProgramArrays, columns: Places, rows: Places) -> LinearProgram:
    import numpy as np

    new_column = np.full(len(arrays.cost), -1)
    new_column[columns] = np.arange(len(columns))
    new_row = np.full(len(arrays.row_lower), -1)
    new_row[rows] = np.arange(len(rows))
    inside = (new_column[arrays.entry_column] >= 0) & (new_row[arrays.entry_row] >= 0)
    by_column = {name: getattr(program, name) for name in ("columns", "cost", "lower", "upper", "whole")}
    by_row = {name: getattr(program, name) for name in program.__slots__ if name.startswith("row_")}
    return LinearProgram(
        **{name: [values[index] for index in columns.tolist()] for name, values in by_column.items()},
        **{name: [values[index] for index in rows.tolist()] for name, values in by_row.items()},
        entry_row=new_row[arrays.entry_row[inside]].tolist(),
        entry_column=new_column[arrays.entry_column[inside]].tolist(),
        entry_value=arrays.entry_value[inside].tolist(),
        steps=program.steps,
    )


def _reduced_costs(arrays: _ProgramArrays, duals: Floats) -> Floats:
    """The reduced cost of each column at these prices of the rows: cost - y A."""
    import numpy as np

    used = np.bincount(
        arrays.entry_column, weights=arrays.entry_value * duals[arrays.entry_row], minlength=len(arrays.cost)
    )
    return arrays.cost - used


def _extend_duals(arrays: _ProgramArrays, duals: Floats, known: Places, share: bool) -> Floats:
    """Those prices, and prices for the rows without selected columns: first those between work and ready nodes, then
    those between work and starts. Each is the most that a user of the row would pay, or with `share` the part of it
    that leaves the suppliers (all starts of a resource by the same factor) without profit."""
    import numpy as np

    duals = duals.copy()
    open_rows = np.ones(len(duals), dtype=bool)
    open_rows[known] = False
    open_rows &= ~_rows_with(arrays, arrays.is_gang) & (arrays.row_upper == 0)
    supplies = arrays.entry_value < 0
    for supplier, supplier_key in ((arrays.is_ready, np.arange(len(arrays.cost))), (arrays.is_start, arrays.group)):
        reduced = _reduced_costs(arrays, duals)
        entries = np.flatnonzero(open_rows[arrays.entry_row])
        entries = entries[_rows_with(arrays, supplier & (arrays.group >= 0))[arrays.entry_row[entries]]]
        row, column, value = arrays.entry_row[entries], arrays.entry_column[entries], arrays.entry_value[entries]
        price = np.zeros(len(duals))
        users = value > 0
        np.minimum.at(price, row[users], reduced[column[users]] / value[users])
        gives = supplies[entries] & supplier[column]
        earned = np.bincount(column[gives], weights=(price[row] * value)[gives], minlength=len(arrays.cost))
        earns = np.flatnonzero(earned > 0)
        part = np.ones(max(len(arrays.cost), len(arrays.resource)))
        if share:
            np.minimum.at(part, supplier_key[earns], np.clip(reduced[earns] / earned[earns], 0.0, 1.0))
        remaining = np.ones(len(duals))
        np.minimum.at(remaining, row[gives], part[supplier_key[column[gives]]])
        duals += price * remaining
    return duals


def _repair_duals(arrays: _ProgramArrays, duals: Floats, chosen: Places) -> Floats:
    """Prices of the tasks lowered until no work that is left out gains at them: a task is done once, so the bound loses
    only the most that any of its work gains, not the sum."""
    import numpy as np

    reduced = _reduced_costs(arrays, duals)
    outside = np.ones(len(reduced), dtype=bool)
    outside[chosen] = False
    entries = np.flatnonzero((outside & (reduced < 0))[arrays.entry_column] & arrays.is_task[arrays.entry_row])
    most = np.zeros(len(duals))
    np.minimum.at(most, arrays.entry_row[entries], reduced[arrays.entry_column[entries]] / arrays.entry_value[entries])
    return duals + most


def _improving_groups(arrays: _ProgramArrays, reduced: Floats, objective: float) -> Flags:
    """The groups with a column that could lower the objective by something."""
    import numpy as np

    gain = -reduced * np.where(np.isfinite(arrays.upper), arrays.upper, 1.0)
    improves = (gain > NEGLIGIBLE_GAIN * max(abs(objective), 1.0)) & (arrays.group >= 0)
    groups = np.zeros(len(arrays.resource), dtype=bool)
    groups[arrays.group[improves]] = True
    return groups


def _valid_duals(arrays: _ProgramArrays, duals: Floats) -> Floats:
    """The prices less those, left by rounding, of a bound that a row does not have."""
    import numpy as np

    invalid = ((duals > 0) & np.isneginf(arrays.row_lower)) | ((duals < 0) & np.isposinf(arrays.row_upper))
    return np.where(invalid, 0.0, duals)


def _proven_bound(arrays: _ProgramArrays, duals: Floats, reduced: Floats) -> float:
    """The bound that the prices prove (see the top)."""
    import math

    import numpy as np

    with np.errstate(invalid="ignore"):
        of_rows = np.where(duals > 0, arrays.row_lower * duals, np.where(duals < 0, arrays.row_upper * duals, 0.0))
        of_columns = np.where(reduced > 0, arrays.lower * reduced, np.where(reduced < 0, arrays.upper * reduced, 0.0))
    return math.fsum((*of_rows.tolist(), *of_columns.tolist()))
