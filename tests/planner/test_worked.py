"""Sums worked by hand: the arithmetic stands beside each, from list prices and defaults that name their source."""

from __future__ import annotations

import pytest

from planner.application import plan
from planner.reports._content.order_payments import find_order_payments
from planner.reports.terraform.provider_extras import monthly_bill

FREE = {"failure_interval_accelerator_hours": 1e12}
"""Switches failures off, so that a sum has one term less."""
BY_THE_HOUR = {"purchase_options": ["on_demand", "spot", "reserved", "committed_use"]}
"""AWS sells H100 for less by the day, in capacity blocks: sums of the other ways of paying leave them out."""


def test_one_cloud_job(catalog, ask, hours):
    """4,000 H100-hours a month in gangs of 8, AWS us-east-1 only.

    p5.48xlarge has 8 H100 and costs 55.04 an hour on demand (2026-07-20); AWS lists no reserved price for it.
    4,000 / 8 = 500 node-hours; 500 x 55.04 = 27,520 a month; 12 months = 330,240.
    Paid at the end of each month at 8 % a year: r = 1.08^(1/12) - 1 = 0.0064340301; the annuity of 12 is
    (1 - 1 / 1.08) / 0.0064340301 = 0.0740740741 / 0.0064340301 = 11.5128579; 27,520 x 11.5128579 = 316,833.85.
    """
    job, places = hours("H100", 4000, gang=8), {"providers": ["aws"], "regions": ["us-east-1"]}
    request = ask(job, **places, strategies=["cloud"], limits=BY_THE_HOUR)
    cloud = plan(request, catalog).strategy("cloud")
    assert {(use.name, use.purchase_option) for use in cloud.uses} == {("p5.48xlarge", "on_demand")}
    assert [row.amount for row in cloud.cash] == pytest.approx([27_520] * 12)
    assert cloud.total_cost == pytest.approx(330_240)
    assert cloud.present_cost == pytest.approx(316_833.85, abs=0.05)
    assert cloud.status == "optimal"


def test_storage_and_egress_are_paid_where_the_job_runs(catalog, ask, hours):
    """The same job with 2,000 GB kept and 12,000 GB sent out a month, us-east-1.

    Storage 2,000 x 0.023 = 46. Egress: the first 10,240 GB at 0.09 = 921.60, the other 1,760 at 0.085 = 149.60:
    1,071.20.
    """
    job = hours("H100", 4000, gang=8, storage_gb=2000, egress_gb_per_month=12_000)
    places = {"providers": ["aws"], "regions": ["us-east-1"]}
    request = ask(job, **places, strategies=["cloud"], months=1, limits=BY_THE_HOUR)
    paid = {row.category: row.amount for row in plan(request, catalog).strategy("cloud").cash}
    assert paid == pytest.approx({"on_demand": 27_520, "storage": 46, "egress": 1_071.20})


def test_capacity_blocks_are_bought_by_the_day(catalog, ask, hours):
    """The same job in capacity blocks, p5.48xlarge us-east-1, 41.528 an hour (2026-09-27), whole days paid upfront.

    500 node-hours are 20.83 days: 20 days are 20 x 24 x 41.528 = 19,933.44, and the other 20 hours at 55.04 an hour =
    1,100.80; a 21st day is 996.67, less. So 21 days: 20,930.11 at the start of each month, 251,161.34 a year.
    """
    job, places = hours("H100", 4000, gang=8), {"providers": ["aws"], "regions": ["us-east-1"]}
    ways = {"purchase_options": ["on_demand", "capacity_block"]}
    all_year = {"capacity_blocks_beyond_window": 1}  # later months at today's price
    cloud = plan(ask(job, **places, strategies=["cloud"], limits=ways, assumptions=all_year), catalog).strategy("cloud")
    assert {(b.name, b.purchase_option, b.unit, b.count) for b in cloud.purchases} == {
        ("p5.48xlarge", "capacity_block", "node_day", 21)
    }
    assert [(row.month, row.at) for row in cloud.cash] == [(month, "start") for month in range(1, 13)]
    assert cloud.total_cost == pytest.approx(12 * 21 * 24 * 41.528)
    rate = 1.08 ** (1 / 12) - 1
    assert cloud.present_cost == pytest.approx(sum(21 * 24 * 41.528 * (1 + rate) ** -m for m in range(12)))


