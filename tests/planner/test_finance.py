"""Sums of finance, each against figures worked by hand, and laws that hold for all of them."""

from __future__ import annotations

import doctest
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.analysis.financial_views.ownership_return import find_payback_month
from planner.finance import time_value
from planner.finance.cashflow import Payment, Terms
from planner.studies import formulas as _formulas
from planner.studies.formulas import SavingsPlanUse, rent_of_capital, savings_plan_bill, value_after_years
from planner.supply.payments import add_support_and_tax

rates = st.floats(-0.5, 2.0)
amounts = st.floats(-1e6, 1e6).map(lambda x: round(x, 2))
series = st.lists(amounts, min_size=1, max_size=25)
prices = st.floats(0.01, 1e4)


def test_the_examples_in_its_docstrings():
    assert doctest.testmod(time_value).failed == 0
    assert doctest.testmod(_formulas).failed == 0


# -- flows


def test_present_value_by_hand():
    """-1000 + 500/1.1 + 500/1.21 + 500/1.331 = -1000 + 454.5455 + 413.2231 + 375.6574 = 243.4260."""
    assert time_value.net_present_value([-1000, 500, 500, 500], 0.10) == pytest.approx(243.4260, abs=1e-4)


@given(series, series, rates)
def test_present_values_add_up(one, other, rate):
    longest = max(len(one), len(other))
    a, b = (flows + [0.0] * (longest - len(flows)) for flows in (one, other))
    both = [x + y for x, y in zip(a, b, strict=True)]
    parts = time_value.net_present_value(a, rate) + time_value.net_present_value(b, rate)
    size = time_value.net_present_value([abs(x) + abs(y) for x, y in zip(a, b, strict=True)], rate)
    assert time_value.net_present_value(both, rate) == pytest.approx(parts, abs=1e-9 * size + 1e-9)


@pytest.mark.parametrize(
    ("flows", "rates"),
    [
        ((-100, 110), (0.10,)),
        ((-100, 0, 121), (0.10,)),  # two steps: 1.1^2
        ((-100, 50), (-0.5,)),
        ((-100, 230, -132), (0.10, 0.20)),  # (v - 1/1.1)(v - 1/1.2) x -132
        ((-4, 12, -9), (0.5,)),  # -(2 - 3v)^2: it only touches 0, at v = 2/3
        ((1, -2, 1), (0.0,)),
        ((0, 0, -100, 110, 0), (0.10,)),  # nothing at either end changes no rate
        ((-1, 3.3, -3.63, 1.331), (0.10,)),  # (1.1v - 1)^3
        ((-1000, 5000, -9375, 7812.5, -2441.40625), (0.25,)),  # -1000 (1.25 v - 1)^4
        ((-1000, 6000, -11000, 6000), (0.0, 1.0, 2.0)),  # roots v = 1, 1/2, 1/3
        ((100, 100), ()),
        ((-100,), ()),
        ((0, 0, 0), ()),
        ((), ()),
        ((-100, 10, -10), ()),
    ],
)
def test_every_internal_rate(flows, rates):
    assert time_value.internal_rates(flows) == pytest.approx(rates, abs=1e-3)


@given(st.lists(st.floats(-0.6, 1.5).map(lambda r: round(r, 2)), min_size=1, max_size=4, unique=True), prices)
def test_rates_that_a_series_was_made_of_are_found_again(made_of, size):
    flows = [-size]
    for rate in made_of:  # times (1 - (1 + rate) v)
        flows = [a - (1 + rate) * b for a, b in zip([*flows, 0.0], [0.0, *flows], strict=True)]
    assert time_value.internal_rates(flows) == pytest.approx(sorted(made_of), abs=1e-4)


@given(series)
def test_a_rate_found_makes_the_flows_worth_nothing(flows):
    for rate in time_value.internal_rates(flows):
        if rate > -0.9:
            size = time_value.net_present_value([abs(flow) for flow in flows], rate)
            assert abs(time_value.net_present_value(flows, rate)) <= 1e-9 * size


@given(series.filter(lambda flows: flows[0] * math.fsum(flows) < 0))
def test_a_purchase_that_is_worth_its_price_has_a_positive_rate(flows):
    """What is worth something undiscounted and nothing at an endless rate crosses 0 between."""
    assert any(rate >= 0 for rate in time_value.internal_rates(flows))


def test_ten_years_of_months_have_one_rate():
    """1,000 a month for 120 months for what they are worth at 1 % a month: 1000 (1 - 1.01^-120) / 0.01 = 69,700.52."""
    assert time_value.internal_rates([-69_700.52] + [1000] * 120) == pytest.approx((0.01,), abs=1e-6)
    assert time_value.annual_rate(0.01) == pytest.approx(0.126825, abs=1e-6)


