"""Bounds on the cost of a program from prices of its rows, over all of its columns. Knows no solver.

Any prices of the rows (duals, y) bound a program from below (weak duality):

    sum_rows (y > 0: lower y, y < 0: upper y) + sum_columns (d > 0: lower d, d < 0: upper d),   d = cost - y A

Prices that come from a part of the columns say nothing of the rows without any of those, and may leave columns outside
with a gain. A row of capacity without selected columns gets the price at which a start used in every hour just pays for
itself. What the work of a home that is left out would gain is taken from the price of having a home: a workload has
one, so the bound loses only the most that any of them gains.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.optimization.linear_program import LinearProgram

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Places = NDArray[np.int64]

NEVER = 1e12
"""The price of a task at a home where it cannot be done."""
LINK_SCALE = 1.0
"""The scale of rows that only link a share to a start; those of capacity have hours in them."""


@dataclass(frozen=True, slots=True)
class ProgramArrays:
    """A program as arrays: entries by row and column, and for each column the group that selects it (-1: always
    selected).

    Groups are the steps, then the shared resources (their starts). `resource` is that of a step's group, itself for a
    resource's, -1 by the hour. `home` is the column that opens the home of a column of work, -1 where none is needed.
    """

    cost: Floats
    lower: Floats
    upper: Floats
    row_lower: Floats
    row_upper: Floats
    row_scale: Floats
    entry_row: Places
    entry_column: Places
    entry_value: Floats
    group: Places
    resource: Places
    is_gang: Flags
    is_work: Flags
    counts_nodes: Flags
    is_start: Flags
    is_task: Flags
    is_home: Flags
    home: Places


def bound_from_duals(program: LinearProgram, duals: Iterable[float]) -> float:
    """A lower bound on the cost of any solution of `program`, from any prices of its rows; minus infinity: no bound."""
    import numpy as np

    arrays = build_arrays(program)
    prices = valid_duals(arrays, np.array(list(duals), dtype=float))
    return proven_bound(arrays, prices, reduced_costs(arrays, prices))


def build_arrays(program: LinearProgram) -> ProgramArrays:
    import numpy as np

    steps = len(program.steps)
    kinds = np.array([column.kind for column in program.columns])
    owners = np.array([column.owner for column in program.columns], dtype=np.int64)
    is_start = kinds == "start"
    by_step = np.isin(kinds, ("work", "ready", "gang", "gang_days", "peak"))
    shared = max([step.shared for step in program.steps if step.shared is not None], default=-1)
    resources = max(shared, int(owners[is_start].max(initial=-1))) + 1
    of_step = np.array([-1 if s.shared is None else steps + s.shared for s in program.steps], dtype=np.int64)
    return ProgramArrays(
        cost=np.array(program.cost, dtype=float),
        lower=np.array(program.lower, dtype=float),
        upper=np.array(program.upper, dtype=float),
        row_lower=np.array(program.row_lower, dtype=float),
        row_upper=np.array(program.row_upper, dtype=float),
        row_scale=np.array(program.row_scale, dtype=float),
        entry_row=np.array(program.entry_row, dtype=np.int64),
        entry_column=np.array(program.entry_column, dtype=np.int64),
        entry_value=np.array(program.entry_value, dtype=float),
        group=np.where(is_start, steps + owners, np.where(by_step, np.maximum(owners, -1), -1)),
        resource=np.concatenate([of_step, steps + np.arange(resources, dtype=np.int64)]),
        is_gang=kinds == "gang",
        is_work=kinds == "work",
        counts_nodes=np.isin(kinds, ("ready", "gang_days")),
        is_start=is_start,
        is_task=np.array(program.row_need) >= 0,
        is_home=kinds == "home",
        home=_homes_of_columns(program, kinds == "home"),
    )


def _homes_of_columns(program: LinearProgram, is_home: Flags) -> Places:
    """By column of work, the column that opens its home: they share rows in which the home allows the work."""
    import numpy as np

    rows, columns = np.array(program.entry_row), np.array(program.entry_column)
    opener = np.full(len(program.row_lower), -1)
    opens = is_home[columns] & (np.array(program.entry_value) < 0)
    opener[rows[opens]] = columns[opens]
    homes = np.full(len(program.columns), -1)
    allowed = ~is_home[columns] & (opener[rows] >= 0)
    homes[columns[allowed]] = opener[rows[allowed]]
    return homes


def rows_with(arrays: ProgramArrays, columns: Flags) -> Flags:
    """The rows that any of `columns` is in."""
    import numpy as np

    flags = np.zeros(len(arrays.row_lower), dtype=bool)
    flags[arrays.entry_row[columns[arrays.entry_column]]] = True
    return flags


def reduced_costs(arrays: ProgramArrays, duals: Floats) -> Floats:
    """The reduced cost of each column at these prices of the rows: cost - y A."""
    import numpy as np

    used = np.bincount(
        arrays.entry_column, weights=arrays.entry_value * duals[arrays.entry_row], minlength=len(arrays.cost)
    )
    return arrays.cost - used


def extend_duals(arrays: ProgramArrays, duals: Floats, known: Places) -> Floats:
    """Those prices, and prices for the rows without selected columns: between work and starts, the cost of a start over
    all hours that it gives, which leaves no start with a profit; then between work and what counts whole nodes or days
    for it, what those cost."""
    import numpy as np

    open_rows = np.ones(len(duals), dtype=bool)
    open_rows[known] = False
    open_rows &= ~rows_with(arrays, arrays.is_gang) & (arrays.row_upper == 0)
    for supplier, smallest in ((arrays.is_start, LINK_SCALE), (arrays.counts_nodes, 0.0)):
        reduced = np.maximum(reduced_costs(arrays, duals), 0.0)
        supplied = open_rows[arrays.entry_row] & supplier[arrays.entry_column] & (arrays.entry_value < 0)
        gives = np.flatnonzero(supplied & (arrays.row_scale[arrays.entry_row] > smallest))
        row, column = arrays.entry_row[gives], arrays.entry_column[gives]
        hours = -arrays.entry_value[gives] * arrays.row_scale[row]
        given = np.bincount(column, weights=hours, minlength=len(arrays.cost))
        price = np.full(len(duals), np.inf)
        np.minimum.at(price, row, reduced[column] / given[column])
        price[np.isinf(price)] = 0.0
        duals = duals - price * arrays.row_scale
    return duals


def repair_duals(arrays: ProgramArrays, duals: Floats, outside: Flags) -> Floats:
    """Prices (of closed homes) of homes and tasks lowered until no column `outside` gains at them. A workload has one
    home and a task is done once, so the bound loses only the most that any of them gains, not the sum."""
    for of_all in (False, True):  # first what takes the overflow of owned nodes, then where a workload lives
        rows = _home_choices(arrays, of_all=of_all)
        duals = duals + _largest_gains(arrays, duals, arrays.is_home, rows)
    return duals + _largest_gains(arrays, duals, outside & ~arrays.is_home & (arrays.home < 0), arrays.is_task)


def close_homes(arrays: ProgramArrays, duals: Floats, columns: Flags) -> Floats:
    """Prices at which those columns of work gain nothing by themselves: their gains go to the homes that allow them. In
    a home in the cloud that is left out a task is worth what it costs at least."""
    import numpy as np

    opening = rows_with(arrays, arrays.is_home) & rows_with(arrays, ~arrays.is_home)
    whole: Flags = opening & (arrays.row_lower == 0) & ~rows_with(arrays, ~arrays.is_home & ~columns)
    reduced = reduced_costs(arrays, duals)
    doing = np.flatnonzero(whole[arrays.entry_row] & (arrays.entry_value > 0))
    least = np.full(len(duals), np.inf)
    np.minimum.at(least, arrays.entry_row[doing], reduced[arrays.entry_column[doing]] / arrays.entry_value[doing])
    closed = whole & np.isinf(least)  # a task that nothing there can do
    least[~whole | closed] = 0.0
    duals = duals + least + np.where(closed, NEVER, 0.0)
    return duals + _largest_gains(
        arrays, duals, columns & (arrays.home >= 0), opening & ~whole & (arrays.row_lower < 0)
    )


def _home_choices(arrays: ProgramArrays, *, of_all: bool) -> Flags:
    """The rows among homes only: that a workload has one (`of_all`), or that overflow needs an owned home."""
    among_homes: Flags = rows_with(arrays, arrays.is_home) & ~rows_with(arrays, ~arrays.is_home)
    rows: Flags = among_homes & ((arrays.row_lower > 0) == of_all)
    return rows


def _largest_gains(arrays: ProgramArrays, duals: Floats, columns: Flags, rows: Flags) -> Floats:
    """By row, the most (negative) that any of its columns gains at those prices, for a unit of the row."""
    import numpy as np

    reduced = reduced_costs(arrays, duals)
    entries = np.flatnonzero(
        (columns & (reduced < 0))[arrays.entry_column] & rows[arrays.entry_row] & (arrays.entry_value > 0)
    )
    most = np.zeros(len(duals))
    np.minimum.at(most, arrays.entry_row[entries], reduced[arrays.entry_column[entries]] / arrays.entry_value[entries])
    return most


def valid_duals(arrays: ProgramArrays, duals: Floats) -> Floats:
    """The prices less those, left by rounding, of a bound that a row does not have."""
    import numpy as np

    invalid = ((duals > 0) & np.isneginf(arrays.row_lower)) | ((duals < 0) & np.isposinf(arrays.row_upper))
    return np.where(invalid, 0.0, duals)


def proven_bound(arrays: ProgramArrays, duals: Floats, reduced: Floats) -> float:
    """The bound that the prices prove (see the top)."""
    import numpy as np

    with np.errstate(invalid="ignore"):
        of_rows = np.where(duals > 0, arrays.row_lower * duals, np.where(duals < 0, arrays.row_upper * duals, 0.0))
        of_columns = np.where(reduced > 0, arrays.lower * reduced, np.where(reduced < 0, arrays.upper * reduced, 0.0))
    return math.fsum((*of_rows.tolist(), *of_columns.tolist()))
