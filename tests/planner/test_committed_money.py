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
    ],
)
def test_money_is_worth_its_hours(priced, workloads, money, cost):
    found = plan(asked(*workloads), priced(PRICES)).strategy("cloud")
    assert sum(each.money_per_hour for each in found.purchases) == pytest.approx(money)
    assert found.present_cost == pytest.approx(cost, rel=1e-6)


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
    assert {(v.rule, v.month, round(v.allowed)) for v in found if v.month} == {
        ("money_in_each_hour", month, 375) for month in range(1, 13)
    }


def test_nothing_is_done_with_money_that_nobody_commits(catalog):
    """1.5 A100-hours a month are a small part of a row that counts money: the solver left 4e-7 of them on a savings
    plan that is not bought, and the plan was refused."""
    rows = [("w0", "H100", 43.5), ("w1", "A100-80GB", 1.5)]
    jobs = [{"name": n, "gang": 1, "demand": {"accelerator_hours_per_month": h, "accelerator": a}} for n, a, h in rows]
    request = parse_request({"as_of": "2026-11-23", "months": 3, "workloads": jobs})
    for strategy in plan(request, catalog).strategies:
        bought = {order.name for order in strategy.purchases}
        assert all(use.name in bought or use.what == "hourly" for use in strategy.uses)
