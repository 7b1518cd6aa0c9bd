"""Gangs of several nodes on committed nodes: so many whole gangs at once. Sums worked by hand.

A g6e.12xlarge (4 L40S) costs 4 an hour on demand and 2 reserved for a year, which is 1,460 a month of 730 hours.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner import pipeline
from planner.application import plan
from planner.optimization.strategy import solve_strategy
from planner.optimization.verification import find_violations
from planner.optimization.verified_plan import VerifiedPlan
from planner.request.models import parse_request

PLACE = ("aws", "us-east-1", "g6e.12xlarge")
PRICES = {(*PLACE, "on_demand"): 4.0, (*PLACE, "reserved_1y_no_upfront"): 2.0}


def asked(*gang_hours: float):
    """Jobs of gangs of two nodes, for so many hours of a gang a month each."""
    jobs = [
        {"name": f"job {number}", "kind": "training", "gang": 8, "accelerators_per_node": 4, "fabric": "any",
         "demand": {"accelerator_hours_per_month": 8 * hours, "accelerator": "L40S"}}
        for number, hours in enumerate(gang_hours)
    ]  # fmt: skip
    exact = {"failure_interval_accelerator_hours": 1e12}  # no hour is lost to failures
    return parse_request({
        "as_of": "2026-11-21", "months": 12, "strategies": ["cloud"], "discount_rate_annual": 0, "assumptions": exact,
        "workloads": jobs,
    })  # fmt: skip


@pytest.mark.parametrize(
    ("gang_hours", "nodes", "a_month"),
    [
        # a gang at all hours on two nodes, and 270 hours of two more on demand: a third node would do nothing in the
        # 730 hours of one gang, as two gangs need four
        ((1000,), 2, 2 * 1_460 + 270 * 2 * 4),
        ((500, 500), 2, 2 * 1_460 + 270 * 2 * 4),
        # 600 hours of two more on demand cost 4,800: two gangs, each on two nodes
        ((1330,), 4, 4 * 1_460),
        ((700, 630), 4, 4 * 1_460),
    ],
)
def test_nodes_are_committed_to_for_whole_gangs(priced, gang_hours, nodes, a_month):
    found = plan(asked(*gang_hours), priced(PRICES)).strategy("cloud")
    assert sum(each.count for each in found.purchases) == nodes
    assert found.present_cost == pytest.approx(12 * a_month, rel=1e-6)


def test_a_gang_and_a_half_on_three_nodes_is_no_plan(priced):
    basis = pipeline._prepare_basis(asked(1330), priced(PRICES))
    context, _ = pipeline._build_context(basis.request, basis.catalog, basis.assumptions, (), {})
    result = solve_strategy("cloud", context)
    sound = VerifiedPlan(result.strategy, result.decisions, context, basis.request, basis.catalog)
    assert find_violations(sound) == ()
    three = tuple(replace(order, quantity=3.0) for order in result.decisions.bought)
    found = find_violations(replace(sound, decisions=replace(result.decisions, bought=three)))
    broken = {(v.rule, v.month, round(v.found), v.allowed) for v in found if v.rule == "hours_of_whole_gangs"}
    assert broken == {("hours_of_whole_gangs", month, 1330, 730.0) for month in range(1, 13)}
