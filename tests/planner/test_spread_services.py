"""Services whose replicas may stand in several places (`spread: true`): whole nodes in each, worked by hand."""

from __future__ import annotations

import random

import pytest

from planner.application import plan

EAST, WEST = ("aws", "us-east-1"), ("aws", "us-west-2")
HOURS = 730
STABLE = {"cloud_price_change_annual": 0, "spot_price_change_annual": 0, "commitment_price_change_annual": 0}
ONE_EACH = {(*EAST, "g4dn.xlarge", "on_demand"): 0.5, (*WEST, "g4dn.xlarge", "on_demand"): 0.6}
"""Nodes of one T4 in two regions, dearer in the west."""


def service(rate: float, **more) -> dict:
    """A service of T4s that do two requests a second."""
    measured = [{"accelerator": "T4", "units_per_second": 2.0, "per": "job", "count": 1}]
    return {
        "name": "api", "kind": "inference", "demand": {"requests_per_second": rate}, "measurements": measured,
        "accelerators": ["T4"], **more,
    }  # fmt: skip


def quota(region: str, nodes: int, types: str = "g4dn.xlarge") -> dict:
    return {
        "provider": "aws", "region": region, "code": "L-1", "title": "nodes", "unit": "node", "limit": nodes, "used": 0,
        "types": types, "kinds": "on_demand", "as_of": "2026-11-20", "source_id": "test",
    }  # fmt: skip


@pytest.fixture
def planned(priced, ask):
    """The cloud plan of one month, and of a service that may not be spread beside it."""

    def solve(prices: dict, job: dict, *, spread: bool = True, **settings):
        asked = {"months": 1, "strategies": ["cloud"], "limits": {"quotas": "hold"}, "assumptions": STABLE}
        request = ask(job | {"spread": spread}, **asked | settings)
        return plan(request, priced(prices)).strategy("cloud")

    return solve


def nodes_by_region(strategy) -> dict[str, float]:
    found: dict[str, float] = {}
    for use in strategy.uses:
        found[use.region] = found.get(use.region, 0) + use.node_hours / HOURS
    return {region: pytest.approx(nodes) for region, nodes in found.items()}


def test_two_quotas_that_only_together_suffice(planned):
    """8 requests a second are four replicas; each region lets two nodes run: 2 x 0.5 and 2 x 0.6 an hour."""
    quotas = [quota("us-east-1", 2), quota("us-west-2", 2)]
    assert planned(ONE_EACH, service(8), spread=False, quotas=quotas).status == "infeasible"
    found = planned(ONE_EACH, service(8), quotas=quotas)
    assert found.status == "optimal"
    assert found.total_cost == pytest.approx(HOURS * (2 * 0.5 + 2 * 0.6))
    assert nodes_by_region(found) == {"us-east-1": 2, "us-west-2": 2}
    east, west = "aws us-east-1 g4dn.xlarge: on_demand (50%)", "aws us-west-2 g4dn.xlarge: on_demand (50%)"
    assert [row.where for row in found.workloads] == [f"{east}; and {west}"]


def test_nodes_are_whole_in_each_place(planned):
    """12 requests a second are six replicas. Nodes of four T4s in the west at 2.0: two for all of them; with two nodes
    in the east one suffices: 2 x 0.5 + 2.0 an hour. Of seven replicas five would be left: two nodes in any case, so all
    of them stay in the west."""
    prices = {(*EAST, "g4dn.xlarge", "on_demand"): 0.5, (*WEST, "g4dn.12xlarge", "on_demand"): 2.0}
    quotas = [quota("us-east-1", 2)]
    for rate, spread, an_hour in ((12, False, 4.0), (12, True, 3.0), (13, True, 4.0)):
        found = planned(prices, service(rate), spread=spread, quotas=quotas)
        assert found.total_cost == pytest.approx(HOURS * an_hour), (rate, spread)


def test_spare_replicas_are_of_the_service_as_a_whole(planned):
    """Four replicas and one spare: three nodes in the east and two in the west, not a spare in each."""
    quotas = [quota("us-east-1", 3), quota("us-west-2", 3)]
    found = planned(ONE_EACH, service(8, spare_replicas=1), quotas=quotas)
    assert found.total_cost == pytest.approx(HOURS * (3 * 0.5 + 2 * 0.6))


def test_spot_holds_its_share_of_the_service_as_a_whole(planned):
    """Half of four replicas may be on spot, in the east at 0.1, and not two more in the west at 0.12; of the others one
    node runs in the east at 0.5, one in the west at 0.6."""
    prices = ONE_EACH | {(*EAST, "g4dn.xlarge", "spot"): 0.1, (*WEST, "g4dn.xlarge", "spot"): 0.12}
    job = service(8, interruptible=True, spot_fraction_max=0.5, restart_minutes=0, checkpoint_minutes=0)
    found = planned(prices, job, quotas=[quota("us-east-1", 1)])
    assert found.total_cost == pytest.approx(HOURS * (2 * 0.1 + 0.5 + 0.6))


