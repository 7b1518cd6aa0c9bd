"""Homes and whole machines: where a workload lives, what stands for it, and what that costs, worked by hand."""

from __future__ import annotations

import itertools
import math
import random
from datetime import date, timedelta

import pytest

from planner.application import plan

EAST, WEST, NORTH = ("aws", "us-east-1"), ("aws", "us-west-2"), ("aws", "eu-north-1")
ONE_T4 = [{"accelerator": "T4", "units_per_second": 2.0, "per": "job", "count": 1}]
STABLE = {"cloud_price_change_annual": 0, "spot_price_change_annual": 0, "commitment_price_change_annual": 0}
COMMITTED_NODE = {
    "provider": "aws", "region": "us-east-1", "instance_type": "g4dn.12xlarge", "count": 1, "ends": "2027-12",
    "purchase_option": "reserved_3y_no_upfront", "fee_per_month": 0,
}  # fmt: skip
BOX = {"name": "box", "accelerator": "T4", "accelerators": 1, "price": 4_000, "max_power_kw": 0.3}


def cloud_of(found):
    return next(s for s in found.strategies if s.name == "cloud")


def places(strategy, workload: str) -> set[tuple[str, str, str]]:
    return {(use.provider, use.region, use.name) for use in strategy.uses if use.workload == workload}


def service(rate: float, name: str = "api", **more) -> dict:
    demand = {"requests_per_second": rate}
    return {"name": name, "kind": "inference", "demand": demand, "measurements": ONE_T4, "accelerators": ["T4"], **more}


# whole machines


@pytest.mark.parametrize(
    "need",
    [
        {"kind": "inference", "demand": {"accelerator_hours_per_month": 730, "accelerator": "A100-80GB"}},
        {
            "kind": "inference",
            "demand": {"requests_per_second": 5},
            "measurements": [{"accelerator": "A100-80GB", "units_per_second": 5, "per": "job"}],
        },
        {
            "kind": "batch",
            "parallel_jobs": 1,
            "demand": {"accelerator_hours_per_month": 730, "accelerator": "A100-80GB"},
        },
    ],
    ids=["hours", "requests", "one job"],
)
def test_one_accelerator_all_year_is_a_whole_machine_in_every_wording(catalog, ask, need):
    """AWS sells the A100-80GB in eights: p4de.24xlarge at 27.44705 an hour in us-east-1 (list price), 8,760 hours."""
    only = {"accelerators": ["A100-80GB"], "regions": ["us-east-1"]}
    settings = {"providers": ["aws"], "strategies": ["cloud"], "limits": {"purchase_options": ["on_demand"]}}
    found = cloud_of(plan(ask({"name": "one", **only, **need}, **settings, assumptions=STABLE), catalog))
    assert places(found, "one") == {("aws", "us-east-1", "p4de.24xlarge")}
    assert found.total_cost == pytest.approx(27.44705 * 8_760, rel=1e-6)


def test_stated_hours_of_a_service_are_accelerators_that_stand_there(priced, ask, hours):
    """365 hours a month are half an accelerator on average: one stands there, 730 h x 0.5; a batch pays its 365."""
    catalog = priced({(*EAST, "g4dn.xlarge", "on_demand"): 0.5})
    settings = {"months": 1, "strategies": ["cloud"], "assumptions": STABLE}
    standing = {**hours("T4", 365), "kind": "interactive"}
    assert cloud_of(plan(ask(standing, **settings), catalog)).total_cost == pytest.approx(730 * 0.5)
    assert cloud_of(plan(ask(hours("T4", 365), **settings), catalog)).total_cost == pytest.approx(365 * 0.5)


@pytest.mark.parametrize(("interruptible", "rate"), [(False, 0.5), (True, 0.2)])
@pytest.mark.parametrize("requests", [1e-3, 1e-11])
def test_a_service_that_asks_for_next_to_nothing_has_a_whole_node(priced, ask, requests, interruptible, rate):
    """One T4 at 0.5 an hour, or at 0.2 on spot, for 730 hours, however little there is to do."""
    prices = {(*EAST, "g4dn.xlarge", way): each for way, each in (("on_demand", 0.5), ("spot", 0.2))}
    job = service(requests, interruptible=interruptible)
    cloud = plan(ask(job, months=1, providers=["aws"], strategies=["cloud"]), priced(prices)).strategy("cloud")
    assert cloud.total_cost == pytest.approx(730 * rate)


