"""A large program cut down to the homes that matter, with a bound that holds for the whole of it. Knows no solver.

The first selection is a guess (for every workload the homes that cost least alone, commitments used in every hour); the
bound is not. It comes from the prices of the selection's linear relaxation (dual_bounds.py). Homes that could gain at
those prices, with all their ways of paying, are added until none does: then the bound is the optimum of the whole
relaxation, which was never solved as a whole. The search gets the homes that gain or lose least at the last prices.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from planner.optimization.dual_bounds import (
    ProgramArrays,
    build_arrays,
    close_homes,
    extend_duals,
    proven_bound,
    reduced_costs,
    repair_duals,
    rows_with,
    valid_duals,
)
from planner.optimization.linear_program import LinearProgram

if TYPE_CHECKING:
    from planner.optimization.dual_bounds import Flags, Floats, Places

COLUMNS_MAX = 40_000
"""Programs with more columns are restricted."""
CHEAPEST_HOMES = 8
"""Homes of each workload in the first selection, and places for its overflow."""
MORE_HOMES = 4
"""Times as many where those cannot do all of the work."""
SEARCH_COLUMNS_MAX = 15_000
"""Columns for the search: whole nodes need more choice than the relaxation uses."""
ROUNDS_MAX = 40
NEGLIGIBLE_GAIN = 1e-7
"""Of the objective: a column that could save less is not added."""
BOUND_TOLERANCE = 1e-3
"""Of the objective: how far the bound may stay below the relaxation's optimum when the search for more homes ends."""


@dataclass(frozen=True, slots=True)
class Relaxation:
    """The optimum of a linear relaxation and the price of each row (its dual; positive where its lower bound holds it
    back). No duals: not solved."""

    objective: float
    duals: tuple[float, ...]


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


def restrict_program(
    program: LinearProgram, relax: RelaxProgram, cheapest: int = CHEAPEST_HOMES, rounds: int = ROUNDS_MAX
) -> Restriction:
    """The columns that matter and the bound of the whole program: the best bound where `rounds` end first; all
    columns and no bound (minus infinity) where there is none."""
    import numpy as np

    arrays = build_arrays(program)
    included = _include_resources(arrays, _first_groups(program, arrays, cheapest), len(program.steps))
    best, number, complete = -np.inf, 0, False
    proof = np.zeros(len(arrays.row_lower))
    while number < rounds and not complete:
        number += 1
        columns, rows = _select_columns(arrays, included)
        relaxed = relax(_build_subprogram(program, arrays, columns, rows))
        if not relaxed.duals and cheapest < arrays.is_home.sum():  # too few homes, or too slow ones: more of them
            cheapest *= MORE_HOMES
            included = _include_resources(arrays, _first_groups(program, arrays, cheapest), len(program.steps))
            continue
        if not relaxed.duals:
            break
        duals = np.zeros(len(arrays.row_lower))
        duals[rows] = relaxed.duals
        outside = np.ones(len(arrays.cost), dtype=bool)
        outside[columns] = False
        duals = close_homes(arrays, extend_duals(arrays, valid_duals(arrays, duals), rows), outside)
        proof = repair_duals(arrays, duals, outside)
        best = max(best, proven_bound(arrays, proof, reduced_costs(arrays, proof)))
        complete = best >= relaxed.objective - BOUND_TOLERANCE * abs(relaxed.objective)
        improving = _improving_groups(arrays, reduced_costs(arrays, duals), relaxed.objective)
        included = _include_resources(arrays, included | improving, len(program.steps))
    if best == -np.inf:  # the selection cannot do all of the work, or gives no bound
        return Restriction(program, tuple(range(len(program.columns))), -np.inf, number, complete=False)
    nearest = _nearest_groups(arrays, reduced_costs(arrays, proof), included, best, len(program.steps))
    columns, rows = _select_columns(arrays, nearest)
    return Restriction(
        _build_subprogram(program, arrays, columns, rows), tuple(columns.tolist()), float(best), number, complete
    )


def _first_groups(program: LinearProgram, arrays: ProgramArrays, cheapest: int) -> Flags:
    """The groups of the homes that cost least alone, of all work that has no choice of homes, and of existing
    capacity."""
    import numpy as np

    nothing = np.zeros(0, dtype=np.int64)
    fully_used = extend_duals(arrays, np.zeros(len(arrays.row_lower)), nothing)
    alone = _costs_alone(arrays, reduced_costs(arrays, fully_used))
    overflow = np.array([step.overflow for step in program.steps])
    side = np.zeros(len(arrays.cost), dtype=bool)
    at_home = np.flatnonzero(arrays.home >= 0)
    side[arrays.home[at_home]] = overflow[arrays.group[at_home]]
    rivals: dict[tuple[int, bool], list[tuple[float, int]]] = defaultdict(list)
    for home in np.flatnonzero(arrays.is_home).tolist():
        rivals[program.columns[home].owner, bool(side[home])].append((float(alone[home]), home))
    chosen = np.zeros(len(arrays.cost), dtype=bool)
    for ranked in rivals.values():
        chosen[[home for _, home in sorted(ranked)[:cheapest]]] = True
    return _groups_of_homes(arrays, chosen) | _groups_without_choice(arrays)