def test_payback_counts_steps():
    assert time_value.payback_time([-100, 40, 40, 40]) == 3
    assert time_value.payback_time([-0.3, 0.1, 0.1, 0.1]) == 3  # though the tenths add up to less than 0.3 in binary
    assert time_value.payback_time([5, -1]) == 0
    assert time_value.payback_time([-100, 40]) is None
    assert time_value.payback_time([]) is None


def test_discounted_payback_by_hand():
    """At 10 %: -100 + 54.55 + 49.59 = 4.13 after two; at 20 %: -100 + 50 + 41.67 + 34.72 = 26.39 after three."""

    def discounted(rate):
        return [amount * (1 + rate) ** -time for time, amount in enumerate([-100, 60, 60, 60])]

    assert find_payback_month(discounted(0.10)) == 2
    assert find_payback_month(discounted(0.20)) == 3


# -- break-evens


def test_periods_to_break_even_need_a_saving():
    assert time_value.break_even(1000, 3, 5, 3)[0] == 500
    assert time_value.break_even(1000, 5, 5, 5)[0] is None
    assert time_value.break_even(1000, 6, 5, 6)[0] is None
    assert time_value.break_even(0, 3, 5, 3)[0] == 0


def test_break_even_utilisation_above_one_or_without_end():
    assert time_value.break_even(0, 0, 12, 3)[1] == 0.25
    assert time_value.break_even(0, 0, 2, 3)[1] == 1.5
    assert time_value.break_even(0, 0, 0, 3)[1] == math.inf


@given(prices, prices, prices)
def test_at_the_break_even_owning_has_cost_what_renting_has(capital, own, saved):
    hours, _ = time_value.break_even(capital, own, own + saved, own)
    assert hours is not None
    assert (capital + own * hours) / hours == pytest.approx(own + saved, rel=1e-6)


def first_month_by_counting(capital, own, rent, months):
    """The first month by whose end owning has cost no more, month by month."""
    return next((m for m in range(1, months + 1) if capital + m * own <= m * rent), None)


@given(*[st.integers(1, 10**6)] * 3, st.integers(1, 120))
def test_the_month_to_break_even_is_found_by_counting_too(capital, own, rent, months):
    """Whole numbers, so that counting is exact; months of equality are among them."""
    periods, _ = time_value.break_even(capital, own, rent, own)
    assert time_value.first_whole_period(periods, months) == first_month_by_counting(capital, own, rent, months)


@pytest.mark.parametrize("month", [1, 2, 7, 12, 59, 60])
@pytest.mark.parametrize("cents", [1, 10, 33, 7_333])
def test_equality_at_the_end_of_a_month_is_that_month(month, cents):
    """Saving exactly the capital by the end of a month, in amounts that binary numbers only come near to."""
    saved = cents / 100
    periods, _ = time_value.break_even(saved * month, 1.1, 1.1 + saved, 1.1)
    assert time_value.first_whole_period(periods, 60) == month
    assert time_value.first_whole_period(periods, month) == month
    assert time_value.first_whole_period(periods, month - 1) is None
    later, _ = time_value.break_even(saved * month * 1.000001, 1.1, 1.1 + saved, 1.1)
    assert time_value.first_whole_period(later, 61) == month + 1


# -- depreciation and capital


def test_straight_line_leaves_the_salvage():
    assert time_value.straight_line_deductions(1000, 4, 200) == (200, 200, 200, 200)


def test_macrs_is_the_table():
    """20, 32, 19.2, 11.52, 11.52, 5.76 % of 100,000; together all of it."""
    found = time_value.macrs_deductions(100_000)
    assert found == pytest.approx((20_000, 32_000, 19_200, 11_520, 11_520, 5_760))
    assert math.fsum(found) == pytest.approx(100_000)


@pytest.mark.parametrize(
    ("year", "last"), [(1, 10_000), (2, 16_000), (3, 9_600), (4, 5_760), (5, 5_760), (6, 5_760), (7, 5_760)]
)
def test_macrs_in_the_year_of_disposal(year, last):
    """Half of the year's percentage; the sixth is that of half a year already."""
    found = time_value.macrs_deductions(100_000, year)
    assert len(found) == min(year, 6)
    assert found[-1] == pytest.approx(last)


def test_tax_shield_by_hand():
    """21 % of 100 and 50: 21 / 1.05 + 10.5 / 1.1025 = 20 + 9.5238 = 29.5238."""
    saved, worth = time_value.tax_shield([100, 50], 0.21, 0.05)
    assert saved == pytest.approx((21, 10.5))
    assert worth == pytest.approx(29.5238, abs=1e-4)