def test_two_services_share_a_node_only_if_both_say_so(priced, ask):
    """Each needs one of a node's four T4s: 730 h x 2.0 apiece, or one node for both."""
    catalog = priced({(*EAST, "g4dn.12xlarge", "on_demand"): 2.0})
    settings = {"months": 1, "strategies": ["cloud"], "assumptions": STABLE}
    costs = {}
    for shared in itertools.product((False, True), repeat=2):
        jobs = [service(2, name, shares_nodes=says) for name, says in zip("ab", shared, strict=True)]
        costs[shared] = cloud_of(plan(ask(*jobs, **settings), catalog)).total_cost
    assert costs == {key: pytest.approx((1 if all(key) else 2) * 730 * 2.0) for key in costs}


def test_parts_of_nodes_are_compared_as_the_whole_nodes_that_they_take(priced, ask):
    """Six T4s: six nodes of one at 0.95 an hour cost less than two of four at 3.0, though one and a half would not."""
    catalog = priced({(*EAST, "g4dn.xlarge", "on_demand"): 0.95, (*EAST, "g4dn.12xlarge", "on_demand"): 3.0})
    job = service(12, shares_nodes=True)
    found = cloud_of(plan(ask(job, months=1, strategies=["cloud"], assumptions=STABLE), catalog))
    assert found.total_cost == pytest.approx(6 * 730 * 0.95)


@pytest.mark.parametrize(("also", "hourly"), [(False, 2.0), (True, 0.0)])
def test_a_node_that_is_there_is_shared_only_with_those_who_say_so(priced, ask, also, hourly):
    """One T4 of a committed node of four stands for one service, three for another: on a node at 2.0 an hour of its
    own, unless both share."""
    catalog = priced({(*EAST, "g4dn.12xlarge", "on_demand"): 2.0})
    held = {"commitments": [COMMITTED_NODE]}
    settings = {"existing": held, "months": 1, "strategies": ["cloud"], "assumptions": STABLE}
    jobs = [service(2, "small", shares_nodes=True), service(6, "large", shares_nodes=also)]
    assert cloud_of(plan(ask(*jobs, **settings), catalog)).total_cost == pytest.approx(730 * hourly)


def test_work_at_any_hour_does_not_run_on_a_shared_node_at_the_same_time(priced, ask, hours):
    """One T4 of a committed node of four stands for a service in all hours: a job has 2,190 hours of T4 beside it."""
    catalog = priced({(*EAST, "g4dn.12xlarge", "on_demand"): 2.0})
    held = {"commitments": [COMMITTED_NODE]}
    settings = {"existing": held, "months": 1, "strategies": ["cloud"], "assumptions": STABLE}
    jobs = [service(2, "small", shares_nodes=True), hours("T4", 2_190)]
    assert cloud_of(plan(ask(*jobs, **settings), catalog)).total_cost == pytest.approx(2_190 / 4 * 2.0)


def test_overflow_beside_shared_nodes_has_nodes_of_its_own(priced, ask):
    """A service of three T4s on one box overflows to a node of four, where another service shares a second node."""
    catalog = priced({(*EAST, "g4dn.12xlarge", "on_demand"): 2.0})
    settings = {"systems": [BOX], "existing": {"nodes": [{"system": "box", "count": 1}]}, "strategies": ["cloud"]}
    jobs = [service(5.5), service(2, "small", shares_nodes=True, may_be_owned=False)]
    found = cloud_of(plan(ask(*jobs, months=1, **settings, assumptions=STABLE), catalog))
    rented = {
        name: sum(u.node_hours for u in found.uses if u.workload == name and u.provider) for name in ("api", "small")
    }
    assert rented == pytest.approx({"api": 730, "small": 730})


