"""The options of the solver for a search, and when it ends."""

from __future__ import annotations

import math
from functools import partial
from types import SimpleNamespace

import pytest

from planner.optimization import search_end
from planner.optimization.solver_model import LARGE_COLUMNS, options_of


@pytest.mark.parametrize(("more", "is_again"), [(0, False), (1, True)])
def test_only_large_programs_are_presolved_again_for_their_bound(more, is_again):
    assert options_of(LARGE_COLUMNS + more, "bound")["mip_allow_restart"] is is_again


@pytest.mark.parametrize("aim", ["trial", "better"])
@pytest.mark.parametrize(("more", "ended_at"), [(0, 1 + 4 + 1), (1, 1 + 2 + 1)])
def test_a_trial_of_many_columns_ends_after_half_as_many_occasions_without_a_better_plan(aim, more, ended_at):
    """Of 40 occasions, a tenth is 4: the plan of the first one is within 1 % of its bound, and none is better."""
    columns = search_end.IDLE_COLUMNS + more
    end = search_end.limit_search(40.0 * columns, columns, math.inf, aim, None)
    interrupted: list[int] = []
    progress = SimpleNamespace(mip_primal_bound=50.5, mip_dual_bound=50.0, mip_node_count=1)
    for at in range(1, 100):
        end(SimpleNamespace(data_out=progress, interrupt=partial(interrupted.append, at)))
    assert interrupted[0] == ended_at
