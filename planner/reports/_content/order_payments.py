"""The payments of an order in the audit trail, so that its amounts can be computed at other figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from planner.reports._content.purchase_pools import payment_title
from planner.result import Plan, Purchase
from planner.result.audit_trail import AuditLine
from planner.result.ledger_costs import bill_factor
from pricing.frozen_values import dataclass

RUNNING = frozenset({"power", "space", "staff", "support"})
"""What an owned node costs in every month, used or not, besides its financing."""
PURCHASE_UNITS = frozenset({"nodes", "node-days", "money an hour"})
EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class OrderPayment:
    """A line of the audit trail as a part of an order's amount, in prices of the month `priced_in`."""

    line: int
    priced_in: int


@dataclass(frozen=True, slots=True)
class OrderPayments:
    """What adds up to the amounts of an order; None where the audit trail does not tell."""

    upfront: tuple[OrderPayment, ...] | None
    per_month: tuple[OrderPayment, ...] | None


def find_order_payments(plan: Plan, strategy: str, purchase: Purchase) -> OrderPayments:
    """The payments whose sum is what a purchase costs at its start, and in each month."""
    lines = _lines_of(plan, strategy, purchase)
    upfront = [
        OrderPayment(number, line.priced_in or line.first)
        for number, line in lines
        if line.at == "start" and line.category != "financing"
    ]
    return OrderPayments(
        _if_equal(plan, upfront, purchase.upfront), _if_equal(plan, [*_monthly(lines, purchase)], purchase.per_month)
    )


def _lines_of(plan: Plan, strategy: str, purchase: Purchase) -> Sequence[tuple[int, AuditLine]]:
    """The lines of a purchase with their numbers; none where several decisions could be it."""
    title, amount = payment_title(purchase), purchase.money_per_hour or purchase.count
    found = [
        number
        for number, each in enumerate(plan.ledger.choices)
        if (each.strategy, each.what) == (strategy, title)
        and each.unit in PURCHASE_UNITS
        and math.isclose(each.quantity[max(purchase.month, 1) - 1], amount, rel_tol=EQUAL)
    ]
    if len(found) > 1:  # ordered before the plan: the first payment tells them apart
        first = {number: _first_month(plan, number) for number in found}
        found = [number for number in found if first[number] == purchase.month]
    if len(found) != 1:
        return ()
    return [(number, line) for number, line in enumerate(plan.ledger.lines) if line.choice == found[0]]


def _first_month(plan: Plan, choice: int) -> int:
    return min((line.first for line in plan.ledger.lines if line.choice == choice), default=0)


def _monthly(lines: Sequence[tuple[int, AuditLine]], purchase: Purchase) -> Iterator[OrderPayment]:
    """The payments of a month: of an owned node in its first whole one, in prices of the plan's first month; of a
    commitment in the month of its order."""
    if purchase.what == "commitment":
        due = (each for each in lines if each[1].at == "end" and each[1].first <= purchase.month <= each[1].last)
        for number, line in islice(due, 1):  # the next one, in the last month of a plan, is of the fees beyond it
            yield OrderPayment(number, line.priced_in or purchase.month)
        return
    month = min((line.first for _, line in lines if line.category in RUNNING), default=0)
    for number, line in lines:
        if line.category in {*RUNNING, "financing"} and line.first <= month <= line.last:
            yield OrderPayment(number, 1)


def _if_equal(plan: Plan, parts: Sequence[OrderPayment], amount: float) -> tuple[OrderPayment, ...] | None:
    figures = {each.name: each.value for each in plan.assumptions}
    total = math.fsum(_amount(plan, part, figures) for part in parts)
    return tuple(parts) if math.isclose(total, amount, rel_tol=EQUAL, abs_tol=EQUAL) else None


def _amount(plan: Plan, part: OrderPayment, figures: Mapping[str, float]) -> float:
    line = plan.ledger.lines[part.line]
    growth = (1 + figures[line.growth]) ** ((part.priced_in - 1) / 12) if line.growth else 1.0
    quantity = math.fsum(plan.ledger.choices[line.choice].quantity)
    return quantity * line.rate_value * growth * (bill_factor(figures) if line.is_billed else 1.0)