def _costs_alone(arrays: ProgramArrays, reduced: Floats) -> Floats:
    """By home, what all of its work costs at least at those costs: the cheapest way of each task, added up."""
    import numpy as np

    doing = np.flatnonzero((arrays.home >= 0)[arrays.entry_column] & (arrays.entry_value > 0))
    opening = rows_with(arrays, arrays.is_home)
    doing = doing[opening[arrays.entry_row[doing]]]
    least = np.full(len(arrays.row_lower), np.inf)
    np.minimum.at(least, arrays.entry_row[doing], reduced[arrays.entry_column[doing]] / arrays.entry_value[doing])
    opens = np.flatnonzero(arrays.is_home[arrays.entry_column] & np.isfinite(least)[arrays.entry_row])
    weights = least[arrays.entry_row[opens]]
    alone: Floats = np.bincount(arrays.entry_column[opens], weights=weights, minlength=len(arrays.cost)).astype(float)
    return alone


def _groups_without_choice(arrays: ProgramArrays) -> Flags:
    """The groups of work that has no choice of homes, and of existing capacity, which is paid in any case."""
    import numpy as np

    groups = np.zeros(len(arrays.resource), dtype=bool)
    groups[arrays.group[arrays.is_start & (arrays.lower > 0)]] = True
    groups[arrays.group[arrays.is_work & (arrays.home < 0)]] = True
    return groups


def _groups_of_homes(arrays: ProgramArrays, homes: Flags) -> Flags:
    """The groups of all work at those homes."""
    import numpy as np

    groups = np.zeros(len(arrays.resource), dtype=bool)
    at_home = (arrays.home >= 0) & (arrays.group >= 0)
    groups[arrays.group[at_home & homes[arrays.home]]] = True
    return groups


def _nearest_groups(arrays: ProgramArrays, reduced: Floats, included: Flags, objective: float, steps: int) -> Flags:
    """The groups for the search: without a choice, then home by home as they cost least at those reduced costs, as many
    as there is room for; in any case those that the relaxation may use, which lose nothing."""
    import numpy as np

    groups = _groups_without_choice(arrays)
    homes = np.flatnonzero(arrays.is_home)
    homes = homes[np.argsort(np.round(reduced[homes], 2), kind="stable")]
    at_home = np.flatnonzero((arrays.home >= 0) & (arrays.group >= 0) & included[arrays.group])
    sizes = np.bincount(arrays.home[at_home], minlength=len(arrays.cost))
    room = SEARCH_COLUMNS_MAX - np.cumsum(sizes[homes])
    chosen = np.zeros(len(arrays.cost), dtype=bool)
    chosen[homes[(room >= 0) | (reduced[homes] <= NEGLIGIBLE_GAIN * max(abs(objective), 1.0))]] = True
    return _include_resources(arrays, groups | (_groups_of_homes(arrays, chosen) & included), steps)


def solve_stepwise(program: LinearProgram, solve: SolveProgram) -> tuple[float, ...]:
    """A good solution of a large program to start a search from, empty where a step has none: first the home of
    each workload and all starts, with everything else relaxed, then all the rest for those homes."""
    kinds = ("home", "start")
    whole = [is_whole and c.kind in kinds for is_whole, c in zip(program.whole, program.columns, strict=True)]
    rough = solve(replace(program, whole=whole))
    if not rough:
        return ()
    homes = [c.kind == "home" for c in program.columns]
    lower = [round(v) if home else low for home, v, low in zip(homes, rough, program.lower, strict=True)]
    upper = [round(v) if home else up for home, v, up in zip(homes, rough, program.upper, strict=True)]
    return solve(replace(program, lower=lower, upper=upper))


def expand_values(part: Restriction, values: Sequence[float], columns: int) -> tuple[float, ...]:
    """Values of the selected columns as values of all `columns` of the whole: 0 for the others."""
    import numpy as np

    expanded_values = np.zeros(columns)
    expanded_values[list(part.columns)] = values
    return tuple(expanded_values.tolist())


def _select_columns(arrays: ProgramArrays, included: Flags) -> tuple[Places, Places]:
    """The selected columns, and the rows that contain any of them or cannot hold without any."""
    import numpy as np

    chosen = (arrays.group < 0) | included[arrays.group]
    on_resource = np.where(arrays.group >= 0, arrays.resource[arrays.group], -1)
    chosen &= (on_resource < 0) | included[on_resource]
    needed = rows_with(arrays, chosen) | (arrays.row_lower > 0) | (arrays.row_upper < 0)
    return np.flatnonzero(chosen), np.flatnonzero(needed)


def _include_resources(arrays: ProgramArrays, included: Flags, steps: int) -> Flags:
    """Those groups, and the resources of the steps among them."""
    resources = arrays.resource[:steps][included[:steps]]
    included[resources[resources >= 0]] = True
    return included


def _build_subprogram(program: LinearProgram, arrays: ProgramArrays, columns: Places, rows: Places) -> LinearProgram:
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


def _improving_groups(arrays: ProgramArrays, reduced: Floats, objective: float) -> Flags:
    """The groups with a column, or of a home, that could lower the objective by something at those reduced costs."""
    import numpy as np

    gain = -reduced * np.where(np.isfinite(arrays.upper), arrays.upper, 1.0)
    improves = gain > NEGLIGIBLE_GAIN * max(abs(objective), 1.0)
    groups = _groups_of_homes(arrays, improves & arrays.is_home)
    groups[arrays.group[improves & (arrays.group >= 0)]] = True
    return groups
