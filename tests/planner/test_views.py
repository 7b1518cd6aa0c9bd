"""Effective cost, the return of owning, cost per unit, depreciation and the cost bridge, against sums by hand."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planner.pipeline
from planner.analysis.financial_views.effective_cost import spread_effective_cost
from planner.analysis.financial_views.ownership_return import find_break_even_multiple, find_payback_month
from planner.analysis.financial_views.tax_depreciation import align_to_plan_years, sum_months_by_year
from planner.analysis.financial_views.unit_economics import find_quoting_unit
from planner.application import plan
from planner.finance.cashflow import present_cost
from planner.optimization import solution
from planner.optimization.cost_allocation import allocate_costs
from planner.optimization.solution import CandidateUse, Decisions, Overhead, ResourceOrder
from planner.optimization.strategy import SolvedStrategy

RATE = 1.08 ** (1 / 12) - 1
SERVER, PER_NODE_HOUR = "8x H100 server", 55.04
H100 = {("aws", "us-east-1", "p5.48xlarge", "on_demand"): PER_NODE_HOUR}
AT_ONCE = {"lead_time_months": 0, "electricity_price_growth_annual": 0}
CAPITAL = 250_142 / 0.81
"""The server with its network, 0.19 / 0.81 of its price."""
RUNNING = 10.2 * 195 + 8 / 75 * 130_000 / 12 + 250_142 * 0.085 / 12 + 10.2 * 0.75 * 1.54 * 730 * 0.146
"""Space, staff, support with insurance, and power around the clock: 6,172.01 a month."""
RENT = PER_NODE_HOUR * 730
"""40,179.20 a month."""


@pytest.fixture
def solved_of(monkeypatch):
    """Plans a request; the strategies with their decisions, and the setting they share."""
    seen = []
    first = planner.pipeline.find_switching_values
    monkeypatch.setattr(
        planner.pipeline, "find_switching_values", lambda case, *more: seen.append(case) or first(case, *more)
    )

    def make(request, catalog):
        plan(request, catalog)
        return {s.strategy.name: s for s in seen[-1].solved}, seen[-1].setting

    return make


@pytest.fixture
def owned_or_rented(priced, ask, hours):
    """One server's worth of H100 for three years, rented at 55.04 a node-hour or owned at once."""

    def make(months=36, assumptions=AT_ONCE, **more):
        request = ask(hours("H100", 5840, gang=8), months=months, assumptions=assumptions, **more)
        return plan(request, priced(H100))

    return make


def by_month_of(found, strategy, category):
    return {
        row.month: row.amount for row in found.views.effective if (row.strategy, row.category) == (strategy, category)
    }


@pytest.mark.parametrize(
    ("months", "beyond", "each"),
    [
        (12, "full", 730.0),  # 8,760 over the 12 months it covers
        (6, "full", 1460.0),  # 8,760 over the 6 months of the plan: those after it count too
        (6, "pro_rata", 730.0),  # half of 8,760 over 6 months
    ],
)
def test_an_upfront_commitment_is_borne_by_the_months_it_covers(priced, ask, hours, months, beyond, each):
    """One V100 for a year at 1 an hour, 8,760 all upfront; on demand it costs 9."""
    prices = {
        ("aws", "us-east-1", "p3.2xlarge", "on_demand"): 9.0,
        ("aws", "us-east-1", "p3.2xlarge", "reserved_1y_all_upfront"): 1.0,
    }
    request = ask(hours("V100", 730), strategies=["cloud"], months=months, commitments_beyond_horizon=beyond)
    found = plan(request, priced(prices))
    assert by_month_of(found, "cloud", "commitment") == pytest.approx(dict.fromkeys(range(1, months + 1), each))
    assert [(row.month, row.at) for row in found.strategy("cloud").cash] == [(1, "start")]


def test_hardware_less_its_resale_is_borne_by_the_months_of_use(owned_or_rented):
    """Ordered at once, in use from month 9 to 36: 28 months bear 308,817.28 / 28 = 11,029.19 each, and the resale of
    250,142 x 0.724^(36 / 12) x 0.8 over 28, 36 months after the payment; the bridge and the power stand as paid."""
    found = owned_or_rented(assumptions={})
    months = range(9, 37)
    assert by_month_of(found, "onprem", "hardware") == pytest.approx(dict.fromkeys(months, CAPITAL / 28))
    resale = 250_142 * 0.724**3 * 0.8 / 28
    assert by_month_of(found, "onprem", "resale") == pytest.approx(dict.fromkeys(months, -resale))
    assert by_month_of(found, "onprem", "on_demand") == pytest.approx(dict.fromkeys(range(1, 9), RENT))
    power = {row.month: row.amount for row in found.strategy("onprem").cash if row.category == "power"}
    assert by_month_of(found, "onprem", "power") == pytest.approx(power)


