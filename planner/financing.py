"""How hardware is paid: cash with a deposit, a loan, or a lease: all its payments from the order to the horizon."""

from __future__ import annotations

from planner.assumptions import Assumptions
from planner.cashflow import Payment, Terms, annuity_factor
from planner.estate import Finance
from planner.finance import loan_payment


def hardware_payments(
    amount: float, month: int, delivery: int, finance: Finance, assumptions: Assumptions, terms: Terms
) -> tuple[Payment, ...]:
    """All that is paid within the horizon for hardware of `amount` ordered at the start of `month`.

    cash: the deposit at the order, the rest at the start of the month of delivery. loan: from delivery on, level
    payments at the end of each month; what is still owed at the horizon's end is paid off then. lease: from delivery
    on, a share of the amount at the start of each month; what outlives the horizon is owed at its end, or left out
    where the request says pro rata.
    """
    if finance.hardware == "loan":
        return _loan(amount, delivery, assumptions, terms)
    if finance.hardware == "lease":
        return _lease(amount, delivery, assumptions, terms)
    deposit = assumptions["deposit_fraction"].value * amount
    if delivery > terms.months or delivery == month:
        return (Payment(month, "start", "hardware", amount),)
    rows = (Payment(month, "start", "hardware", deposit), Payment(delivery, "start", "hardware", amount - deposit))
    return tuple(row for row in rows if row.amount)


def _loan(amount: float, delivery: int, assumptions: Assumptions, terms: Terms) -> tuple[Payment, ...]:
    months, annual = round(assumptions["loan_months"].value), assumptions["loan_rate_annual"].value
    level = loan_payment(amount, annual, months)
    last = min(delivery + months - 1, terms.months)
    rows = [Payment(at, "end", "financing", level) for at in range(delivery, last + 1)]
    left = months - len(rows)
    if left > 0 and rows:
        rows.append(Payment(terms.months, "end", "financing", level * annuity_factor(left, annual / 12)))
    return tuple(rows)


def _lease(amount: float, delivery: int, assumptions: Assumptions, terms: Terms) -> tuple[Payment, ...]:
    months, level = round(assumptions["lease_months"].value), assumptions["lease_fraction_per_month"].value * amount
    last = min(delivery + months - 1, terms.months)
    rows = [Payment(at, "start", "financing", level) for at in range(delivery, last + 1)]
    left = months - len(rows)
    if left > 0 and rows and terms.charge_beyond_horizon:
        rows.append(Payment(terms.months, "end", "financing", level * left))
    return tuple(rows)


def months_held(finance: Finance, assumptions: Assumptions) -> int:
    """How long a node is used: its life, or the lease where that ends before."""
    life = round(assumptions["useful_life_months"].value)
    return min(life, round(assumptions["lease_months"].value)) if finance.hardware == "lease" else life
