"""Options of the solver for a search, by the size of its program and by its purpose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

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


def options_of(columns: int, aim: SearchAim) -> dict[str, float | str]:
    """The options of a search of a program of so many columns."""
    rules_off = ENUMERATION | (0 if columns <= AGGREGATED_COLUMNS else AGGREGATION)
    of_size = LARGE_SEARCH if columns > LARGE_COLUMNS else {}
    of_proof = {**PROOF_ONLY, "mip_allow_restart": columns > LARGE_COLUMNS}
    of_aim = {"bound": of_proof, "root": ROOT_ONLY}.get(aim, {})
    return {"presolve_rule_off": rules_off, **of_size, **of_aim}
