"""Validates that a plan document is consistent: problems across fields, which reading its values one by one cannot
find."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from planner.finance.cashflow import present_cost
from planner.request.errors import InputProblem
from planner.request.field_types import MONTHS_MAX
from planner.result import CashRow, Plan, PriceUsed, Purchase, Strategy, Use
from pricing.price import parse_purchase_option

SUM_TOLERANCE = 1e-6


def find_plan_problems(plan: Plan, strategy: Strategy) -> Iterator[InputProblem]:
    """Every problem of a plan and of the compared strategy; paths are those of the document."""
    if not plan.months == len(plan.month_names) > 0:
        yield _build_problem("months", f"{plan.months} months with {len(plan.month_names)} names")
    for index, workload in enumerate(plan.workloads):
        if len(workload.demand) != plan.months:
            yield _build_problem(
                f"workloads[{index}].demand", f"{len(workload.demand)} months", f"{plan.months} values"
            )
    at = f"strategies[{plan.strategies.index(strategy)}]"
    names = {workload.name for workload in plan.workloads}
    for index, use in enumerate(strategy.uses):
        if use.workload not in names:
            yield _build_problem(f"{at}.uses[{index}].workload", f"no workload of the plan: {use.workload}")
    dated: dict[str, Sequence[Use | Purchase | CashRow]] = {
        "uses": strategy.uses, "purchases": strategy.purchases, "cash": strategy.cash
    }  # fmt: skip
    for kind, lines in dated.items():
        for index, line in enumerate(lines):
            # hardware is ordered before the plan, never used then
            if not (1 if kind == "uses" else 1 - MONTHS_MAX) <= line.month <= plan.months:
                yield _build_problem(
                    f"{at}.{kind}[{index}].month", f"no month of the plan: {line.month}", f"1 to {plan.months}"
                )
    paid: dict[str, Sequence[PriceUsed | Use | Purchase]] = {
        "prices": plan.prices, f"{at}.uses": strategy.uses, f"{at}.purchases": strategy.purchases
    }  # fmt: skip
    for place, priced in paid.items():
        for index, row in enumerate(priced):
            if row.purchase_option != "owned" and parse_purchase_option(row.purchase_option) is None:
                yield _build_problem(f"{place}[{index}].purchase_option", f"no purchase option: {row.purchase_option}")
    yield from _check_sums(plan, strategy, at)


def _check_sums(plan: Plan, strategy: Strategy, at: str) -> Iterator[InputProblem]:
    """The payments must add up to the costs in the document."""
    if plan.discount_rate_annual <= -1:
        yield _build_problem("discount_rate_annual", f"no rate: {plan.discount_rate_annual}", "more than -1")
        return
    rate = (1 + plan.discount_rate_annual) ** (1 / 12) - 1
    total = math.fsum(row.amount for row in strategy.cash)
    present = present_cost(strategy.cash, rate)
    for name, recorded, computed in (
        ("total_cost", strategy.total_cost, total),
        ("present_cost", strategy.present_cost, present),
    ):
        if not math.isclose(recorded, computed, rel_tol=SUM_TOLERANCE, abs_tol=0.01):
            yield _build_problem(
                f"{at}.{name}", f"is {recorded:,.2f}, but the payments in cash come to {computed:,.2f}"
            )


def _build_problem(path: str, message: str, expected: str = "") -> InputProblem:
    return InputProblem(path, path, message, expected=expected)