@pytest.mark.parametrize(("hours_used", "committed"), [(445, False), (450, True)])
def test_reserved_against_on_demand_break_even(catalog, ask, hours, hours_used, committed):
    """One T4 on g4dn.xlarge, us-east-1: 0.526 an hour on demand (2026-07-20); reserved for a year, all paid
    upfront, 0.309247 (2023-08-30), with nothing upfront 0.331.

    A reserved year is paid for every hour: 0.309247 x 8,760 = 2,709.00 at its start; the other one costs 241.63 at the
    end of each month, worth 2,781.86 at 8 % a year. On demand, paid at the end of each month, is worth 0.526 x 11.5129
    a monthly hour: 2,709.00 at 447.3 hours. So 445 hours a month are rented on demand and 450 are reserved.
    """
    request = ask(hours("T4", hours_used), providers=["aws"], regions=["us-east-1"], strategies=["cloud"])
    cloud = plan(request, catalog).strategy("cloud")
    assert [(p.name, p.purchase_option, p.count) for p in cloud.purchases] == (
        [("g4dn.xlarge", "reserved_1y_all_upfront", 1)] if committed else []
    )
    whole = 0.309247 * 8760 if committed else 12 * hours_used * 0.526
    assert cloud.total_cost == pytest.approx(whole, rel=1e-4)


def test_owned_against_rented_break_even(catalog, ask, hours):
    """An 8x H100 server (250,142; LP2368) against AWS on demand at 6.88 per H100-hour (55.04 / 8), with the default
    assumptions.

    Capital: 250,142 + network 0.19 / 0.81 of it = 308,817.28.
    A month: space 10.2 kW x 195 = 1,989.00; staff 8 / 75 x 130,000 / 12 = 1,155.56; support and insurance
    250,142 x (0.08 + 0.005) / 12 = 1,771.84; power 10.2 x 0.75 kW x 1.54 x 730 h x 0.146 = 1,255.62. Together 6,172.01.
    Rent at full use: 8 x 6.88 x 730 = 40,179.20. 308,817.28 / (40,179.20 - 6,172.01) = 9.08: paid back in month 10.
    Over a life of 60 months, discounted (r = 0.0064340301, annuity (1 - 1.08^-5) / r = 49.6449), the server resold for
    250,142 x 0.724^(68 / 12) x 0.8 = 32,098, 68 months after its payment (worth 21,845 at delivery): (308,817 - 21,845)
    / 49.6449 + 6,172 = 11,952 a month, so owning pays from 11,952 / 40,179 = 29.75 % of the hours on.
    """
    request = ask(hours("H100", 5840, gang=8), providers=["aws"], regions=["us-east-1"])
    row = next(b for b in plan(request, catalog).break_even if b.system == "8x H100 server")
    assert row.month == 10
    assert row.rent_cost_per_accelerator_hour == pytest.approx(6.88)
    rate = 1.08 ** (1 / 12) - 1
    annuity = (1 - 1.08**-5) / rate
    capital = 250_142 / 0.81
    running = 10.2 * 195 + 8 / 75 * 130_000 / 12 + 250_142 * 0.085 / 12 + 10.2 * 0.75 * 1.54 * 730 * 0.146
    sold = 250_142 * 0.724 ** (68 / 12) * 0.8  # paid 8 months before its life of 60 begins
    level = (capital - sold / 1.08**5) / annuity + running
    assert capital == pytest.approx(308_817.28, abs=0.01)
    assert running == pytest.approx(6_172.01, abs=0.01)
    assert row.utilisation == pytest.approx(level / 40_179.20)
    assert row.utilisation == pytest.approx(0.2975, abs=0.0001)
    assert (row.capital, row.own_per_month) == pytest.approx((capital, running))
    assert (row.rent_per_month, row.life_months) == (pytest.approx(40_179.20), 60)
    assert row.resale == pytest.approx(sold)


