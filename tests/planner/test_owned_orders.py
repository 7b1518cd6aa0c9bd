"""When hardware is ordered, what it is worth when it is sold, and what existing nodes cost: sums worked by hand."""

from __future__ import annotations

import math
from datetime import date

import pytest

from planner.application import plan
from planner.finance.cashflow import Terms
from planner.request import assumptions as figures
from planner.supply import onprem

HERE = {"providers": ["aws"], "regions": ["us-east-1"]}
BOX = {"name": "my box", "accelerator": "H100-80GB-SXM", "accelerators": 8, "price": 200_000, "max_power_kw": 10}
DAY = date(2026, 11, 21)
BY_AGE = {"liquidation_discount_fraction": 0, "resale_loss_minimum_fraction": 0}
"""The value by age alone."""
SERVER = onprem.OwnedNode("box", "H100-80GB-SXM", 8, 200_000.0, DAY, "a quote", 10.0, "")
NO_BLOCKS = {"purchase_options": ["on_demand", "spot", "reserved", "committed_use", "savings_plan"]}


def assumed(**values: float) -> figures.Assumptions:
    return figures.override_assumptions(figures.load_defaults(), values, DAY)


def sold(found) -> list[tuple[int, str, float]]:
    return [(row.month, row.at, row.amount) for row in found.cash if row.category == "resale"]


# value


@pytest.mark.parametrize(
    ("months", "kept"),
    [
        (0, 0.6),  # 1 x 0.8 = 0.8, but no more than 1 - 0.4
        (6, 0.6),  # 0.724^0.5 x 0.8 = 0.6807
        (12, 0.724 * 0.8),  # 0.5792: below what is kept at most
        (36, 0.724**3 * 0.8),  # 0.3036
    ],
)
def test_a_server_sells_for_its_value_by_age_less_the_discount_and_never_for_nearly_new(months, kept):
    assert onprem.resale_value(SERVER, months, assumed()) == pytest.approx(200_000 * kept)


def test_value_falls_from_each_payment_on():
    """A quarter paid at the order in month 1, the rest at delivery in month 3; sold with month 14, 14 and 12 months
    after: 200,000 x (0.25 x 0.724^(14/12) + 0.75 x 0.724)."""
    a = assumed(lead_time_months=2, useful_life_months=12, deposit_fraction=0.25, **BY_AGE)
    terms = Terms(24, 730.0, 0.08, 0.0, 0.5, charge_beyond_horizon=True)
    (sale,) = [row for row in onprem.node_payments(SERVER, 1, 1, a, terms) if row.category == "resale"]
    assert (sale.month, sale.at) == (14, "end")
    assert sale.amount == pytest.approx(-200_000 * (0.25 * 0.724 ** (14 / 12) + 0.75 * 0.724))


def test_sixty_four_h100_for_a_year_are_no_reason_to_buy(catalog, ask, hours):
    """Ordered at once, used for the last 4 of 12 months and then sold 12 months after the payment: 8 servers of 250,142
    are 2,001,136, sold for 0.724 of that, 1,448,822, worth 1,341,502 today. Without the discount and the least loss
    owning costs 3,813,157; the present cost of all else is 5,154,659. The cloud is the answer."""
    job = hours("H100", 46_720, gang=64)
    found = plan(ask(job, limits=NO_BLOCKS, assumptions=BY_AGE), catalog)
    assert found.strategy("onprem").present_cost == pytest.approx(3_813_157, abs=1)
    assert found.recommendation.strategy == "cloud"
    assert sold(found.strategy("onprem")) == [(12, "end", pytest.approx(-2_001_136 * 0.724))]
    careful = plan(ask(job, limits=NO_BLOCKS), catalog)
    assert careful.strategy("onprem").present_cost > 3_813_157
    assert careful.recommendation.strategy == "cloud"


# orders before the plan


def test_hardware_for_a_later_start_is_ordered_in_time(catalog, ask, hours):
    """A plan of 2026-11-21 that starts in 2031-01: 8 months of lead time are over when it starts. The order goes out in
    2030-05, month -7, and is sold 44 months after it: 36 of the plan and 8 before. Present cost at the start of the
    plan: the price of 200,000 / 0.81 with 8 months of interest."""
    given = {"price_of_8x_h100_server": 10_000_000, **BY_AGE}
    asked = {"months": 36, "start": "2031-01", "strategies": ["onprem"], "systems": [BOX], **HERE}
    found = plan(ask(hours("H100", 5000, gang=8), **asked, assumptions=given), catalog).strategy("onprem")
    (bought,) = found.purchases
    assert (bought.month, bought.usable_from, bought.usable_to) == (-7, 1, 60)
    (paid,) = [row for row in found.cash if row.category == "hardware"]
    assert (paid.month, paid.at, paid.amount) == (-7, "start", pytest.approx(200_000 / 0.81))
    assert sold(found) == [(36, "end", pytest.approx(-200_000 * 0.724 ** (44 / 12)))]
    assert {use.purchase_option for use in found.uses} == {"owned"}
    others = math.fsum(
        row.amount * 1.08 ** (-(row.month - (row.at == "start")) / 12) for row in found.cash if row is not paid
    )
    assert found.present_cost == pytest.approx(200_000 / 0.81 * 1.08 ** (8 / 12) + others)


