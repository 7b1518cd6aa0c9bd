"""Limits that a plan may not pass: sums by hand, and what is said when they make a plan impossible."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from planner.application import plan
from planner.optimization.linear_program import LinearProgram, ProgramColumn, RequestLimit
from planner.optimization.plan_search import search_plan

PLACE = ("aws", "us-east-1")
OTHER = ("aws", "us-east-2")
RATE = 1.08 ** (1 / 12) - 1
FREE = {"failure_interval_accelerator_hours": 1e12}
"""Switches failures off, so that a sum has one term less."""


def quota(limit: float, **more: object) -> dict[str, object]:
    line = {
        "provider": "aws", "region": "us-east-1", "code": "L-1", "title": "vCPUs of G", "unit": "vcpu", "limit": limit,
        "used": 0, "types": "g*", "kinds": "on_demand reserved savings_plan", "as_of": "2026-11-20", "source_id": "x",
    }  # fmt: skip
    return {**line, **more}


def only_cloud(found):
    return found.strategy("cloud")


@pytest.mark.parametrize(("share", "spot_hours"), [(None, 1000), (1, 1000), (0.4, 400), (0, 0)])
def test_at_most_a_share_of_the_work_runs_on_spot(priced, ask, hours, share, spot_hours):
    """1,000 T4-hours at 0.2 spot and 0.5 on demand: the share on spot, the rest on demand."""
    catalog = priced({(*PLACE, "g4dn.xlarge", "on_demand"): 0.5, (*PLACE, "g4dn.xlarge", "spot"): 0.2})
    job = hours("T4", 1000, interruptible=True, checkpoint_minutes=0, restart_minutes=0)
    request = ask(job, months=1, strategies=["cloud"], limits={"spot_fraction_max": share})
    cloud = only_cloud(plan(request, catalog))
    assert cloud.total_cost == pytest.approx(0.2 * spot_hours + 0.5 * (1000 - spot_hours))


def test_a_workload_has_its_own_share_of_spot(priced, ask, hours):
    catalog = priced({(*PLACE, "g4dn.xlarge", "on_demand"): 0.5, (*PLACE, "g4dn.xlarge", "spot"): 0.2})
    quick = {"interruptible": True, "checkpoint_minutes": 0, "restart_minutes": 0}
    jobs = [hours("T4", 1000, "a", **quick), hours("T4", 1000, "b", spot_fraction_max=0.5, **quick)]
    cloud = only_cloud(plan(ask(*jobs, months=1, strategies=["cloud"], limits={"spot_fraction_max": 0}), catalog))
    assert cloud.total_cost == pytest.approx(500 + 0.2 * 500 + 0.5 * 500)


def test_services_that_share_a_node_at_other_hours_need_one(priced, ask):
    """One service by day, the other by night, half of a replica each then: the one node that 4 vCPUs allow, 730 h at
    0.5, serves both. Alone on their nodes they are two nodes, added whenever they stand: one goes elsewhere, 365 h at
    0.6."""
    catalog = priced({(*PLACE, "g4dn.xlarge", "on_demand"): 0.5, (*OTHER, "g4dn.xlarge", "on_demand"): 0.6})

    def ask_for(*, shares: bool, **limits):
        jobs = [
            {
                "name": name, "kind": "inference", "accelerators": ["T4"], "may_be_owned": False, "restart_minutes": 0,
                "measurements": [{"accelerator": "T4", "units_per_second": 2.0, "per": "job"}],
                "demand": {"requests_per_second": 0.5, "daily_shape": shape}, "shares_nodes": shares,
            }
            for name, shape in (("day", [0] * 12 + [1] * 12), ("night", [1] * 12 + [0] * 12))
        ]  # fmt: skip
        asked = {"months": 1, "strategies": ["cloud"], "quotas": [quota(4)], "assumptions": FREE}
        return plan(ask(*jobs, **asked, limits=limits), catalog)

    held = ask_for(shares=True, quotas="hold")
    assert only_cloud(held).total_cost == pytest.approx(730 * 0.5)
    assert ask_for(shares=True).quota_requests == ()
    assert [request.ask_for for request in ask_for(shares=False).quota_requests] == [8]
    assert only_cloud(ask_for(shares=False, quotas="hold")).total_cost == pytest.approx(365 * (0.5 + 0.6))


def test_a_quota_that_holds_sends_the_rest_elsewhere(priced, ask, hours):
    """2,190 T4-hours are 3 nodes of 4 vCPUs all month; 8 vCPUs are 2 of them: 1,460 h at 0.5, 730 h at 0.6 where work
    may be spread, else all of it at 0.6."""
    catalog = priced({(*PLACE, "g4dn.xlarge", "on_demand"): 0.5, (*OTHER, "g4dn.xlarge", "on_demand"): 0.6})
    asked = {"months": 1, "strategies": ["cloud"], "quotas": [quota(8)]}
    told = plan(ask(hours("T4", 2190), **asked), catalog)
    assert only_cloud(told).total_cost == pytest.approx(2190 * 0.5)
    assert [request.ask_for for request in told.quota_requests] == [12]
    whole = plan(ask(hours("T4", 2190), **asked, limits={"quotas": "hold"}), catalog)
    assert only_cloud(whole).total_cost == pytest.approx(2190 * 0.6)  # one place has to hold all of it
    kept = plan(ask(hours("T4", 2190, spread=True), **asked, limits={"quotas": "hold"}), catalog)
    assert only_cloud(kept).total_cost == pytest.approx(1460 * 0.5 + 730 * 0.6)
    assert kept.quota_requests == ()
    nodes = {use.region: use.nodes for use in only_cloud(kept).uses}
    assert nodes == pytest.approx({"us-east-1": 2.0, "us-east-2": 1.0})


def test_a_quota_counts_whole_nodes_and_what_is_used_already(priced, ask, hours):
    """Of 12 vCPUs 3 are used: 9 are free, which two nodes of 4 take and a third would pass."""
    catalog = priced({(*PLACE, "g4dn.xlarge", "on_demand"): 0.5, (*OTHER, "g4dn.xlarge", "on_demand"): 0.6})
    limited = {"limits": {"quotas": "hold"}, "quotas": [quota(12, used=3)]}
    job = hours("T4", 2000, spread=True)
    cloud = only_cloud(plan(ask(job, months=1, strategies=["cloud"], **limited), catalog))
    assert cloud.total_cost == pytest.approx(1460 * 0.5 + 540 * 0.6)


@pytest.mark.parametrize("amount", [1e-9, 1e-5, 1e-3, 1])
def test_work_of_seconds_needs_a_whole_node_of_a_quota(priced, ask, hours, amount):
    """Of 4 vCPUs one is used: no node of 4 is left, and the work is done elsewhere."""
    catalog = priced({(*PLACE, "g4dn.xlarge", "on_demand"): 0.5, (*OTHER, "g4dn.xlarge", "on_demand"): 0.6})
    limited = {"limits": {"quotas": "hold"}, "quotas": [quota(4, used=1)]}
    cloud = only_cloud(plan(ask(hours("T4", amount), months=1, strategies=["cloud"], **limited), catalog))
    assert [use.region for use in cloud.uses] == ["us-east-2"]


def test_a_quota_in_the_way_is_named_with_what_would_do(priced, ask, hours):
    """3 nodes of 4 vCPUs are needed, 8 are allowed, and nothing is sold elsewhere."""
    catalog = priced({(*PLACE, "g4dn.xlarge", "on_demand"): 0.5})
    limited = {"limits": {"quotas": "hold"}, "quotas": [quota(8)], "strategies": ["cloud"], "months": 1}
    found = plan(ask(hours("T4", 2190, may_be_owned=False), **limited), catalog)
    assert found.status == "infeasible"
    text = "quota aws us-east-1 L-1: 8 vcpu is too little; 12 would do, all other limits kept"
    assert text in [reason.text for reason in found.reasons]
    assert any("33.3% of its work cannot be done" in reason.text for reason in found.reasons)


def test_a_budget_of_running_costs_is_kept_and_named(priced, ask, hours):
    """12,000 T4-hours a year: 6,000 by the hour. A year reserved and paid upfront at 0.3: 2,628 for 8,760 of them."""
    prices = {(*PLACE, "g4dn.xlarge", "on_demand"): 0.5, (*PLACE, "g4dn.xlarge", "reserved_1y_all_upfront"): 0.3}
    job = hours("T4", 1000, may_be_owned=False)
    free = only_cloud(plan(ask(job, strategies=["cloud"]), priced(prices)))
    assert free.total_cost == pytest.approx(2628 + 12 * 270 * 0.5)
    limited = plan(ask(job, strategies=["cloud"], limits={"opex_per_year": 4000}), priced(prices))
    assert limited.status == "infeasible"
    (text,) = [reason.text for reason in limited.reasons if reason.text.startswith("opex_per_year")]
    assert text == "opex_per_year year 1: 4,000 a year is too little; 4,248 would do, all other limits kept"
    kept = plan(ask(job, strategies=["cloud"], limits={"opex_per_year": [4248.5]}), priced(prices))
    assert only_cloud(kept).total_cost == pytest.approx(4248)


def test_a_budget_counts_the_least_support_fee(priced, ask, hours):
    """730 T4-hours at 0.5 are 365, and the support plan at least 100: with 10 % tax on both 511.50 a month."""
    catalog = priced({(*PLACE, "g4dn.xlarge", "on_demand"): 0.5})
    assumed = {"cloud_support_minimum_per_month": 100, "cloud_tax_fraction": 0.1}
    asked = {"months": 1, "strategies": ["cloud"], "assumptions": assumed}
    tight = plan(ask(hours("T4", 730), **asked, limits={"opex_per_year": 500}), catalog)
    assert tight.status == "infeasible"
    told = "opex_per_year year 1: 500 a year is too little; 511.5 would do, all other limits kept"
    assert told in [reason.text for reason in tight.reasons]
    enough = plan(ask(hours("T4", 730), **asked, limits={"opex_per_year": 511.6}), catalog)
    assert only_cloud(enough).total_cost == pytest.approx(511.5)


def test_a_budget_counts_operators_that_are_hired_one_by_one(priced, ask, hours):
    """An existing node takes one operator at 60,000 / 12 = 5,000 a month, more than a budget of 4,900 by itself."""
    catalog = priced({(*PLACE, "g4dn.xlarge", "on_demand"): 0.5})
    asked = {"months": 1, "strategies": ["cloud"], "assumptions": {"staff_cost_annual": 60_000}}
    asked |= {"site": {"staff": "whole"}, "existing": {"nodes": [{"system": "4x L40S server", "count": 1}]}}
    tight = plan(ask(hours("T4", 1), **asked, limits={"opex_per_year": 4_900}), catalog)
    assert tight.status == "infeasible"
    (needed,) = {reason.parameters["needed"] for reason in tight.reasons if reason.code == "limit_too_low"}
    enough = plan(ask(hours("T4", 1), **asked, limits={"opex_per_year": needed}), catalog)
    assert 5_000 < sum(row.amount for row in only_cloud(enough).cash if row.amount > 0) <= needed


def test_spare_replicas_stand_ready(priced, ask):
    """4 requests a second at 2 a replica take 2 replicas; one spare makes 3 nodes all month: 3 x 730 x 0.5."""
    catalog = priced({(*PLACE, "g4dn.xlarge", "on_demand"): 0.5})
    measurement = {"accelerator": "T4", "units_per_second": 2.0, "per": "job"}
    job = {
        "name": "api", "kind": "inference", "demand": {"requests_per_second": 4}, "measurements": [measurement],
        "accelerators": ["T4"], "may_be_owned": False, "restart_minutes": 0,
    }  # fmt: skip
    asked = {"months": 1, "strategies": ["cloud"], "assumptions": FREE}
    costs = [
        only_cloud(plan(ask({**job, "spare_replicas": spare}, **asked), catalog)).total_cost for spare in (0, 1, 3)
    ]
    assert costs == pytest.approx([2 * 365, 3 * 365, 5 * 365])


def test_a_spare_replica_may_stand_on_a_committed_node(priced, ask):
    """Three nodes reserved for a year at 0.2 are cheaper than any by the hour: 3 x 8,760 x 0.2."""
    prices = {(*PLACE, "g4dn.xlarge", "on_demand"): 0.5, (*PLACE, "g4dn.xlarge", "reserved_1y_no_upfront"): 0.2}
    measurement = {"accelerator": "T4", "units_per_second": 2.0, "per": "job"}
    job = {
        "name": "api", "kind": "inference", "demand": {"requests_per_second": 4}, "measurements": [measurement],
        "accelerators": ["T4"], "may_be_owned": False, "restart_minutes": 0, "spare_replicas": 1,
    }  # fmt: skip
    cloud = only_cloud(plan(ask(job, strategies=["cloud"], assumptions=FREE), priced(prices)))
    assert sum(bought.count for bought in cloud.purchases) == 3
    assert cloud.total_cost == pytest.approx(3 * 8760 * 0.2)


def test_a_savings_plan_is_committed_money_that_covers_use_at_its_rates(priced, ask, hours):
    """T4 1,460 hours a month: 0.5 on demand, 0.3 under a compute plan of one year.

    Work may run at any hour: 2 nodes all month are 0.6 an hour committed, all of it used: 0.6 x 8,760 = 5,256.
    """
    prices = {
        (*PLACE, "g4dn.xlarge", "on_demand"): 0.5,
        (*PLACE, "g4dn.xlarge", "savings_plan_1y_compute_no_upfront"): 0.3,
    }
    cloud = only_cloud(plan(ask(hours("T4", 1460), strategies=["cloud"]), priced(prices)))
    (bought,) = cloud.purchases
    assert (bought.unit, bought.count) == ("money", 1)
    assert bought.money_per_hour == pytest.approx(0.6)
    assert cloud.total_cost == pytest.approx(0.6 * 8760)
    assert {use.what for use in cloud.uses} == {"hourly"}


def test_a_limit_far_below_a_machine_is_a_limit_to_a_millionth_of_itself():
    """17,190 kg a year beside a machine that emits 600,000 kg: the solver may leave a millionth of a row whose limit is
    1. In a row whose largest entry is 1 that was 0.6 kg, which no plan may emit more."""
    limit = RequestLimit("carbon_kg_per_year", "year 1", 17_190.0, "kg CO2e a year")
    program = LinearProgram()
    for number in range(2):
        program.column(ProgramColumn("work", number, 1), 0.0, 1.0, whole=False)
    for bound, entries in ((17_190.0, (600_000.0, 1.0)), (1e6, (600_000.0, 1.0)), (0.0, (2.0, 1.0))):
        program.row(-math.inf, bound, list(enumerate(entries)), limit=limit)
    assert program.row_scale == [17_190.0, 600_000.0, 2.0]
    assert program.row_upper == [1.0, pytest.approx(1e6 / 600_000), 0.0]


def test_what_the_solver_leaves_at_another_home_is_left_out(priced, ask, hours, monkeypatch):
    """A solution with half a millionth of the work at a place beside its home, as the solver may leave it: the plan has
    one place, and the cost of that."""

    def leave_a_part(setting, scope, bound):
        searched = search_plan(setting, scope, bound)
        program, values = searched.program, list(searched.solution.values)
        work = [number for number, column in enumerate(program.columns) if column.kind == "work"]
        whole, none = ([number for number in work if values[number] == part] for part in (1.0, 0.0))
        assert len(whole) == len(none) == 1
        values[whole[0]], values[none[0]] = 1 - 5e-7, 5e-7
        return replace(searched, solution=replace(searched.solution, values=tuple(values)))

    prices = {("aws", f"us-east-{number}", "g4dn.xlarge", "on_demand"): 0.4 + number / 10 for number in (1, 2)}
    lines = {"provider": "aws", "region": "us-east-1", "code": "L-1", "title": "nodes", "unit": "node", "limit": 9}
    quota = lines | {"used": 0, "types": "*", "kinds": "on_demand", "as_of": "2026-11-20", "source_id": "x"}
    asked = {"quotas": [quota], "limits": {"quotas": "hold"}}  # under a quota both places stay
    monkeypatch.setattr("planner.optimization.strategy.search_plan", leave_a_part)
    cloud = only_cloud(plan(ask(hours("T4", 1000), months=1, strategies=["cloud"], **asked), priced(prices)))
    assert {use.region for use in cloud.uses} == {"us-east-1"}
    assert cloud.total_cost == pytest.approx(500, rel=1e-6)


@pytest.mark.parametrize("part", [1e-6, 1e-9])
def test_the_least_work_is_paid_for(priced, ask, hours, part):
    """A millionth of 1,460 hours a month at 0.5 by the hour or 0.3 committed for every hour: by the hour, a millionth
    of 730 a month. The solver's tolerance hid the money that it would take, and the plan failed its verification."""
    prices = {
        (*PLACE, "g4dn.xlarge", "on_demand"): 0.5,
        (*PLACE, "g4dn.xlarge", "savings_plan_1y_compute_no_upfront"): 0.3,
    }
    cloud = only_cloud(plan(ask(hours("T4", 1460 * part), strategies=["cloud"]), priced(prices)))
    assert cloud.purchases == ()
    assert cloud.total_cost == pytest.approx(730 * part * 12, rel=1e-6, abs=0)


