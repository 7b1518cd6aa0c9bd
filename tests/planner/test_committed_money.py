"""Savings plans pay, in each hour, for what runs in that hour: sums worked by hand.

A g6e.12xlarge (4 L40S) costs 4 an hour on demand and 2 under a savings plan, whose money is paid in all 730 hours of a
month, used or not. AWS applies the commitment to the usage of each hour and carries nothing over ("How Savings Plans
apply to your usage", AWS Savings Plans user guide).
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner import pipeline
from planner.application import plan
from planner.optimization.model import build_program
from planner.optimization.place_program import build_place_program
from planner.optimization.solver import solve_program
from planner.optimization.strategy import solve_strategy, strategy_scope
from planner.optimization.two_stage import build_scenario_program
from planner.optimization.verification import find_violations
from planner.optimization.verified_plan import VerifiedPlan
from planner.request.models import parse_request

PLACE = ("aws", "us-east-1", "g6e.12xlarge")
SAVINGS_PLAN = "savings_plan_1y_compute_no_upfront"
PRICES = {(*PLACE, "on_demand"): 4.0, (*PLACE, SAVINGS_PLAN): 2.0}


def job(name: str, gang: int, gang_hours: float) -> dict:
    demand = {"accelerator_hours_per_month": gang * gang_hours, "accelerator": "L40S"}
    nodes = {"gang": gang, "accelerators_per_node": 4, "fabric": "any"}
    return {"name": name, "kind": "training", **nodes, "demand": demand}


def asked(*workloads: dict, **assumptions: float):
    exact = {"failure_interval_accelerator_hours": 1e12, **assumptions}  # no hour is lost to failures
    return parse_request({
        "as_of": "2026-11-21", "months": 12, "strategies": ["cloud"], "discount_rate_annual": 0, "assumptions": exact,
        "workloads": list(workloads),
    })  # fmt: skip


@pytest.mark.parametrize(
    ("workloads", "money", "cost"),
    [
        # two nodes for 300 hours: 2 x 300 x 4 = 2,400 a month; under a plan 2 x 2 x 730 = 2,920
        ([job("short", 8, 300)], 0.0, 12 * 2_400),
        # for 500 hours 4,000 on demand, so the plan for both nodes: not 2 x 500 / 730 = 1.37 nodes of it
        ([job("long", 8, 500)], 4.0, 12 * 2_920),
        # one node for 360 hours: 1,440 on demand, 1,460 under a plan for a node; half a node of it pays for half
        ([job("one", 4, 360)], 0.0, 12 * 1_440),
        # a second such job runs after the first: 720 hours of one node, 2,880 on demand, 1,460 under the plan
        ([job("one", 4, 360), job("other", 4, 360)], 2.0, 12 * 1_460),
        # 900 hours: one node at all hours and 170 of a second on demand, not 1.23 nodes in each hour for 1,800
        ([job("more", 4, 900)], 2.0, 12 * (1_460 + 170 * 4)),
        # so it is for 900 hours of two jobs, and of one that may be spread
        ([job("one", 4, 450), job("other", 4, 450)], 2.0, 12 * (1_460 + 170 * 4)),
        ([job("more", 4, 900) | {"kind": "batch", "spread": True}], 2.0, 12 * (1_460 + 170 * 4)),
        # 1,125 hours of each of two jobs: three nodes and 60 hours of a fourth, not 3.08 nodes
        ([job("one", 4, 1125), job("other", 4, 1125)], 6.0, 12 * (3 * 1_460 + 60 * 4)),
        # 1,000 hours of two nodes: two of them at all hours and 270 hours of two more, not 2.74 nodes; a third node of
        # the plan would be paid for in 730 hours and used in 270
        ([job("wide", 8, 1000)], 4.0, 12 * (2 * 1_460 + 270 * 2 * 4)),
    ],
)
def test_money_is_worth_its_hours(priced, workloads, money, cost):
    found = plan(asked(*workloads), priced(PRICES)).strategy("cloud")
    assert sum(each.money_per_hour for each in found.purchases) == pytest.approx(money)
    assert found.present_cost == pytest.approx(cost, rel=1e-6)


@pytest.mark.parametrize(
    ("accelerators", "hours", "money", "cost"),
    [
        # one node of each type at all hours, and 170 hours of a second one on demand
        (("L40S", "L4"), 900, 3.0, 2_190 + 170 * (4 + 2)),
        # 360 hours of each: 2,160 on demand, 2,190 under a plan for both nodes
        (("L40S", "L4"), 360, 0.0, 360 * (4 + 2)),
    ],
)
def test_money_for_several_types_pays_for_whole_nodes_of_each(priced, accelerators, hours, money, cost):
    """A g6.12xlarge (4 L4) costs half of what a g6e.12xlarge does, and one compute plan pays for both."""
    small = ("aws", "us-east-1", "g6.12xlarge")
    prices = PRICES | {(*small, "on_demand"): 2.0, (*small, SAVINGS_PLAN): 1.0}
    jobs = [job(name, 4, hours) for name in accelerators]
    for each in jobs:
        each["demand"]["accelerator"] = each["name"]
    found = plan(asked(*jobs), priced(prices)).strategy("cloud")
    assert sum(each.money_per_hour for each in found.purchases) == pytest.approx(money)
    assert found.present_cost == pytest.approx(12 * cost, rel=1e-6)


def test_money_suffices_for_a_gang_of_dear_nodes(priced):
    """The second case above at 20 times its prices: 80 an hour for two nodes."""
    dear = {key: 20 * price for key, price in PRICES.items()}
    found = plan(asked(job("long", 8, 500)), priced(dear)).strategy("cloud")
    assert found.present_cost == pytest.approx(20 * 12 * 2_920, rel=1e-6)


def test_the_bound_by_place_lets_money_pay_half_of_a_gang_beside_spot(priced):
    """Two nodes for all 730 hours, at most half of the work on spot at 1: money for one node at 2 an hour pays the
    other half, 1,460 + 730 a month. The program by place, below every plan, costs no more."""
    half = job("half", 8, 730) | {"interruptible": True, "spot_fraction_max": 0.5}
    priced_with_spot = priced(PRICES | {(*PLACE, "spot"): 1.0}, {(*PLACE, "spot"): "2026-11-21"})
    basis = pipeline._prepare_basis(asked(half, spot_hours_to_interruption=1e12), priced_with_spot)
    context, _ = pipeline._build_context(basis.request, basis.catalog, basis.assumptions, (), {})
    scope = strategy_scope("cloud", context)
    for program in (build_program(context, scope), build_place_program(context, scope).program):
        assert solve_program(program).objective == pytest.approx(12 * 2_190, rel=1e-5)


def test_later_decisions_in_fractions_save_no_money_up(priced):
    """600 hours of two nodes within the year are 1,200 x 4 on demand. A plan for both costs 35,040; money for their
    1,200 of 8,760 hours would cost 2,400, and pays them in no hour."""
    due = job("due", 8, 0) | {
        "demand": {"total_units": 600 * 3600, "deadline_month": 12},
        "measurements": [{"accelerator": "L40S", "units_per_second": 1.0, "per": "job", "count": 8}],
    }
    basis = pipeline._prepare_basis(asked(due), priced(PRICES))
    context, _ = pipeline._build_context(basis.request, basis.catalog, basis.assumptions, (), {})
    scope = strategy_scope("cloud", context)
    for whole in (True, False):
        program = build_scenario_program(1.0, context, scope, 3, whole=whole).program
        assert solve_program(program).objective == pytest.approx(4_800, rel=1e-5)


def test_money_of_part_of_a_node_for_a_short_job_is_no_plan(priced):
    """1.5 an hour is 1,095 a month, more than the 1,000 that 500 hours at 2 take, but no hour has 2."""
    basis = pipeline._prepare_basis(asked(job("one", 4, 500)), priced(PRICES))
    context, _ = pipeline._build_context(basis.request, basis.catalog, basis.assumptions, (), {})
    result = solve_strategy("cloud", context)
    sound = VerifiedPlan(result.strategy, result.decisions, context, basis.request, basis.catalog)
    assert [order.quantity for order in result.decisions.bought] == pytest.approx([2.0])
    assert find_violations(sound) == ()
    less = tuple(replace(order, quantity=1.5) for order in result.decisions.bought)
    planted = replace(sound, decisions=replace(result.decisions, bought=less))
    found = find_violations(planted)  # and the sums of money, which are those of the plan as it was
    assert {(v.rule, v.month, round(v.allowed)) for v in found if v.month and v.rule == "money_in_each_hour"} == {
        ("money_in_each_hour", month, 375) for month in range(1, 13)
    }
    assert {(v.rule, v.month, v.found, v.allowed) for v in found if v.month and v.rule != "money_in_each_hour"} == {
        ("money_for_whole_nodes", month, 2.0, 1.5) for month in range(1, 13)
    }


def test_money_for_parts_of_nodes_that_run_at_any_hour_is_no_plan(priced):
    """900 hours at 2 are 1,800 a month, which 2.47 an hour pay in sum; but 1.23 nodes do not run in any hour."""
    basis = pipeline._prepare_basis(asked(job("one", 4, 900)), priced(PRICES))
    context, _ = pipeline._build_context(basis.request, basis.catalog, basis.assumptions, (), {})
    result = solve_strategy("cloud", context)
    sound = VerifiedPlan(result.strategy, result.decisions, context, basis.request, basis.catalog)
    assert find_violations(sound) == ()
    money = 2 * 900 / 730
    shares = result.decisions.shares
    paid = {use.month: use for use in shares if context.market.resources[use.candidate.resource].pool}
    all_paid = [
        replace(use, node_hours=900, nodes=900 / 730, units=use.units * 900 / 730, blocks=(
            replace(use.blocks[0], node_hours=900, units=use.blocks[0].units * 900 / 730),
        ))
        for use in paid.values()
    ]  # fmt: skip
    more = tuple(replace(order, quantity=money) for order in result.decisions.bought)
    planted = replace(sound, decisions=replace(result.decisions, bought=more, shares=tuple(all_paid)))
    rules = {(v.rule, v.month, round(v.found, 3), round(v.allowed, 3)) for v in find_violations(planted) if v.month}
    # money for 1.233 nodes pays 730 hours of one and 0.233 of the second in its 170 hours
    assert ("money_in_each_hour", 1, 900.0, round(730 + 0.2328767 * 170, 3)) in rules
    assert ("money_for_whole_nodes", 1, 4.0, round(money, 3)) in rules


@pytest.mark.parametrize(("decided", "on_demand"), [(2.0, 170), (3.0, 170), (4.0, 0)])
def test_money_that_was_decided_before_pays_for_its_whole_nodes(priced, decided, on_demand):
    """900 hours of one node: money of 3 an hour is for one node at 2, as no second one runs at all hours."""
    basis = pipeline._prepare_basis(asked(job("one", 4, 900)), priced(PRICES))
    context, _ = pipeline._build_context(basis.request, basis.catalog, basis.assumptions, (), {})
    scope = strategy_scope("cloud", context)
    (item,) = scope.shared
    starts = tuple(start._replace(decided=decided if start.month == 1 else 0.0) for start in item.starts)
    fixed = replace(scope, shared=(replace(item, starts=starts),))
    found = solve_program(build_program(context, fixed))
    assert found.objective == pytest.approx(8_760 * decided + 12 * 4 * on_demand, rel=1e-5)


def test_nothing_is_done_with_money_that_nobody_commits(catalog):
    """1.5 A100-hours a month are a small part of a row that counts money: the solver left 4e-7 of them on a savings
    plan that is not bought, and the plan was refused."""
    rows = [("w0", "H100", 43.5), ("w1", "A100-80GB", 1.5)]
    jobs = [{"name": n, "gang": 1, "demand": {"accelerator_hours_per_month": h, "accelerator": a}} for n, a, h in rows]
    request = parse_request({"as_of": "2026-11-23", "months": 3, "workloads": jobs})
    for strategy in plan(request, catalog).strategies:
        bought = {order.name for order in strategy.purchases}
        assert all(use.name in bought or use.what == "hourly" for use in strategy.uses)