@pytest.mark.parametrize(("factor", "owned"), [(0.98, 0), (1.02, 1)])
def test_the_plan_buys_from_its_break_even_on(catalog, ask, hours, factor, owned):
    """The same server without lead time, planned over 12 months and then resold for 250,142 x 0.724 x 0.8.

    Owning costs capital + 12 months of running - resale, all discounted; renting 55.04 a node-hour at the end of each
    month. They meet at h = own / (55.04 x annuity) node-hours a month; 2 % below nothing is bought, 2 % above the
    server is.
    """
    rate = 1.08 ** (1 / 12) - 1
    annuity = (1 - 1 / 1.08) / rate
    space, staff, support = 10.2 * 195, 8 / 75 * 130_000 / 12, 250_142 * 0.085 / 12
    power = 10.2 * 0.75 * 1.54 * 730 * 0.146
    own = 250_142 / 0.81 + (space + staff + support) * annuity - 250_142 * 0.724 * 0.8 / 1.08
    own += sum(power * 1.03 ** ((m - 1) / 12) * (1 + rate) ** -m for m in range(1, 13))
    node_hours = own / (55.04 * annuity) * factor
    request = ask(
        hours("H100", node_hours * 8, gang=8),
        providers=["aws"],
        regions=["us-east-1"],
        strategies=["hybrid"],
        assumptions={"lead_time_months": 0},
        limits=BY_THE_HOUR,
    )
    hybrid = plan(request, catalog).strategy("hybrid")
    assert [(p.name, p.count) for p in hybrid.purchases] == [("8x H100 server", 1)] * owned
    expected = own if owned else node_hours * 55.04 * annuity
    assert hybrid.present_cost == pytest.approx(expected)


def test_spot_pays_for_what_it_throws_away(priced, ask, measured):
    """40 GB A100 spot at 10 an hour against on demand at 20; checkpoints of 5 minutes, restarts of 10, one
    interruption in 24 h.

    Daly's exact optimum: t solves (1 - t/M) exp((t + d)/M) = 1, here 1.9448 h, and W/Ts = 24 e^(0.1667/24)
    (e^(2.0282/24) - 1) / 1.9448 = 24 x 1.006969 x 0.088166 / 1.9448 = 1.09558. So an hour of progress costs 10.96,
    and 730 of them 7,998.
    """
    prices = {
        ("aws", "us-east-1", "p4d.24xlarge", "on_demand"): 20.0,
        ("aws", "us-east-1", "p4d.24xlarge", "spot"): 10.0,
    }
    job = measured("A100-40GB-SXM", 8, 1000, 1000 * 3600 * 730, interruptible=True)
    request = ask(job, months=1, strategies=["cloud"], assumptions=FREE)
    cloud = plan(request, priced(prices)).strategy("cloud")
    assert {use.purchase_option for use in cloud.uses} == {"spot"}
    [told] = [gap for gap in plan(request, priced(prices)).gaps if gap.effect.code == "spot_hours_billed"]
    assert told.effect.parameters["hours_per_useful_hour"] == pytest.approx(1.09558, rel=1e-3)
    assert cloud.total_cost == pytest.approx(7_998, rel=2e-3)


def test_an_upfront_commitment_is_paid_at_once_and_a_partial_one_in_part(priced, ask, hours):
    """One V100 on p3.2xlarge at 1 an hour effective for a year: 8,760 in all; upfront, or half and 365 a month."""
    for option, upfront, per_month in (
        ("reserved_1y_all_upfront", 8760.0, 0.0),
        ("reserved_1y_partial_upfront", 4380.0, 365.0),
        ("reserved_1y_no_upfront", 0.0, 730.0),
    ):
        prices = {
            ("aws", "us-east-1", "p3.2xlarge", "on_demand"): 9.0,
            ("aws", "us-east-1", "p3.2xlarge", option): 1.0,
        }
        request = ask(hours("V100", 730), strategies=["cloud"])
        cloud = plan(request, priced(prices)).strategy("cloud")
        (bought,) = cloud.purchases
        assert (bought.upfront, bought.per_month) == pytest.approx((upfront, per_month))
        assert cloud.total_cost == pytest.approx(8760)


