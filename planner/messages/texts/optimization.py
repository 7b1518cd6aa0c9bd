"""Why the solver gave no plan for a strategy."""

from __future__ import annotations

TEXTS = {
    "solver_time_limit": "not solved within {limit_seconds:.0f} s, which proves nothing: narrow what may be used",
    "solver_work_limit": (
        "no plan was found within the work of the search, which proves nothing: search longer (effort: proof),"
        " or narrow what may be used"
    ),
}