def test_replicas_that_spot_may_not_hold_stand_on_whole_nodes_beside_it(planned):
    """Four replicas fill a node of four. Half of them on spot would leave half of a node: a second one at the full
    price costs more than one for all."""
    prices = {(*EAST, "g4dn.12xlarge", "on_demand"): 2.0, (*EAST, "g4dn.12xlarge", "spot"): 0.4}
    found = planned(prices, service(8, interruptible=True, spot_fraction_max=0.5))
    assert found.total_cost == pytest.approx(HOURS * 2.0)


def test_each_hour_of_the_week_is_divided_anew(planned):
    """From 8 to 23 o'clock (15 of 24 hours) the level is 1, else 0.3: mean 17.7/24. A mean of 5.9 requests a second
    is 8 by day and 2.4 by night: four and two replicas. Two nodes in the east all the time, two in the west by
    day."""
    job = service(5.9)
    job["demand"]["daily_shape"] = "day_and_evening"
    found = planned(ONE_EACH, job, quotas=[quota("us-east-1", 2)])
    assert found.total_cost == pytest.approx(HOURS * (2 * 0.5 + 15 / 24 * 2 * 0.6))


def test_owned_nodes_are_a_place_like_any_other(planned):
    """5.5 requests a second are three replicas: on a box that is there, a node in the east and one in the west. Without
    `spread` what exceeds the box goes to one place, where only one node may run."""
    box = {"name": "box", "accelerator": "T4", "accelerators": 1, "price": 4_000, "max_power_kw": 0.3}
    settings = {
        "systems": [box], "existing": {"nodes": [{"system": "box", "count": 1}]},
        "quotas": [quota("us-east-1", 1), quota("us-west-2", 1)],
    }  # fmt: skip
    assert planned(ONE_EACH, service(5.5), spread=False, **settings).status == "infeasible"
    found = planned(ONE_EACH, service(5.5), **settings)
    assert nodes_by_region(found) == {"": 1, "us-east-1": 1, "us-west-2": 1}
    (row,) = found.workloads
    assert row.where.count("; and ") == 2


def test_each_place_pays_for_the_data_of_its_part(planned):
    """1,000 GB a month go to what does not run in the east; half of the work is in the west."""
    job = service(8, data_region="aws us-east-1", transfer_gb_per_month=1_000)
    without = planned(ONE_EACH, service(8), quotas=[quota("us-east-1", 2)]).total_cost
    moved = planned(ONE_EACH, job, quotas=[quota("us-east-1", 2)]).total_cost - without
    all_of_it = planned(ONE_EACH, job, quotas=[quota("us-east-1", 0)]).total_cost - HOURS * 4 * 0.6
    assert all_of_it > 1
    assert moved == pytest.approx(all_of_it / 2)


def test_no_place_holds_a_part_of_more_replicas_than_may_run_at_once(planned):
    """Replicas of T4s are four, of half the speed on the L4 of the west (as measured) eight: with `parallel_jobs: 4` no
    part of the service runs there."""
    prices = {(*EAST, "g4dn.xlarge", "on_demand"): 0.5, (*WEST, "g6.xlarge", "on_demand"): 0.2}
    measured = [
        {"accelerator": "T4", "units_per_second": 2.0, "per": "job", "count": 1},
        {"accelerator": "L4", "units_per_second": 1.0, "per": "job", "count": 1},
    ]
    job = service(8, parallel_jobs=4) | {"measurements": measured, "accelerators": ["T4", "L4"]}
    settings = {"quotas": [quota("us-east-1", 3)]}
    assert planned(prices, job, **settings).status == "infeasible"
    found = planned(prices, job | {"parallel_jobs": 8}, **settings)
    assert found.total_cost == pytest.approx(HOURS * 8 * 0.2)


OPTIONS = ("spot", "reserved_1y_no_upfront", "reserved_1y_all_upfront", "savings_plan_1y_compute_no_upfront")


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 60))])
def test_a_service_that_may_be_spread_is_never_dearer(planned, seed):
    """Any plan of one home is one of several places, too: with quotas, commitments, money, spot and shared nodes."""
    chance = random.Random(seed)
    prices = {}
    for name, count in {"g4dn.xlarge": 1, "g4dn.12xlarge": 4}.items():
        for place in (EAST, WEST):
            base = 0.5 * count * chance.uniform(0.8, 1.2)
            prices[*place, name, "on_demand"] = base
            prices |= {(*place, name, way): base * chance.uniform(0.3, 0.9) for way in chance.sample(OPTIONS, 2)}
    job = service(
        chance.uniform(1, 24), interruptible=chance.random() < 0.6, spot_fraction_max=chance.choice([0.3, 0.5, 1]),
        spare_replicas=chance.choice([0, 1]), shares_nodes=chance.random() < 0.2,
    )  # fmt: skip
    job["demand"]["daily_shape"] = chance.choice(["flat", "day_and_evening"])
    settings = {"months": chance.choice([1, 3]), "quotas": [quota("us-east-1", chance.choice([2, 40]), "g4dn.*")]}
    home, spread = (planned(prices, job, spread=may, **settings) for may in (False, True))
    assert spread.status == "optimal"
    assert spread.present_cost <= home.present_cost * (1 + 2e-6)