def test_a_limit_of_replicas_at_once_leaves_room_for_others_on_a_shared_node(priced, ask):
    """One replica each, on one node of four: 730 h x 2.0, whether or not more replicas would be allowed."""
    catalog = priced({(*EAST, "g4dn.12xlarge", "on_demand"): 2.0})
    for most in (1, 2):
        jobs = [service(2, name, shares_nodes=True, parallel_jobs=most) for name in "ab"]
        found = cloud_of(plan(ask(*jobs, months=1, strategies=["cloud"], assumptions=STABLE), catalog))
        assert found.total_cost == pytest.approx(730 * 2.0)


def test_a_shared_node_is_billed_by_what_each_needs_of_it(priced, ask):
    """Three T4s and one of four: three quarters and one quarter of 730 h x 2.0."""
    catalog = priced({(*EAST, "g4dn.12xlarge", "on_demand"): 2.0})
    jobs = [service(6, "large", shares_nodes=True), service(2, "small", shares_nodes=True)]
    found = cloud_of(plan(ask(*jobs, months=1, strategies=["cloud"], assumptions=STABLE), catalog))
    assert {row.workload: row.cost for row in found.workloads} == pytest.approx({"large": 1095, "small": 365})


def test_a_job_of_few_gangs_at_once_leaves_the_rest_of_its_node_idle(priced, ask, hours):
    """700 T4-hours on nodes of four: 175 node-hours side by side, 350 two at a time, 700 one after the other."""
    catalog = priced({(*EAST, "g4dn.12xlarge", "on_demand"): 2.0})
    settings = {"months": 1, "strategies": ["cloud"], "assumptions": STABLE}
    node_hours = {
        most: cloud_of(plan(ask({**hours("T4", 700), "parallel_jobs": most}, **settings), catalog)).total_cost / 2.0
        for most in (None, 4, 2, 1)
    }
    assert node_hours == pytest.approx({None: 175, 4: 175, 2: 350, 1: 700})


def test_a_part_of_a_service_on_spot_is_whole_replicas(priced, ask):
    """At most half on spot of five replicas is two: 730 h x (2 x 0.2 + 3 x 0.5)."""
    catalog = priced({(*EAST, "g4dn.xlarge", "on_demand"): 0.5, (*EAST, "g4dn.xlarge", "spot"): 0.2})
    job = service(10, interruptible=True, spot_fraction_max=0.5)
    found = cloud_of(plan(ask(job, months=1, strategies=["cloud"], assumptions=STABLE), catalog))
    assert found.total_cost == pytest.approx(730 * (2 * 0.2 + 3 * 0.5))


@pytest.mark.parametrize(("rate", "hourly"), [(3, 2.0), (10, 2.0 + 0.5), (15, 2.0 + 0.5), (18, 2 * 2.0 + 0.5)])
def test_a_node_is_on_spot_or_not(priced, ask, rate, hourly):
    """Half on spot, four replicas a node: of two replicas one may be, but the one node holds both. Of five two may be,
    of eight four, on one of two nodes; of nine four, on one of three."""
    catalog = priced({(*EAST, "g4dn.12xlarge", "on_demand"): 2.0, (*EAST, "g4dn.12xlarge", "spot"): 0.5})
    job = service(rate, interruptible=True, spot_fraction_max=0.5)
    found = cloud_of(plan(ask(job, months=1, strategies=["cloud"], assumptions=STABLE), catalog))
    assert found.total_cost == pytest.approx(730 * hourly)


@pytest.mark.parametrize(("gang_hours", "days"), [(25, 64), (127, 192), (1e-5, 32)])
def test_a_gang_takes_whole_days_of_all_its_nodes(priced, ask, hours, gang_hours, days):
    """32 nodes of eight: 25 hours are two days of each, 127 hours six, an instant one; 24 x 25 a node-day."""
    catalog = priced({(*EAST, "p5.48xlarge", "capacity_block"): 25.0})
    job = hours("H100", gang_hours * 256, gang=256, may_be_owned=False)
    found = cloud_of(plan(ask(job, months=1, strategies=["cloud"], assumptions=STABLE), catalog))
    assert sum(bought.count for bought in found.purchases) == days
    assert found.total_cost == pytest.approx(days * 24 * 25.0)


