"""A program, and a basis to begin from, as the solver takes them; its options for a search, by size and purpose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from planner.optimization.linear_program import ProgramArrays
from planner.request.errors import InternalError
from pricing.frozen_values import dataclass

SearchAim = Literal["optimum", "root", "bound", "plan", "trial", "better", "used", "start"]
"""The purpose of a search: the optimum with its proof, or the best before it branches; the bound, from a good plan; a
plan; one of a part of the problem; a better one than is known; one of used columns; or one to begin another search.
That there is none of the last four is not confirmed."""
PROOF_ONLY: Mapping[str, float | str] = {
    "mip_heuristic_effort": 0.0,
    "mip_heuristic_run_rens": False,
    "mip_heuristic_run_rins": False,
    "mip_heuristic_run_root_reduced_cost": False,
}
"""The solver without its search for plans: half of the time of a program that begins from a good one. A second presolve
brings the bound of a large one near in half of the time (10 workloads x 36 months); that of one of 2,699 columns did
not end in 60 s, and the bound takes 0.5 s without it."""
ROOT_ONLY: Mapping[str, float | str] = {"mip_max_nodes": 1}
"""The solver until it branches: the choice of the first branches of 40,264 columns took 63 s without counted work."""
SMALL_SEARCH: Mapping[str, float | str] = {"mip_heuristic_run_feasibility_jump": False}
"""The solver without its first guess at a plan, which takes half of the time of a small program."""
AGGREGATION = 1 << 12
"""The rule of the presolve of HiGHS 1.15.1 that substitutes free columns. On the relaxation of one job with a leased
node (7,115 columns) it takes 62 s and more, all else 0.05 s. It leaves rows so dense that each round of cuts of a
search may take 5 s (11,512 columns; without it the whole search 15 s), and the probing that follows 115 s (4,014
columns; without it the whole search 0.2 s). On others leaving it out costs nothing."""
AGGREGATED_COLUMNS = 2_000
"""Programs of at most so many columns are searched with that rule."""
ENUMERATION = 1 << 16
"""The rule of that presolve that tries all values of a few columns. It takes programs for impossible that have
solutions: one of 58,485 columns, whose search without any presolve ends with a plan three times as dear."""
LARGE_COLUMNS = 5_000
LARGE_SEARCH: Mapping[str, float | str] = {
    "mip_allow_restart": False,
    "mip_heuristic_run_rens": False,
    "mip_detect_symmetry": False,
    "mip_pscost_minreliable": 0,
}
"""The solver in programs of more than LARGE_COLUMNS columns: without a second presolve after the first rounds of cuts,
which adds more than a hundred rounds of up to 0.7 s each (of eight searches of 16 to 134 s, seven end in 6 to 42 s
without it, with the same plan and proof, one without proof); without a search among the values of the relaxation, of
up to 22 s, and no better plan; without looking for symmetry, 14 of 59 s in one of 20,572 columns, to no effect; and
without trial branches, 27 s of that search (same plan 21 instead of 35 % above its bound in 31 instead of 45 s; of
11,422 columns 12 instead of 35 % in the same time)."""
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


def options_of(columns: int, aim: SearchAim) -> dict[str, float | str]:
    """The options of a search of a program of so many columns."""
    rules_off = ENUMERATION | (0 if columns <= AGGREGATED_COLUMNS else AGGREGATION)
    of_size = LARGE_SEARCH if columns > LARGE_COLUMNS else {}
    of_proof = {**PROOF_ONLY, "mip_allow_restart": columns > LARGE_COLUMNS}
    of_aim = {"bound": of_proof, "root": ROOT_ONLY}.get(aim, {})
    return {"presolve_rule_off": rules_off, **of_size, **of_aim}
