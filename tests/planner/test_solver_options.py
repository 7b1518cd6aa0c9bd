"""The options of the solver for a search."""

from __future__ import annotations

import pytest

from planner.optimization.solver_options import LARGE_COLUMNS, options_of


@pytest.mark.parametrize(("more", "is_again"), [(0, False), (1, True)])
def test_only_large_programs_are_presolved_again_for_their_bound(more, is_again):
    assert options_of(LARGE_COLUMNS + more, "bound")["mip_allow_restart"] is is_again
