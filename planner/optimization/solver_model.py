"""A program, and a basis to begin from, as the solver takes them."""

from __future__ import annotations

from typing import Any

from planner.optimization.linear_program import ProgramArrays
from planner.request.errors import InternalError
from pricing.frozen_values import dataclass

GOES_ON = 0
"""How a relaxation goes on from a basis: by the primal simplex method where the basis is a solution, else by the dual
one. At 50 workloads x 36 months either of them alone takes ten times as long at some seeds."""
AT_LOWER, BASIC = 0, 1
"""States in a basis."""


@dataclass(frozen=True, slots=True)
class Basis:
    """The state of each column and row at the optimum of a relaxation, a byte each; another program may go on from it
    (program_names.py)."""

    columns: bytes
    rows: bytes


def load_solver(numbers: ProgramArrays, **options: float | str) -> Any:
    """The solver with a program in it, silent and with one thread."""
    import highspy

    highs = highspy.Highs()  # type: ignore[no-untyped-call]  # highspy has no types
    for option, value in {"output_flag": False, "threads": 1, **options}.items():
        highs.setOptionValue(option, value)
    if highs.passModel(_build_highs_model(numbers)) == highspy.HighsStatus.kError:
        raise InternalError("the solver does not take the program: it is malformed")
    return highs


def _build_highs_model(numbers: ProgramArrays) -> Any:
    import highspy
    import numpy as np

    columns, rows = len(numbers.cost), len(numbers.row_lower)
    order = np.lexsort((numbers.entry_row, numbers.entry_column))
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = columns, rows
    lp.col_cost_ = numbers.cost
    lp.col_lower_ = numbers.lower
    lp.col_upper_ = numbers.upper
    lp.row_lower_ = numbers.row_lower
    lp.row_upper_ = numbers.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.searchsorted(numbers.entry_column[order], np.arange(columns + 1)).astype(np.int32)
    lp.a_matrix_.index_ = numbers.entry_row[order].astype(np.int32)
    lp.a_matrix_.value_ = numbers.entry_value[order]
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    lp.integrality_ = [kinds[whole] for whole in numbers.whole.tolist()]
    return lp


def read_basis(highs: Any) -> Basis:
    found = highs.getBasis()
    return Basis(bytes(map(int, found.col_status)), bytes(map(int, found.row_status)))


def set_basis(highs: Any, basis: Basis) -> None:
    """As many columns and rows as there are rows should be basic; where there are more or fewer the solver mends it
    ("alien")."""
    import highspy

    states = [highspy.HighsBasisStatus(state) for state in range(len(highspy.HighsBasisStatus.__members__))]
    known = highspy.HighsBasis()
    known.col_status = [states[each] for each in basis.columns]
    known.row_status = [states[each] for each in basis.rows]
    known.valid = known.alien = True
    highs.setOptionValue("simplex_strategy", GOES_ON)
    if highs.setBasis(known) == highspy.HighsStatus.kError:
        raise InternalError("the solver does not take the basis: it is malformed")
