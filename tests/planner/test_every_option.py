"""What every way of paying promises, for whatever the folder holds."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.finance.cashflow import Terms, present_cost
from planner.supply.purchase_options import load_purchase_options
from pricing.price import Price

TERMS = Terms(12, 730.0, 0.08, -0.1, 0.5, charge_beyond_horizon=True)
every_option = pytest.mark.parametrize("kind", load_purchase_options())
quantities = st.floats(0.01, 1000)


def price_of(kind: str, per_hour: float = 2.0, upfront: str = "none", term_months: int = 12) -> Price:
    term = term_months if load_purchase_options()[kind].COMMITS else 0
    paid = upfront if load_purchase_options()[kind].COMMITS else ""
    return Price("aws", "r", "t", kind, kind, term, paid, "", per_hour, "USD", date(2026, 1, 1), "s", "listed", "")


@every_option
@given(quantities, st.integers(1, 12), st.sampled_from(["none", "partial", "all"]))
def test_payments_are_in_proportion_to_quantity_and_price(kind, quantity, month, upfront):
    one = present_cost(load_purchase_options()[kind].payments(price_of(kind, upfront=upfront), month, 1, TERMS), 0.01)
    many = present_cost(
        load_purchase_options()[kind].payments(price_of(kind, upfront=upfront), month, quantity, TERMS), 0.01
    )
    dear = present_cost(load_purchase_options()[kind].payments(price_of(kind, 6.0, upfront), month, 1, TERMS), 0.01)
    assert many == pytest.approx(one * quantity)
    assert dear == pytest.approx(one * 3)


@every_option
@given(st.integers(1, 12))
def test_nothing_is_paid_before_it_starts_or_after_the_horizon(kind, month):
    paid = load_purchase_options()[kind].payments(price_of(kind), month, 1, TERMS)
    assert paid
    assert all(month <= p.month <= TERMS.months and p.amount > 0 for p in paid)
    assert all(month <= m <= TERMS.months for m in load_purchase_options()[kind].usable(price_of(kind), month, TERMS))


@pytest.mark.parametrize(
    "kind", [kind for kind, o in load_purchase_options().items() if o.COMMITS and o.UNIT != "node_day"]
)
@given(st.sampled_from(["none", "partial", "all"]), st.sampled_from([12, 36]), st.integers(1, 12))
def test_a_commitment_owes_its_whole_term_however_it_is_paid(kind, upfront, term, month):
    paid = load_purchase_options()[kind].payments(price_of(kind, 2.0, upfront, term), month, 1, TERMS)
    assert sum(p.amount for p in paid) == pytest.approx(2.0 * 8760 * term / 12)


@every_option
def test_it_says_what_it_is(kind):
    option = load_purchase_options()[kind]
    assert option.TITLE
    assert not (option.COMMITS and option.INTERRUPTS)
    assert option.__doc__


def test_uncommitted_prices_follow_the_assumed_change():
    """-10 % a year: in month 7 half a year has passed, 2 x 0.9^0.5 = 1.8974 an hour."""
    (paid,) = load_purchase_options()["on_demand"].payments(price_of("on_demand"), 7, 1, TERMS)
    assert paid.amount == pytest.approx(2 * 0.9**0.5)


def test_a_day_of_a_node_is_paid_whole_before_it_starts():
    """2 an hour for 24 hours."""
    (paid,) = load_purchase_options()["capacity_block"].payments(price_of("capacity_block"), 3, 1, TERMS)
    assert (paid.month, paid.at, paid.amount) == (3, "start", 48.0)


def test_commitments_that_start_later_follow_the_change_of_their_own_prices():
    """10 % a year dearer: a year committed to in month 13 costs 2 x 8,760 x 1.1; spot and on demand stay."""
    terms = replace(TERMS, months=36, price_change_annual=0.0, commitment_price_change_annual=0.1)
    paid = load_purchase_options()["reserved"].payments(price_of("reserved"), 13, 1, terms)
    assert sum(p.amount for p in paid) == pytest.approx(2 * 8760 * 1.1)
    assert load_purchase_options()["spot"].payments(price_of("spot"), 13, 1, terms)[0].amount == 2.0