def test_hardware_that_cannot_be_there_at_the_start_comes_as_early_as_it_can(catalog, ask, hours):
    """A start in 2027-03 is three months after the first day on which a plan of 2026-11-21 can order: ordered in month
    -2 (2026-12), delivered 8 months later in month 6 (2027-08)."""
    given = {"price_of_8x_h100_server": 10_000_000}
    asked = {"months": 36, "start": "2027-03", "strategies": ["onprem"], "systems": [BOX], **HERE}
    found = plan(ask(hours("H100", 5000, gang=8), **asked, assumptions=given), catalog).strategy("onprem")
    (bought,) = found.purchases
    assert (bought.month, bought.usable_from) == (-2, 6)
    assert min(use.month for use in found.uses if use.purchase_option == "owned") == 6


def test_nothing_is_ordered_before_the_date_of_the_plan(catalog, ask, hours):
    """A plan of 2026-11-21 whose first month is 2026-09 can order in 2026-12, its month 4, and has it in month 6."""
    given = {"price_of_8x_h100_server": 10_000_000, "lead_time_months": 2}
    asked = {"months": 36, "start": "2026-09", "strategies": ["onprem"], "systems": [BOX], **HERE}
    found = plan(ask(hours("H100", 5000, gang=8), **asked, assumptions=given), catalog).strategy("onprem")
    (bought,) = found.purchases
    assert (bought.month, bought.usable_from) == (4, 6)


def test_what_is_ordered_before_the_plan_counts_in_the_budget_of_its_first_year(catalog, ask, hours):
    asked = {"months": 36, "start": "2031-01", "strategies": ["onprem"], "systems": [BOX], **HERE}
    given = {"price_of_8x_h100_server": 10_000_000}

    def status(budget: list[float]) -> str:
        limits = {"capex_per_year": budget}
        job = hours("H100", 5000, gang=8)
        return plan(ask(job, **asked, limits=limits, assumptions=given), catalog).strategy("onprem").status

    assert status([250_000, 0, 0]) == "optimal"
    assert status([200_000, 0, 0]) == "infeasible"


# nodes that are there


def test_existing_nodes_have_their_value_at_both_ends_or_at_none(catalog, ask, hours):
    """One server of 250,142 bought 2025-12, a year old at the start. At market value it costs 0.724 x 0.8 of its price
    at the start and brings 0.724^2 x 0.8 of it at the end; with none, its running alone. Never less than nothing."""
    there = {"nodes": [{"system": "8x H100 server", "count": 1, "bought": "2025-12"}]}
    found = {}
    for value in ("market", "none"):
        asked = ask(hours("H100", 5000, gang=8), existing=there, existing_value=value, strategies=["cloud"], **HERE)
        found[value] = plan(asked, catalog).strategy("cloud")
    new = 250_142 * 0.8
    assert sold(found["market"]) == [
        (1, "start", pytest.approx(new * 0.724)),
        (12, "end", pytest.approx(-new * 0.724**2)),
    ]
    assert sold(found["none"]) == []
    lost = new * (0.724 - 0.724**2)
    assert found["market"].total_cost - found["none"].total_cost == pytest.approx(lost)
    assert min(row.cost_per_unit for one in found.values() for row in one.workloads) > 0


@pytest.mark.parametrize("months", [1, 12])
def test_onprem_uses_what_is_there(catalog, ask, hours, months):
    """Two servers do 5,000 of their 11,680 accelerator-hours a month; nothing new would arrive within a month."""
    there = {"nodes": [{"system": "8x H100 server", "count": 2}]}
    found = plan(ask(hours("H100", 5000), existing=there, months=months), catalog)
    own = found.strategy("onprem")
    assert own.status == "optimal"
    assert {use.purchase_option for use in own.uses} == {"owned"}
    assert own.present_cost > 0
    assert all(row.cost_per_unit > 0 for strategy in found.strategies for row in strategy.workloads)


def test_what_existing_nodes_are_worth_is_told_with_the_advice(catalog, ask, hours):
    """Two servers as new: 0.6 of 250,142 each now, 0.724 x 0.8 of it after a year."""
    there = {"nodes": [{"system": "8x H100 server", "count": 2}]}
    found = plan(ask(hours("H100", 5000), existing=there), catalog)
    (told,) = [reason for reason in found.recommendation.reasons if reason.code == "existing_nodes_worth"]
    worth = told.parameters
    assert (worth["now"], worth["at_end"]) == pytest.approx((500_284 * 0.6, 500_284 * 0.724 * 0.8))
    assert worth["counted"] is False
    assert "neither is counted" in told.text