@pytest.mark.parametrize(
    ("option", "upfront", "per_month"),
    [("reserved_1y_partial_upfront", 4380.0, 365.0), ("reserved_1y_no_upfront", 0.0, 730.0)],
)
@pytest.mark.parametrize("beyond", ["full", "pro_rata"])
def test_a_commitment_of_the_last_month_is_billed_by_the_month(priced, ask, option, upfront, per_month, beyond):
    """One V100 in the second of two months. A year at 1 an hour owes 8,760 or, pro rata, 730; on demand the month costs
    20 x 730 = 14,600. The bill of a month is 8,760 / 12 = 730, or half of it beside half upfront, whatever the plan
    charges at its end for the eleven months beyond it."""
    prices = {
        ("aws", "us-east-1", "p3.2xlarge", "on_demand"): 20.0,
        ("aws", "us-east-1", "p3.2xlarge", option): 1.0,
    }
    demand = {"accelerator_hours_per_month": [0, 730], "accelerator": "V100"}
    job = {"name": "job", "kind": "training", "demand": demand}
    request = ask(job, months=2, strategies=["cloud"], commitments_beyond_horizon=beyond)
    made = plan(request, priced(prices))
    (bought,) = made.strategy("cloud").purchases
    assert (bought.month, bought.usable_to) == (2, 13)
    assert bought.per_month == pytest.approx(per_month)
    assert bought.upfront == pytest.approx(upfront if beyond == "full" else upfront / 12)
    assert made.strategy("cloud").total_cost == pytest.approx(8760 if beyond == "full" else 730)
    (fee,) = find_order_payments(made, "cloud", bought).per_month
    assert made.ledger.lines[fee.line].rate_value == pytest.approx(per_month)
    assert monthly_bill(made, made.strategy("cloud"), "aws") == pytest.approx((0, per_month))


def test_a_commitment_beyond_the_horizon_is_owed_in_full_or_pro_rata(priced, ask, hours):
    """Six months of one V100. A year at 1 an hour owes 8,760; on demand at 1.5 costs 6 x 730 x 1.5 = 6,570 and wins
    in full; pro rata the commitment owes 6 x 730 = 4,380 and wins."""
    prices = {
        ("aws", "us-east-1", "p3.2xlarge", "on_demand"): 1.5,
        ("aws", "us-east-1", "p3.2xlarge", "reserved_1y_no_upfront"): 1.0,
    }
    catalog = priced(prices)
    full = ask(hours("V100", 730), months=6, strategies=["cloud"])
    assert plan(full, catalog).strategy("cloud").total_cost == pytest.approx(6570)
    part = ask(hours("V100", 730), months=6, strategies=["cloud"], commitments_beyond_horizon="pro_rata")
    assert plan(part, catalog).strategy("cloud").total_cost == pytest.approx(4380)


def test_a_service_keeps_whole_nodes_ready_by_its_daily_shape(priced, ask):
    """10 requests a second on average in business hours only: 45 of 168 hours, so 10 x 168 / 45 = 37.33 a second then.

    One T4 does 8: 5 nodes for 730 x 45 / 168 = 195.536 hours at 0.5 an hour = 488.84 a month.
    """
    catalog = priced({("aws", "us-east-1", "g4dn.xlarge", "on_demand"): 0.5})
    job = {
        "name": "api",
        "kind": "inference",
        "demand": {"requests_per_second": 10, "daily_shape": "business_hours"},
        "measurements": [{"accelerator": "T4", "units_per_second": 8, "per": "job"}],
    }
    cloud = plan(ask(job, months=1, strategies=["cloud"], assumptions=FREE), catalog).strategy("cloud")
    (use,) = cloud.uses
    assert use.nodes == 5
    assert cloud.total_cost == pytest.approx(5 * 195.5357 * 0.5, rel=1e-5)


def test_a_bridge_is_rented_until_the_owned_node_arrives(catalog, ask, hours):
    """Onprem, 12 months, 8 months of lead time, one server's worth of H100: months 1-8 on demand, 9-12 owned."""
    request = ask(hours("H100", 5840, gang=8), providers=["aws"], regions=["us-east-1"], strategies=["onprem"])
    onprem = plan(request, catalog).strategy("onprem")
    by_month = {use.month: use.what for use in onprem.uses}
    assert by_month == {**dict.fromkeys(range(1, 9), "hourly"), **dict.fromkeys(range(9, 13), "owned")}
    (bought,) = onprem.purchases
    assert (bought.month, bought.usable_from, bought.usable_to) == (1, 9, 68)
    assert [row.amount for row in onprem.cash if row.category == "on_demand"] == pytest.approx([730 * 55.04] * 8)