@given(prices, st.just(0.0) | st.floats(1e-6, 0.5), st.integers(1, 120))
def test_a_loan_is_worth_its_payments(principal, rate, months):
    paid = time_value.loan_payment(principal, rate, months)
    assert time_value.net_present_value([0.0] + [paid] * months, rate / 12) == pytest.approx(principal, rel=1e-6)


def test_a_loan_without_interest():
    assert time_value.loan_payment(1200, 0.0, 12) == 100


@given(prices, st.floats(0.01, 0.9), st.floats(0, 10), st.floats(0, 10))
def test_value_falls_the_same_way_in_two_steps(price, loss, first, then):
    after = value_after_years(value_after_years(price, loss, first), loss, then)
    assert after == pytest.approx(value_after_years(price, loss, first + then))


def test_the_rent_of_capital_is_what_a_moment_loses():
    """Over a thousandth of a year the value falls by that part of the yearly rent."""
    lost = 1000 - value_after_years(1000, 0.276, 0.001)
    assert rent_of_capital(1000, 0.276) * 0.001 == pytest.approx(lost, rel=1e-3)


# -- savings plans

uses = st.lists(
    st.tuples(st.floats(0, 100), st.floats(0.01, 50), st.floats(0.3, 1.0)).map(
        lambda use: SavingsPlanUse(use[0], use[1], use[1] * use[2])
    ),
    max_size=6,
)


def test_a_plan_meets_the_highest_discount_first():
    """6 an hour: the second saves 50 % and takes 4 x 1; the other 2 cover 2 / 1.6 = 1.25 of the first's 3 units."""
    bill = savings_plan_bill([SavingsPlanUse(3, 2.0, 1.6), SavingsPlanUse(4, 2.0, 1.0)], 6.0)
    assert bill.remainders == pytest.approx((1.75 * 2, 0))
    assert (bill.charge, bill.on_demand, bill.wasted) == pytest.approx((9.5, 3.5, 0))


def test_of_equal_discounts_the_lowest_rate_comes_first():
    bill = savings_plan_bill([SavingsPlanUse(1, 4.0, 2.0), SavingsPlanUse(1, 2.0, 1.0)], 1.0)
    assert bill.remainders == (4.0, 0.0)


def test_what_a_plan_does_not_reach_is_waste():
    bill = savings_plan_bill([SavingsPlanUse(1, 4.0, 2.0), SavingsPlanUse(2, 3.0, None)], 5.0)
    assert (bill.charge, bill.on_demand, bill.wasted) == (11.0, 6.0, 3.0)


@given(uses, st.floats(0, 1000))
def test_a_bill_adds_up(usage, commitment):
    bill = savings_plan_bill(usage, commitment)
    on_demand = math.fsum(use.units * use.on_demand for use in usage)
    used = commitment - bill.wasted
    assert bill.charge == pytest.approx(commitment + bill.on_demand)
    assert -1e-9 <= bill.on_demand <= on_demand + 1e-9
    assert used <= on_demand - bill.on_demand + 1e-6  # a plan rate is never above on demand
    assert bill.wasted == pytest.approx(0, abs=1e-6) or bill.on_demand == pytest.approx(0, abs=1e-6)


@given(uses, st.floats(0, 500), st.floats(0, 500))
def test_more_commitment_never_leaves_more_on_demand(usage, less, more):
    small, large = (savings_plan_bill(usage, c) for c in sorted((less, more)))
    assert large.on_demand <= small.on_demand + 1e-6


@pytest.mark.parametrize(
    ("periods", "first"),
    [(0.0, 1), (1.0, 1), (1.01, 2), (3.0, 3), (3.01, None), (0.1 + 0.2, 1), (3 * (1 + 1e-15), 3), (None, None)],
)
def test_the_first_month_of_a_break_even_at_both_ends(periods, first):
    """By the end of month 1 one period is over, by the end of the last month (3) three are."""
    assert time_value.first_whole_period(periods, 3) == first


def test_tax_is_due_on_the_support_plan_too():
    """100 a month, support 5 %, tax 20 %: 100 + 5 + 20 % of 105 = 126; not 125, as if both were on the 100."""
    terms = Terms(12, 730, 0.0, 0.0, 0.5, True, cloud_support_fraction=0.05, cloud_tax_fraction=0.2)
    rows = add_support_and_tax([Payment(1, "end", "on_demand", 100.0)], terms)
    assert [(row.category, row.amount) for row in rows] == [
        ("on_demand", 100.0), ("cloud_support", 5.0), ("tax", pytest.approx(21.0)),
    ]  # fmt: skip
    assert terms.bill_factor == pytest.approx(1.26)