def test_one_savings_plan_covers_two_types_and_the_family_plan_only_its_own(priced, ask, hours):
    """730 hours a month on a T4 (0.5, compute 0.3, instance 0.28) and on an L4 (0.8, compute 0.6): the family plan
    for the T4 is cheaper than the general one, which still pays for the L4: (0.28 + 0.6) x 8,760."""
    prices = {
        (*PLACE, "g4dn.xlarge", "on_demand"): 0.5,
        (*PLACE, "g4dn.xlarge", "savings_plan_1y_compute_no_upfront"): 0.3,
        (*PLACE, "g4dn.xlarge", "savings_plan_1y_instance_no_upfront"): 0.28,
        (*PLACE, "g6.xlarge", "on_demand"): 0.8,
        (*PLACE, "g6.xlarge", "savings_plan_1y_compute_no_upfront"): 0.6,
    }
    jobs = [hours("T4", 730, "a"), hours("L4", 730, "b")]
    cloud = only_cloud(plan(ask(*jobs, strategies=["cloud"]), priced(prices)))
    assert sorted(bought.money_per_hour for bought in cloud.purchases) == pytest.approx([0.28, 0.6])
    assert cloud.total_cost == pytest.approx(0.88 * 8760)
    without = {key: price for key, price in prices.items() if "instance" not in key[3]}
    (one,) = only_cloud(plan(ask(*jobs, strategies=["cloud"]), priced(without))).purchases
    assert one.money_per_hour == pytest.approx(0.9)