def test_a_gang_is_on_one_block(priced, ask, hours):
    """AWS sells at most 64 instances in a block, and nobody says that a fabric joins two: 512 accelerators are 64 nodes
    for a day, 520 are 65 and refused, unless any network will do. Work without gangs takes several blocks: 65 nodes."""
    catalog = priced({(*EAST, "p5.48xlarge", "capacity_block"): 25.0})

    def planned(gang: int, **more):
        job = hours("H100", 24 * 8 * math.ceil(gang / 8), gang=gang, may_be_owned=False, **more)
        return plan(ask(job, months=1, strategies=["cloud"], assumptions=STABLE), catalog).strategy("cloud")

    assert planned(512).total_cost == pytest.approx(64 * 24 * 25.0)
    assert planned(520, fabric="any").total_cost == pytest.approx(65 * 24 * 25.0)
    refused = planned(520)
    assert refused.status == "infeasible"
    told = {why.code: why.parameters for reason in refused.reasons for why in reason.parameters.get("reasons", ())}
    assert told["gang_larger_than_order"] == {"nodes": 65, "most": 64}
    alone = hours("H100", 65 * 8 * 24 * 31, gang=8, may_be_owned=False)
    found = cloud_of(plan(ask(alone, months=1, strategies=["cloud"], assumptions=STABLE), catalog))
    assert found.total_cost == pytest.approx(65 * 31 * 24 * 25.0)


def test_days_in_february_are_those_of_the_month(priced, ask, hours):
    """720 hours of one node are 30 days; a node has 28 of them in February 2027, so two are there at once."""
    catalog = priced({(*EAST, "p5.48xlarge", "capacity_block"): 25.0})
    settings = {"as_of": "2027-01-15", "start": "2027-02", "months": 1, "strategies": ["cloud"]}
    found = cloud_of(plan(ask(hours("H100", 5_760, gang=8, may_be_owned=False), **settings), catalog))
    assert [(use.nodes, use.node_hours) for use in found.uses] == [(2, pytest.approx(720))]
    one = {**hours("H100", 5_760, gang=8, may_be_owned=False), "parallel_jobs": 1}
    assert plan(ask(one, **settings), catalog).status == "infeasible"


def test_days_are_ordered_in_the_lengths_that_are_sold(priced, ask, hours):
    """24 days of each of two nodes are blocks of 3 and of 21 days, the short one first so that the last starts soonest;
    20 days of one are blocks of 6 and of 14."""
    catalog = priced({(*EAST, "p5.48xlarge", "capacity_block"): 25.0})
    gang = hours("H100", 0, "gang", gang=16, may_be_owned=False)
    one = hours("H100", 0, "one", gang=8, may_be_owned=False)
    gang["demand"]["accelerator_hours_per_month"] = [24 * 24 * 16, 0]
    one["demand"]["accelerator_hours_per_month"] = [0, 20 * 24 * 8]
    found = cloud_of(plan(ask(gang, one, months=2, start="2026-12", strategies=["cloud"], assumptions=STABLE), catalog))
    orders = [[(each.nodes, each.first_day, each.days) for each in bought.orders] for bought in found.purchases]
    assert [bought.count for bought in found.purchases] == [48, 20]
    assert orders == [[(2, 1, 3), (2, 4, 21)], [(1, 1, 6), (1, 7, 14)]]


@pytest.mark.parametrize(("as_of", "months"), [("2026-11-21", [1, 2]), ("2026-11-10", [1])])
def test_every_block_of_a_month_starts_within_eight_weeks(catalog, ask, hours, as_of, months):
    """From 21 November to 1 January are 41 days, so blocks of 3 and 21 days start 41 and 44 days ahead. From the 10th
    they are 52: a second block could start after the 56th day, so January has none."""
    gang = hours("H100", 24 * 24 * 32, gang=32, may_be_owned=False, providers=["aws"])
    asked = ask(gang, months=3, start="2026-12", as_of=as_of, strategies=["cloud"], effort="quick")
    blocks = [each for each in cloud_of(plan(asked, catalog)).purchases if each.purchase_option == "capacity_block"]
    assert [each.month for each in blocks] == months
    starts = [
        date(2026 + (each.month > 1), 12 if each.month == 1 else each.month - 1, order.first_day)
        for each in blocks
        for order in each.orders
    ]
    assert len(starts) == 2 * len(months)
    assert max(starts) - date.fromisoformat(as_of) <= timedelta(days=56)


