"""How long each effort searches for a plan."""

from __future__ import annotations

import math
from collections.abc import Mapping

from planner.optimization.program_parts import FAR_GAP
from planner.optimization.solution import SearchEffort
from planner.optimization.solver import GAP_TARGET
from pricing.frozen_values import dataclass

SMALL_COLUMNS = 6_000
"""Programs of at most so many columns are solved whole, to the smallest gap."""


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """How long to search: the `small_gap` that ends the search of a small program, `whole_columns` of a larger one that
    is searched whole, `nearest` homes of each workload for the first plan, the `work` of a search, and the `gap` that
    ends it. `near`: a gap within which homes that were found by moves are good enough. Where they are not, a program by
    place of at most `place_columns` columns chooses among all homes, and its bound is that of all; a larger one among
    the nearest, where it `chooses_nearest`. `rounds`: of the relaxation of very many stays. `far`: a large program of
    the homes of cheaper plans is not searched where its relaxation is farther from the plan. `budget`: of work for all
    searches of a plan, which has more for many workloads (see budget_of_plan)."""

    small_gap: float
    whole_columns: int
    nearest: int
    work: float
    gap: float
    near: float
    place_columns: int
    chooses_nearest: bool
    rounds: int
    far: float
    budget: float = 20.0


EFFORTS: Mapping[SearchEffort, SearchLimits] = {
    # rough: homes of the relaxation, without a bound
    "rough": SearchLimits(GAP_TARGET, SMALL_COLUMNS, 0, 1e7, 5e-3, GAP_TARGET, 0, True, 1, 0.0),
    "close": SearchLimits(GAP_TARGET, SMALL_COLUMNS, 1, 2e7, GAP_TARGET, GAP_TARGET, 8_000, False, 2, 0.0),
    "coarse": SearchLimits(1e-3, SMALL_COLUMNS, 1, 1e6, 5e-3, FAR_GAP, 8_000, False, 1, 0.0),
    "quick": SearchLimits(GAP_TARGET, SMALL_COLUMNS, 1, 1e7, 5e-3, FAR_GAP, 8_000, False, 2, 0.0),
    "standard": SearchLimits(GAP_TARGET, 40_000, 2, 2e7, 5e-4, 5e-4, 30_000, True, 8, 0.02),
    "proof": SearchLimits(GAP_TARGET, 400_000, 8, 4e8, 1e-6, GAP_TARGET, 100_000, True, 40, math.inf, math.inf),
}