def test_a_service_under_a_savings_plan_rents_whole_nodes(priced, ask):
    """2.5 requests a second at 2 a replica: two whole nodes, 0.3 each under the plan: 0.6 an hour for a year."""
    prices = {
        (*PLACE, "g4dn.xlarge", "on_demand"): 0.5,
        (*PLACE, "g4dn.xlarge", "savings_plan_1y_compute_no_upfront"): 0.3,
    }
    measurement = {"accelerator": "T4", "units_per_second": 2.0, "per": "job"}
    job = {
        "name": "api", "kind": "inference", "demand": {"requests_per_second": 2.5}, "measurements": [measurement],
        "accelerators": ["T4"], "may_be_owned": False, "restart_minutes": 0,
    }  # fmt: skip
    cloud = only_cloud(plan(ask(job, strategies=["cloud"], assumptions=FREE), priced(prices)))
    assert cloud.total_cost == pytest.approx(0.6 * 8760)


def commitment(**more: object) -> dict[str, object]:
    line = {
        "provider": "aws", "region": "us-east-1", "instance_type": "g4dn.xlarge",
        "purchase_option": "reserved_1y_no_upfront", "count": 2, "ends": "2027-02", "fee_per_month": 300,
    }  # fmt: skip
    return {**line, **more}


def test_a_commitment_that_runs_already_is_used_and_still_owed(priced, ask, hours):
    """Two nodes until 2027-02 (three of the twelve months): 1,460 of 2,000 hours a month are theirs, 300 a month is
    owed; all else on demand at 0.5: 3 x (300 + 540 x 0.5) + 9 x 2,000 x 0.5."""
    catalog = priced({(*PLACE, "g4dn.xlarge", "on_demand"): 0.5})
    request = ask(hours("T4", 2000, may_be_owned=False), existing={"commitments": [commitment()]})
    for name in ("cloud", "hybrid"):
        found = plan(request, catalog).strategy(name)
        assert found.total_cost == pytest.approx(3 * (300 + 270) + 9 * 1000)
        assert found.purchases == ()
        assert sum(workload.cost for workload in found.workloads) == pytest.approx(found.total_cost)


