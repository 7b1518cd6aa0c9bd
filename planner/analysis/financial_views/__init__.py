"""Financial views of the solved strategies: effective cost, cost centres, return of owning, unit costs, depreciation.

Reads decisions and payments, and decides nothing: every amount comes from `supply.payments`.
"""

from __future__ import annotations

from collections.abc import Sequence

from planner.analysis.financial_views.effective_cost import spread_effective_cost, sum_fiscal_quarters
from planner.analysis.financial_views.ownership_return import assess_ownership
from planner.analysis.financial_views.tax_depreciation import schedule_depreciation
from planner.analysis.financial_views.unit_economics import compute_unit_costs
from planner.analysis.recommendation import build_cost_bridge
from planner.optimization.solution import PlanningContext
from planner.optimization.strategy import SolvedStrategy
from planner.request.ownership import Finance
from planner.result import Recommendation
from planner.result.financial_views import CostCentreMonth, FinancialViews

__all__ = ["build_financial_views"]


def build_financial_views(
    finance: Finance,
    advice: Recommendation,
    solved: Sequence[SolvedStrategy],
    setting: PlanningContext,
    fiscal_year_starts: int = 1,
) -> FinancialViews:
    """Every view of the strategies that can serve the demand, in their order."""
    feasible = [s for s in solved if s.strategy.status != "infeasible"]
    chosen = next((s for s in feasible if s.strategy.name == advice.strategy), None)
    spread = [spread_effective_cost(s, setting) for s in feasible]
    months = setting.demands.month_names
    return FinancialViews(
        effective=tuple(row for rows in spread for row in rows),
        fiscal_quarters=tuple(
            quarter
            for s, rows in zip(feasible, spread, strict=True)
            for quarter in sum_fiscal_quarters(s.strategy, rows, months[0], len(months), fiscal_year_starts)
        ),
        cost_centres=_charge_cost_centres(chosen, setting) if chosen is not None else (),
        owning=assess_ownership(feasible, setting),
        unit_costs=compute_unit_costs(feasible, setting),
        depreciation=tuple(row for s in feasible for row in schedule_depreciation(s, setting, finance)),
        bridge=build_cost_bridge(advice, [s.strategy for s in feasible], setting.terms.discount_rate_monthly),
    )


def _charge_cost_centres(chosen: SolvedStrategy, setting: PlanningContext) -> tuple[CostCentreMonth, ...]:
    """The charges by team; its module is loaded only where workloads have teams or budgets."""
    workloads = [need.workload for need in setting.demands.needs]
    if not any(each.team or each.budget_per_month is not None for each in workloads):
        return ()
    from planner.analysis.financial_views.cost_centres import charge_cost_centres

    return charge_cost_centres(chosen, setting)