# homes


def test_a_workload_does_not_follow_the_cheapest_hours_around(priced, ask):
    """Three replicas live in one place: on demand in the east 3 x 0.50 an hour, reserved in the west 3 x 0.55."""
    catalog = priced(
        {
            (*EAST, "g4dn.xlarge", "on_demand"): 0.5,
            (*WEST, "g4dn.xlarge", "on_demand"): 0.6,
            (*WEST, "g4dn.xlarge", "reserved_1y_no_upfront"): 0.55,
        }
    )
    found = cloud_of(plan(ask(service(6), strategies=["cloud"], assumptions=STABLE), catalog))
    assert places(found, "api") == {(*EAST, "g4dn.xlarge")}
    assert found.total_cost == pytest.approx(3 * 8_760 * 0.5)


def test_peaks_of_owned_nodes_overflow_to_one_place(priced, ask):
    """One box is there already; 5.5 requests a second need three T4s, two of them by the hour in one place: 2 x 730 h x
    0.5, and not one in each region."""
    catalog = priced({(*EAST, "g4dn.xlarge", "on_demand"): 0.5, (*WEST, "g4dn.xlarge", "on_demand"): 0.5})
    settings = {"systems": [BOX], "existing": {"nodes": [{"system": "box", "count": 1}]}, "strategies": ["cloud"]}
    found = cloud_of(plan(ask(service(5.5), months=1, **settings, assumptions=STABLE), catalog))
    rented = [use for use in found.uses if use.provider]
    assert len({(use.region, use.name) for use in rented}) == 1
    assert sum(use.node_hours for use in rented) == pytest.approx(2 * 730)


def test_work_that_may_be_spread_takes_the_cheapest_hours_anywhere(priced, ask, hours):
    """A quota of one node in the cheaper place: 730 h at 0.5 and 270 h at 0.6; in one place all 1,000 are at 0.6.
    The plan names both places, with their parts of the work."""
    catalog = priced({(*EAST, "g4dn.xlarge", "on_demand"): 0.5, (*WEST, "g4dn.xlarge", "on_demand"): 0.6})
    quota = {
        "provider": "aws", "region": "us-east-1", "code": "L-1", "title": "G", "unit": "vcpu", "limit": 4, "used": 0,
        "types": "g4dn.*", "kinds": "on_demand", "as_of": "2026-11-20", "source_id": "test",
    }  # fmt: skip
    settings = {"months": 1, "strategies": ["cloud"], "limits": {"quotas": "hold"}, "quotas": [quota]}
    for spread, cost in ((False, 600), (True, 730 * 0.5 + 270 * 0.6)):
        whole = plan(ask(hours("T4", 1_000, spread=spread), **settings, assumptions=STABLE), catalog)
        assert cloud_of(whole).total_cost == pytest.approx(cost)
    east, west = "aws us-east-1 g4dn.xlarge: on_demand (73%)", "aws us-west-2 g4dn.xlarge: on_demand (27%)"
    assert [row.where for row in cloud_of(whole).workloads] == [f"{east}; and {west}"]
    assert "work_may_spread" in {told.code for told in whole.conventions}


def test_sixteen_accelerators_for_three_years_take_the_savings_plan(catalog, ask):
    """11,680 hours a month are sixteen H100 all the time: two p5.48xlarge on the three-year plan, 23.77728 an hour each
    (list price of us-east-1), for 3 x 8,760 hours. It was «own, 47 % less» against on demand alone."""
    demand = {"accelerator_hours_per_month": 11_680, "accelerator": "H100"}
    job = {"name": "infer", "kind": "inference", "demand": demand}
    found = plan(ask(job, months=36, providers=["aws"]), catalog)
    assert found.recommendation.strategy == "cloud"
    assert cloud_of(found).total_cost == pytest.approx(2 * 23.77728 * 3 * 8_760, abs=0.01)


