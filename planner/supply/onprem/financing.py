"""Payments for hardware from the order to the horizon: cash with a deposit, a loan, or a lease."""

from __future__ import annotations

from planner.finance.cashflow import Payment, Terms
from planner.finance.symbolic import annuity_factor
from planner.finance.time_value import loan_payment
from planner.request.assumptions import Assumptions
from planner.request.ownership import Finance


def hardware_payments(
    amount: float, month: int, delivery: int, finance: Finance, assumptions: Assumptions, terms: Terms
) -> tuple[Payment, ...]:
    """All payments within the horizon for hardware of `amount` ordered at the start of `month`.

    cash: the deposit at the order, the rest at the start of the month of delivery. loan: each of these amounts is
    borrowed when due and paid back in level payments at the end of each month; the balance at the horizon's end is
    paid off then. lease: from delivery on, a share of the amount at the start of each month; payments beyond the
    horizon are due at its end, or left out where commitments are charged pro rata.
    """
    if finance.hardware == "lease":
        return _lease_payments(amount, delivery, assumptions, terms)
    due = _seller_payments(amount, month, delivery, assumptions, terms)
    if finance.hardware == "loan":
        return tuple(row for each in due for row in _loan_payments(each, assumptions, terms))
    return due


def _seller_payments(
    amount: float, month: int, delivery: int, assumptions: Assumptions, terms: Terms
) -> tuple[Payment, ...]:
    """Deposit and balance. A delivery beyond the horizon is paid at the order in full."""
    deposit = assumptions["deposit_fraction"].value * amount
    if delivery > terms.months or delivery == month:
        return (Payment(month, "start", "hardware", amount),)
    rows = (Payment(month, "start", "hardware", deposit), Payment(delivery, "start", "hardware", amount - deposit))
    return tuple(row for row in rows if row.amount)


def _loan_payments(due: Payment, assumptions: Assumptions, terms: Terms) -> tuple[Payment, ...]:
    months, annual = _assumed_months("loan_months", assumptions), assumptions["loan_rate_annual"].value
    level = loan_payment(due.amount, annual, months)
    last = min(due.month + months - 1, terms.months)
    rows = [Payment(at, "end", "financing", level) for at in range(due.month, last + 1)]
    if left := months - len(rows):
        # The balance of a loan is the present worth, at the loan's own rate, of the payments still to come.
        rows.append(Payment(terms.months, "end", "financing", level * annuity_factor(annual / 12, left)))
    return tuple(rows)


def _lease_payments(amount: float, delivery: int, assumptions: Assumptions, terms: Terms) -> tuple[Payment, ...]:
    months, level = _assumed_months("lease_months", assumptions), assumptions["lease_fraction_per_month"].value * amount
    last = min(delivery + months - 1, terms.months)
    rows = [Payment(at, "start", "financing", level) for at in range(delivery, last + 1)]
    left = months - len(rows)
    if left and rows and terms.charge_beyond_horizon:
        rows.append(Payment(terms.months, "end", "financing", level * left))
    return tuple(rows)


def level_payment(amount: float, finance: Finance, assumptions: Assumptions) -> float:
    """The monthly payment for hardware of `amount` while its loan or lease runs; 0 where it is paid in cash."""
    if finance.hardware == "loan":
        return loan_payment(amount, assumptions["loan_rate_annual"].value, _assumed_months("loan_months", assumptions))
    return assumptions["lease_fraction_per_month"].value * amount if finance.hardware == "lease" else 0.0


def ownership_months(finance: Finance, assumptions: Assumptions) -> int:
    """How long a node is used: its life, or the lease where that ends before."""
    life = _assumed_months("useful_life_months", assumptions)
    return min(life, _assumed_months("lease_months", assumptions)) if finance.hardware == "lease" else life


def _assumed_months(name: str, assumptions: Assumptions) -> int:
    return round(assumptions[name].value)