@settings(max_examples=settings.default.max_examples // 2)
@given(st.data())
def test_both_views_agree_by_category_whatever_is_decided(several, data):
    """Law: for any purchases, uses and overheads the effective amounts of a category add up to its cash."""
    solved, setting = several
    item = st.sampled_from(setting.choice.shared)
    months = st.integers(1, setting.terms.months)
    bought = data.draw(
        st.lists(
            st.builds(lambda i, m, n: ResourceOrder(i.resource, m, n), item, months, st.integers(1, 900)), max_size=6
        )
    )
    candidates = st.sampled_from([c for per_need in setting.choice.hourly for c in per_need])
    hours = st.floats(0.001, 1e6)
    shares = data.draw(
        st.lists(st.builds(lambda m, c, h: CandidateUse(m, c, h, 1.0, h), months, candidates, hours), max_size=6)
    )
    overheads = data.draw(st.lists(st.builds(lambda m, a: Overhead("cloud_support", m, a), months, hours), max_size=2))
    decisions = Decisions(tuple(bought), tuple(shares), tuple(overheads))
    cash, borne = defaultdict(list), defaultdict(list)
    for _, payment in solution.list_payments(decisions, setting):
        cash[payment.category].append(payment.amount)
    for row in spread_effective_cost(SolvedStrategy(solved["cloud"].strategy, decisions), setting):
        borne[row.category].append(row.amount)
    assert set(borne) == set(cash)
    for category, amounts in cash.items():
        assert math.fsum(borne[category]) == pytest.approx(math.fsum(amounts), rel=1e-12)


@pytest.fixture
def several(priced, ask, hours, solved_of):
    """Strategies and setting of two workloads with every way of paying: by the hour, committed, owned."""
    prices = H100 | {
        ("aws", "us-east-1", "p5.48xlarge", "spot"): 20.0,
        ("aws", "us-east-1", "p5.48xlarge", "reserved_1y_partial_upfront"): 30.0,
        ("aws", "us-east-1", "p5.48xlarge", "reserved_3y_all_upfront"): 25.0,
    }
    jobs = [hours("H100", 5840, gang=8), hours("H100", 3000, "other", gang=8, interruptible=True, storage_gb=5000)]
    levels = {"lead_time_months": 2, "cloud_support_fraction": 0.05, "cloud_tax_fraction": 0.19}
    return solved_of(ask(*jobs, months=20, assumptions=levels), priced(prices))


def test_what_owning_returns(owned_or_rented):
    """308,817.28 at the start; then 40,179.20 - 6,172.01 = 34,007.19 saved at the end of each of 36 months; the server
    is sold for 250,142 x 0.724^3 x 0.8 = 75,943.12 at the end of the last. Paid back: 308,817.28 / 34,007.19 = 9.08, so
    by the end of month 10; discounted, 10 payments are worth 34,007.19 x 9.6559 = 328,370: month 10 too.
    """
    found = owned_or_rented()
    (own,) = (each for each in found.views.owning if each.strategy == "onprem")
    saved, resale = RENT - RUNNING, 250_142 * 0.724**3 * 0.8
    assert own.savings == pytest.approx([-CAPITAL, *[saved] * 35, saved + resale])
    assert (own.payback_month, own.discounted_payback_month) == (10, 10)
    annuity = (1 - 1.08**-3) / RATE
    worth = saved * annuity + resale / 1.08**3 - CAPITAL
    assert own.net_present_value == pytest.approx(worth)
    assert own.net_present_value == pytest.approx(
        found.strategy("cloud").present_cost - found.strategy("onprem").present_cost
    )
    (rate,) = own.internal_rates_annual
    assert math.fsum(flow * (1 + rate) ** (-t / 12) for t, flow in enumerate(own.savings)) == pytest.approx(0, abs=0.01)
    # All of cloud is by the hour, nothing of onprem is: owning pays where rent x annuity is above what it costs.
    for price in own.break_even_prices:
        assert price.multiple == pytest.approx(1 - worth / (RENT * annuity))
        assert price.owning_is_cheaper == "above"
        assert price.paid_per_accelerator_hour == pytest.approx(PER_NODE_HOUR / 8)
        assert price.price_per_accelerator_hour == pytest.approx(PER_NODE_HOUR / 8 * price.multiple)


def test_at_the_break_even_price_both_plans_cost_the_same(owned_or_rented, priced, ask, hours):
    """The plan made anew with the price times the multiple: cloud and onprem then have the same present cost."""
    own = next(each for each in owned_or_rented().views.owning if each.strategy == "onprem")
    multiple = own.break_even_prices[0].multiple
    again = {key: price * multiple for key, price in H100.items()}
    request = ask(hours("H100", 5840, gang=8), months=36, assumptions=AT_ONCE)
    found = plan(request, priced(again))
    assert found.strategy("onprem").present_cost == pytest.approx(found.strategy("cloud").present_cost, rel=1e-9)


def test_there_is_no_return_where_nothing_is_bought(owned_or_rented):
    """One month never pays for a server: hybrid rents, and only onprem has a return, which is a loss."""
    found = owned_or_rented(months=1)
    (own,) = found.views.owning
    assert own.strategy == "onprem"
    assert own.net_present_value < 0
    assert own.discounted_payback_month is None
    assert owned_or_rented(strategies=["onprem", "hybrid"]).views.owning == ()


@pytest.mark.parametrize(
    ("worth", "slope", "expected"),
    [
        (50.0, 100.0, (0.5, "above")),  # 50 + 100 (k - 1) = 0 at k = 0.5
        (-50.0, 100.0, (1.5, "above")),
        (50.0, -100.0, (1.5, "below")),
        (-50.0, -100.0, (0.5, "below")),
        (200.0, 100.0, (None, "always")),  # at a price of 0 it is 100 still
        (-200.0, -100.0, (None, "never")),
        (5.0, 0.0, (None, "always")),
        (-5.0, 0.0, (None, "never")),
    ],
)
def test_where_two_lines_cross(worth, slope, expected):
    assert find_break_even_multiple(worth, slope) == expected


@pytest.mark.parametrize(
    ("flows", "expected"),
    [
        ([0, 0, -100, 60, 60], 4),  # ordered in the third month: nothing is paid back before
        ([10, -100, 60, 60], 3),  # 10 - 100 + 60 = -30, + 60 = 30
        ([-100, 60], None),
        ([5, 0, 5], 0),
    ],
)
def test_what_was_never_spent_is_not_paid_back(flows, expected):
    assert find_payback_month(flows) == expected


def test_cost_per_unit_by_hand(priced, ask, measured):
    """1,000 tokens a second on 8 A100, on demand at 20 an hour, no failures: 730 hours a month are 2,628 million
    tokens for 14,600, so 5.5556 a million; paid at the end of each of 12 months they are worth 11.5129 months now."""
    catalog = priced({("aws", "us-east-1", "p4d.24xlarge", "on_demand"): 20.0})
    job = measured("A100-40GB-SXM", 8, 1000, 1000 * 3600 * 730)
    never = {"failure_interval_accelerator_hours": 1e12}
    (row,) = plan(ask(job, strategies=["cloud"], assumptions=never), catalog).views.unit_costs
    assert (row.each, row.per) == ("million tokens", 1e6)
    assert row.cost_each == pytest.approx(20 / 3.6, rel=1e-5)
    assert row.present_cost_each == pytest.approx(20 / 3.6 * (1 - 1 / 1.08) / RATE / 12, rel=1e-5)


@pytest.mark.parametrize(
    ("unit", "cost", "expected"),
    [
        ("tokens", 2e-7, (1e6, "million tokens")),
        ("Output Tokens", 2e-9, (1e6, "million Output Tokens")),
        ("tokens", 5e-11, (1e9, "billion tokens")),  # 0.00005 a million
        ("requests", 0.002, (1e3, "thousand requests")),
        ("samples", 5e-8, (1e6, "million samples")),  # 0.00005 a thousand
        ("jobs", 12.0, (1.0, "job")),
        ("accelerator-hours", 0.5, (1.0, "accelerator-hour")),
        ("pass", 0.0, (1.0, "pass")),
        ("tokens", 1e-30, (1e9, "billion tokens")),
    ],
)
def test_units_are_quoted_as_people_do(unit, cost, expected):
    assert find_quoting_unit(unit, cost) == expected


def test_present_costs_of_workloads_are_shared_as_their_cash(several):
    """They add up to the present cost; and where nothing is discounted they are the cash costs."""
    solved, setting = several
    for each in solved.values():
        assert math.fsum(_present_costs(each, setting)) == pytest.approx(each.strategy.present_cost, rel=1e-9)
        undiscounted = _at_no_interest(setting)
        names = [need.workload.name for need in setting.demands.needs]
        cash = {row.workload: row.cost for row in each.strategy.workloads}
        assert dict(zip(names, _present_costs(each, undiscounted), strict=True)) == pytest.approx(cash)


def _present_costs(solved, setting):
    rate = setting.terms.discount_rate_monthly
    return allocate_costs(solved.decisions, setting, lambda payments: present_cost(payments, rate))


def _at_no_interest(setting):
    return replace(setting, terms=replace(setting.terms, discount_rate_annual=0.0))


def test_straight_line_over_the_useful_life(owned_or_rented):
    """308,817.28 over 60 months is 61,763.46 a year: 123,526.91 are left when it is sold for 75,943.12 after three, a
    loss of 47,583.79. At 21 % each year saves 12,970.33 at its end, and the loss 9,992.60 with the last."""
    found = owned_or_rented(finance={"tax": "straight_line"})
    (each,) = (row for row in found.views.depreciation if row.strategy == "onprem")
    assert [year.deduction for year in each.years] == pytest.approx([CAPITAL / 5] * 3)
    assert [year.book_value for year in each.years] == pytest.approx([CAPITAL * left / 5 for left in (4, 3, 2)])
    assert each.gain == pytest.approx(250_142 * 0.724**3 * 0.8 - CAPITAL * 0.4)
    assert each.gain == pytest.approx(-47_584, abs=1)
    saved = 0.21 * CAPITAL / 5
    worth = saved / 1.08 + saved / 1.08**2 + (saved - each.tax_on_gain) / 1.08**3
    assert each.present_value == pytest.approx(worth)
    assert found.strategy("onprem").present_cost == pytest.approx(owned_or_rented().strategy("onprem").present_cost)


def test_macrs_with_half_a_year_at_the_sale(owned_or_rented):
    """20 and 32 %, and half of 19.2 % in the year of the sale: 38.4 % are left."""
    found = owned_or_rented(finance={"tax": "macrs"})
    (each,) = (row for row in found.views.depreciation if row.strategy == "onprem")
    assert [year.deduction for year in each.years] == pytest.approx([CAPITAL * part for part in (0.2, 0.32, 0.096)])
    assert each.adjusted_basis == pytest.approx(CAPITAL * 0.384)
    assert (each.in_use_from, each.sold_in, each.count) == (1, 36, 1)


def test_no_depreciation_unless_asked_and_none_of_what_is_leased(owned_or_rented):
    assert owned_or_rented().views.depreciation == ()
    assert owned_or_rented(finance={"tax": "macrs", "hardware": "lease"}).views.depreciation == ()


def test_deductions_fall_into_years_of_the_plan():
    # in use from month 9: 4 months in year 1, 12 in year 2, 2 in year 3
    assert sum_months_by_year([10.0] * 18, 9) == [40.0, 120.0, 20.0]
    assert sum_months_by_year([10.0], 25) == [0.0, 0.0, 10.0]
    assert align_to_plan_years([5.0, 8.0], 2) == [0.0, 5.0, 8.0]


def test_the_bridge_adds_up_to_what_the_recommendation_is_worth(owned_or_rented):
    """From renting to owning: rent x annuity is saved; hardware and what runs it is spent; largest first."""
    found = owned_or_rented(strategies=["cloud", "onprem"])
    advice, steps = found.recommendation, found.views.bridge
    assert (advice.strategy, advice.runner_up) == ("onprem", "cloud")
    annuity = (1 - 1.08**-3) / RATE
    assert (steps[0].category, steps[0].difference) == ("on_demand", pytest.approx(RENT * annuity))
    assert (steps[1].category, steps[1].difference) == ("hardware", pytest.approx(-CAPITAL))
    sizes = [abs(step.difference) for step in steps]
    assert sizes == sorted(sizes, reverse=True)
    assert math.fsum(step.difference for step in steps) == pytest.approx(advice.worth, abs=1e-6)


def test_an_impossible_plan_has_no_views(priced, ask, hours):
    found = plan(ask(hours("H100", 5840, gang=8, may_be_owned=False, providers=["gcp"])), priced(H100))
    assert found.status == "infeasible"
    assert found.views == type(found.views)()


def test_views_are_worth_what_the_payments_are(several):
    """No view knows another price than the payments: discounted by hand, the cash is the present cost."""
    solved, setting = several
    for each in solved.values():
        rows = [payment for _, payment in solution.list_payments(each.decisions, setting)]
        assert present_cost(rows, setting.terms.discount_rate_monthly) == pytest.approx(each.strategy.present_cost)