def test_what_is_owed_is_owed_though_nothing_uses_it(priced, ask, hours):
    catalog = priced({(*PLACE, "g6.xlarge", "on_demand"): 0.8})
    request = ask(hours("L4", 100), strategies=["cloud"], existing={"commitments": [commitment()]})
    assert only_cloud(plan(request, catalog)).total_cost == pytest.approx(3 * 300 + 12 * 80)


def test_an_enterprise_discount_support_and_tax_by_hand(priced, ask, hours):
    """1,000 hours at 0.5 less 10 % = 450; 5 % support = 22.50; 20 % tax on 472.50 = 94.50. Spot has no discount."""
    catalog = priced({(*PLACE, "g4dn.xlarge", "on_demand"): 0.5})
    given = {"enterprise_discount_fraction": 0.1, "cloud_support_fraction": 0.05, "cloud_tax_fraction": 0.2}
    cloud = only_cloud(plan(ask(hours("T4", 1000), months=1, strategies=["cloud"], assumptions=given), catalog))
    paid = {row.category: row.amount for row in cloud.cash}
    assert paid == pytest.approx({"on_demand": 450, "cloud_support": 22.5, "tax": 94.5})
    assert cloud.present_cost == pytest.approx(567 / (1 + RATE))


def test_the_support_plan_costs_its_least_fee(priced, ask, hours):
    """5 % of 500 is 25, topped up to 100; with 5 % of 5,000 = 250 nothing is topped up; nothing used, nothing owed."""
    catalog = priced({(*PLACE, "g4dn.xlarge", "on_demand"): 0.5})
    given = {"cloud_support_fraction": 0.05, "cloud_support_minimum_per_month": 100}
    job = hours("T4", 1, may_be_owned=False)
    job["demand"] = {"accelerator_hours_per_month": [1000, 10_000, 0], "accelerator": "T4"}
    cloud = only_cloud(plan(ask(job, months=3, strategies=["cloud"], assumptions=given), catalog))
    assert cloud.total_cost == pytest.approx(500 + 100 + 5000 + 250)