def test_work_with_much_data_stays_where_its_data_is_paid(catalog, ask, hours):
    """Eight H100 all month with 100 TB: hours and storage in one region, not in two."""
    job = hours("H100", 5_840, gang=8, storage_gb=100_000)
    found = cloud_of(plan(ask(job, months=3, strategies=["cloud"]), catalog))
    assert len({use.region for use in found.uses}) == 1


# the optimum


def portfolio(chance: random.Random) -> list[dict]:
    makers = (
        lambda name: service(chance.uniform(0.5, 9), name, interruptible=chance.random() < 0.5),
        lambda name: {
            "name": name,
            "kind": "training",
            "interruptible": chance.random() < 0.5,
            "demand": {"accelerator_hours_per_month": chance.uniform(100, 3_000), "accelerator": "T4"},
        },
        lambda name: {
            "name": name,
            "kind": "interactive",
            "demand": {
                "accelerator_hours_per_month": chance.uniform(200, 2_000),
                "accelerator": "T4",
                "daily_shape": "day_and_evening",
            },
        },
        lambda name: {
            "name": name,
            "kind": "training",
            "accelerators": ["T4"],
            "measurements": ONE_T4,
            "demand": {"total_units": chance.uniform(1, 9) * 730 * 3600, "deadline_month": 4},
        },
    )
    return [chance.choice(makers)(f"job {number}") for number in range(3)]


def some_catalog(priced, chance: random.Random):
    """One type in each of three regions, so that a region is a home."""
    prices = {}
    for place, (name, count) in zip(
        (EAST, WEST, NORTH), (("g4dn.xlarge", 1), ("g4dn.12xlarge", 4), ("g4dn.metal", 8)), strict=True
    ):
        base = 0.5 * count * chance.uniform(0.85, 1.2)
        prices[*place, name, "on_demand"] = base
        prices[*place, name, "reserved_1y_no_upfront"] = base * chance.uniform(0.3, 0.8)
        if chance.random() < 0.5:
            prices[*place, name, "spot"] = base * chance.uniform(0.3, 0.9)
    return priced(prices)


@pytest.mark.one_in(60)
@pytest.mark.parametrize("seed", range(60))
def test_the_plan_equals_the_best_of_all_homes_tried_one_by_one(priced, ask, seed):
    chance = random.Random(seed)
    catalog, jobs = some_catalog(priced, chance), portfolio(chance)
    settings = {"strategies": ["cloud"], "months": 6, "assumptions": STABLE, "commitments_beyond_horizon": "pro_rata"}
    best = math.inf
    for homes in itertools.product((EAST, WEST, NORTH), repeat=len(jobs)):
        placed = [{**job, "regions": [region]} for job, (_, region) in zip(jobs, homes, strict=True)]
        found = cloud_of(plan(ask(*placed, **settings), catalog))
        if found.status != "infeasible":
            best = min(best, found.present_cost)
    free = cloud_of(plan(ask(*jobs, **settings), catalog))
    assert free.present_cost == pytest.approx(best, rel=2e-6)
    assert free.bound <= best * (1 + 1e-9)


@pytest.mark.one_in(20)
@pytest.mark.parametrize("seed", range(20))
def test_a_workload_costs_no_more_beside_others(priced, ask, seed):
    chance = random.Random(seed)
    catalog, jobs = some_catalog(priced, chance), portfolio(chance)
    settings = {"strategies": ["cloud", "hybrid"], "months": 4, "assumptions": STABLE, "systems": [BOX]}
    alone = [plan(ask(job, **settings), catalog) for job in jobs]
    together = plan(ask(*jobs, **settings), catalog)
    for name in ("cloud", "hybrid"):
        cost = sum(found.strategy(name).present_cost for found in alone)
        assert together.strategy(name).present_cost <= cost * (1 + 1e-6)
    assert together.strategy("hybrid").present_cost <= together.strategy("cloud").present_cost * (1 + 1e-9)
