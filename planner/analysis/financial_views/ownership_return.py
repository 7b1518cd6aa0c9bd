"""The return of buying hardware against the cloud strategy: the decisions of both are fixed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Literal

from planner.finance.cashflow import Payment, present_cost
from planner.finance.time_value import annual_rate, discount_flows, internal_rates, net_present_value, payback_time
from planner.optimization import solution
from planner.optimization.solution import PlanningContext
from planner.optimization.strategy import SolvedStrategy
from planner.result import Strategy
from planner.result.financial_views import BreakEvenPrice, OwningReturn
from planner.supply import payments as paying
from planner.supply.resources import Resource
from pricing.frozen_values import dataclass

PriceScope = Literal["hourly", "cloud"]
CheaperSide = Literal["above", "below", "always", "never"]
PRICE_SCOPES: tuple[PriceScope, ...] = ("hourly", "cloud")
SAVING_TOLERANCE = 1e-9
"""Of the payments of a month: smaller differences are rounding, not savings."""


def assess_ownership(solved: Sequence[SolvedStrategy], setting: PlanningContext) -> tuple[OwningReturn, ...]:
    """For each strategy that buys hardware; none where cloud was not requested or is impossible."""
    cloud = next((s for s in solved if s.strategy.name == "cloud"), None)
    if cloud is None:
        return ()
    buying = [s for s in solved if any(purchase.what == "owned" for purchase in s.strategy.purchases)]
    return tuple(_compute_return(own, cloud, setting) for own in buying)


def _compute_return(own: SolvedStrategy, cloud: SolvedStrategy, setting: PlanningContext) -> OwningReturn:
    rate = setting.terms.discount_rate_monthly
    flows = compute_savings(cloud.strategy, own.strategy, setting.terms.months, rate)
    saving = net_present_value(flows, rate)
    return OwningReturn(
        strategy=own.strategy.name,
        savings=flows,
        net_present_value=saving,
        internal_rates_annual=tuple(annual_rate(monthly) for monthly in internal_rates(flows)),
        payback_month=find_payback_month(flows),
        discounted_payback_month=find_payback_month(discount_flows(flows, rate)),
        break_even_prices=tuple(
            _compute_break_even_price(prices, saving, own, cloud, setting) for prices in PRICE_SCOPES
        ),
    )


def compute_savings(cloud: Strategy, own: Strategy, months: int, rate_monthly: float) -> tuple[float, ...]:
    """The payments of `cloud` less those of `own`, by month from its start: at least `months` + 1 of them. What is paid
    before the plan counts at its start, with interest until then."""
    paid, instead = _sum_by_time(cloud, rate_monthly), _sum_by_time(own, rate_monthly)
    last = max([months, *paid, *instead])
    return tuple(_compute_saving(paid.get(time, 0.0), instead.get(time, 0.0)) for time in range(last + 1))


def find_payback_month(flows: Sequence[float]) -> int | None:
    """The first time at which the flows so far are 0 or more again after they were less; 0 where they never are, None
    where they stay so. Months before anything is ordered, or in which something is saved first, do not pay back.

    >>> find_payback_month([0, -100, 60, 60]), find_payback_month([20, -100, 10]), find_payback_month([5, 5])
    (3, None, 0)
    """
    so_far = list(accumulate(flows))
    first = next((time for time, amount in enumerate(so_far) if amount < 0), None)
    if first is None:
        return 0
    later = payback_time([so_far[first], *flows[first + 1 :]])
    return None if later is None else first + later


def _sum_by_time(strategy: Strategy, rate_monthly: float) -> dict[int, float]:
    """The start of month m is m - 1, its end m."""
    amounts: dict[int, list[float]] = {}
    for row in strategy.cash:
        time = row.month - 1 if row.at == "start" else row.month
        interest = (1 + rate_monthly) ** max(0, -time)
        amounts.setdefault(max(0, time), []).append(row.amount * interest)
    return {time: math.fsum(parts) for time, parts in amounts.items()}


def _compute_saving(paid: float, instead: float) -> float:
    saved = paid - instead
    return saved if abs(saved) > SAVING_TOLERANCE * max(abs(paid), abs(instead)) else 0.0


@dataclass(frozen=True, slots=True)
class _PriceSensitivePayments:
    """All payments of a strategy that move with some prices, and the accelerator-hours used for them."""

    payments: tuple[Payment, ...]
    accelerator_hours: float


def _compute_break_even_price(
    prices: PriceScope, saving: float, own: SolvedStrategy, cloud: SolvedStrategy, setting: PlanningContext
) -> BreakEvenPrice:
    """With both plans fixed, the saving of owning is linear in the level of prices; today it is `saving`."""
    rented, instead = (
        _collect_price_sensitive_payments(cloud, prices, setting),
        _collect_price_sensitive_payments(own, prices, setting),
    )
    rate = setting.terms.discount_rate_monthly
    multiple, cheaper = find_break_even_multiple(
        saving, present_cost(rented.payments, rate) - present_cost(instead.payments, rate)
    )
    hours = rented.accelerator_hours
    paid = math.fsum(payment.amount for payment in rented.payments) / hours if hours else None
    level = None if paid is None or multiple is None else paid * multiple
    return BreakEvenPrice(prices, multiple, cheaper, paid, level)


def find_break_even_multiple(saving: float, slope: float) -> tuple[float | None, CheaperSide]:
    """Where saving + slope x (multiple - 1) is 0, and on which side of it, at prices of 0 and more, it is positive.

    >>> find_break_even_multiple(-50.0, 100.0), find_break_even_multiple(200.0, 100.0)
    ((1.5, 'above'), (None, 'always'))
    """
    multiple = 1 - saving / slope if slope else None
    if multiple is not None and multiple >= 0:
        return multiple, "above" if slope > 0 else "below"
    return None, "always" if saving - slope > 0 else "never"  # the saving at a price of 0


def _collect_price_sensitive_payments(
    solved: SolvedStrategy, prices: PriceScope, setting: PlanningContext
) -> _PriceSensitivePayments:
    """Payments by the hour and, for all cloud prices, of every commitment that starts within the plan."""
    resources, payments, hours = setting.market.resources, list[Payment](), list[float]()
    for share in solved.decisions.shares:
        resource = resources[share.candidate.resource]
        if resource.what != "hourly" and not (prices == "cloud" and _is_new_in_cloud(resource)):
            continue
        hours.append(share.node_hours * resource.accelerators_per_node)
        payments += paying.resource_use_payments(
            resource, share.month, share.node_hours, setting.assumptions, setting.terms
        )
    if prices == "cloud":
        committed = (b for b in solved.decisions.bought if _is_new_in_cloud(b.resource))
        payments += (payment for b in committed for payment in solution.purchase_payments(setting, b))
    return _PriceSensitivePayments(tuple(payments), math.fsum(hours))


def _is_new_in_cloud(resource: Resource) -> bool:
    """Paid at the prices of the plan: neither owned nor there already."""
    return resource.node is None and resource.held is None