def test_data_moves_to_where_the_work_runs(catalog, ask, hours):
    """1,000 GB a month from us-east-1 to us-east-2 cost 0.02 a GB (2024-09-25) on top; beside the data nothing."""
    job = hours("T4", 1000, data_region="aws us-east-1", transfer_gb_per_month=1000, may_be_owned=False)
    asked = {"months": 1, "strategies": ["cloud"], "providers": ["aws"]}
    here = only_cloud(plan(ask(job, regions=["us-east-1"], **asked), catalog))
    there = only_cloud(plan(ask(job, regions=["us-east-2"], **asked), catalog))
    moved = [row.amount for row in there.cash if row.category == "transfer"]
    assert moved == pytest.approx([20.0])
    assert not [row for row in here.cash if row.category == "transfer"]


def test_faults_of_existing_commitments_and_data_regions_are_all_told(catalog, ask, hours):
    from planner.request.errors import InvalidRequest

    bad = [
        commitment(provider="awz"),
        commitment(region="us-est-1", instance_type="g4dn.xlarg", purchase_option="spot"),
        commitment(),
        commitment(),
    ]
    request = ask(hours("T4", 1, data_region="aws us-est-1"), existing={"commitments": bad})
    with pytest.raises(InvalidRequest) as refused:
        plan(request, catalog)
    told = {complaint.path: complaint for complaint in refused.value.complaints}
    assert set(told) == {
        "existing.commitments[0].provider", "existing.commitments[1].region",
        "existing.commitments[1].instance_type", "existing.commitments[1].purchase_option",
        "existing.commitments[3]", "workloads[0].data_region",
    }  # fmt: skip
    assert "us-east-1" in told["existing.commitments[1].region"].expected


