"""The solved strategies seen in other ways than as cash: effective costs, the return of owning, costs per unit, tax.

Reads decisions and payments, and decides nothing: every amount comes from the payments of `options` and `owned`.
"""

from __future__ import annotations

from collections.abc import Sequence

from planner.answer import Recommendation
from planner.answer.views import Views
from planner.estate import Finance
from planner.explain import bridge
from planner.replay import Setting
from planner.strategy import Solved
from planner.views.effective import effective
from planner.views.owning import owning
from planner.views.tax import depreciation
from planner.views.units import unit_costs

__all__ = ["views"]


def views(finance: Finance, advice: Recommendation, solved: Sequence[Solved], setting: Setting) -> Views:
    """Every view of the strategies that can serve the demand, in their order."""
    feasible = [s for s in solved if s.strategy.status != "infeasible"]
    return Views(
        effective=tuple(row for s in feasible for row in effective(s, setting)),
        owning=owning(feasible, setting),
        unit_costs=unit_costs(feasible, setting),
        depreciation=tuple(row for s in feasible for row in depreciation(s, setting, finance)),
        bridge=bridge(advice, [s.strategy for s in feasible], setting.terms.discount_rate_monthly),
    )