@pytest.mark.slow
def test_one_more_unit_of_work_costs_what_is_rented_for_it(priced, ask, hours):
    """A node reserved for 8,760 hours at 0.3 carries 730 hours a month; each hour beyond them is 0.5 on demand, at the
    end of its month: 1 % of 1,000 hours is 10, 120 in twelve months, at 0.5."""
    prices = {(*PLACE, "g4dn.xlarge", "on_demand"): 0.5, (*PLACE, "g4dn.xlarge", "reserved_1y_no_upfront"): 0.3}
    found = plan(ask(hours("T4", 1000, may_be_owned=False), strategies=["cloud"], risk={"draws": 100}), priced(prices))
    (row,) = found.margins
    assert (row.kind, row.subject, row.added) == ("demand", "job", pytest.approx(120))
    assert row.worth == pytest.approx(10 * 0.5 * sum((1 + RATE) ** -m for m in range(1, 13)), rel=1e-4)
    assert plan(ask(hours("T4", 1000), strategies=["cloud"]), priced(prices)).margins == ()


def test_a_quota_is_worth_what_a_whole_node_more_saves(priced, ask, hours):
    """1,460 hours a month are two nodes: 730 USD in Europe at 0.5. One node alone may run in the United States at 0.3,
    and a workload has one home; with a second one there it pays 438."""
    catalog = priced({("aws", "eu-west-1", "g4dn.xlarge", "on_demand"): 0.5, (*PLACE, "g4dn.xlarge", "on_demand"): 0.3})
    quota = {"provider": "aws", "region": "us-east-1", "code": "L-1", "title": "nodes", "unit": "node", "limit": 1,
             "types": "g4dn.*", "kinds": "on_demand", "as_of": "2026-11-20", "source_id": "quotas"}  # fmt: skip
    asked = {"months": 1, "strategies": ["cloud"], "quotas": [quota], "limits": {"quotas": "hold"}}
    found = plan(ask(hours("T4", 1460), **asked), catalog)
    (row,) = found.margins
    assert found.strategies[0].total_cost == pytest.approx(730)
    assert (row.added, row.worth) == (1.0, pytest.approx(-292 / (1 + RATE)))


def test_a_little_more_of_a_limit_is_worth_what_it_saves(priced, ask, hours):
    """40 % on spot at 0.2, the rest at 0.5: 4 % more on spot saves 40 x 0.3 = 12."""
    catalog = priced({(*PLACE, "g4dn.xlarge", "on_demand"): 0.5, (*PLACE, "g4dn.xlarge", "spot"): 0.2})
    job = hours("T4", 1000, interruptible=True, checkpoint_minutes=0, restart_minutes=0)
    found = plan(ask(job, months=1, strategies=["cloud"], limits={"spot_fraction_max": 0.4}), catalog)
    (row,) = found.margins
    assert (row.kind, row.subject, row.added) == ("limit", "spot_fraction_max job", pytest.approx(0.04))
    assert row.worth == pytest.approx(-12 / (1 + RATE))
