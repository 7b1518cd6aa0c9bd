"""Every plan of a small question tried: the product's optimum is the least of them, and impossible is impossible."""

from __future__ import annotations

import math

import pytest

from planner.application import plan
from planner.request.models import parse_request

FAST, ALL = 3, 260
HOMES_FAST, HOMES_ALL = 3, 420
SPREAD_FAST, SPREAD_ALL = 1, 120
APART_FAST, APART_ALL = 2, 300


def slowly(fast: int, every: int) -> list:
    """Seeds of questions: the first few always, the others in the slow part."""
    return [*range(fast), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(fast, every))]


def agree(request, catalog, name: str, given, brute_force) -> None:
    """The product's plan costs as little as the best of all plans, and its bound no more, or both find none."""
    question = given.read(request, catalog, name)
    least = math.inf if question is None else brute_force.least(question)[0]
    found = plan(request, catalog).strategy(name)
    assert (found.status == "infeasible") == math.isinf(least), (found.status, least)
    if not math.isinf(least):
        assert found.present_cost == pytest.approx(least, rel=3e-6, abs=1e-4)
        assert found.bound <= least + 3e-7 * abs(least) + 1e-4


@pytest.mark.parametrize("seed", slowly(FAST, ALL))
def test_the_optimum_is_the_least_of_all_plans(priced, given, brute_force, instances, seed):
    prices, asked, name = instances.question(seed)
    request = parse_request({"as_of": "2026-11-21", **asked, "strategies": [name]})
    agree(request, priced(prices), name, given, brute_force)


@pytest.mark.parametrize("seed", slowly(HOMES_FAST, HOMES_ALL))
def test_the_optimum_is_the_least_over_all_homes(priced, given, brute_force, instances, seed):
    """Shared nodes, gangs of services, work that may be spread, nodes old and new, short months, types that end."""
    prices, asked, name, terms = instances.homes(seed)
    request = parse_request({"as_of": "2026-11-21", **asked, "strategies": [name]})
    agree(request, priced(prices, terms=terms), name, given, brute_force)


@pytest.mark.parametrize("seed", slowly(SPREAD_FAST, SPREAD_ALL))
def test_the_optimum_of_services_over_several_places_is_the_least(priced, given, brute_force, instances, seed):
    """Whole nodes in each place, with quotas that only together suffice, spot, spares, money and owned nodes."""
    prices, asked, name = instances.spread(seed)
    request = parse_request({"as_of": "2026-11-21", **asked, "strategies": [name]})
    agree(request, priced(prices), name, given, brute_force)


@pytest.mark.parametrize("seed", slowly(APART_FAST, APART_ALL))
def test_the_optimum_of_workloads_of_very_unlike_sizes_is_the_least(priced, given, brute_force, instances, seed):
    """Sizes a million apart: what is small is not lost in the tolerances of what is large."""
    prices, asked, name = instances.apart(seed)
    request = parse_request({"as_of": "2026-11-21", **asked, "strategies": [name]})
    agree(request, priced(prices), name, given, brute_force)


@pytest.mark.one_in(30)
@pytest.mark.parametrize("seed", range(60))
def test_what_the_search_leaves_out_holds_nothing_better(priced, given, brute_force, instances, seed):
    """Where there are few enough, every single leaf is solved as well."""
    prices, asked, name = instances.question(seed)
    question = given.read(parse_request({"as_of": "2026-11-21", **asked, "strategies": [name]}), priced(prices), name)
    if question is None or brute_force.leaves(question) > 300:
        return
    assert brute_force.least(question, cut=False)[0] == pytest.approx(brute_force.least(question)[0], rel=1e-8)


MOVING = {
    "workloads": [{
        "name": "job", "kind": "training", "demand": {"accelerator_hours_per_month": 2000, "accelerator": "L40S"},
    }],
    "months": 3,
    "assumptions": {
        "lead_time_months": 0, "migration_months": 1, "staff_cost_annual": 1200, "accelerators_per_staff": 4,
        "useful_life_months": 2,
    },
    "systems": [{
        "name": "box", "accelerator": "L40S", "accelerators": 4, "price": 3000, "max_power_kw": 2.5, "rack_units": 4,
    }],
    "existing": {"nodes": [{"system": "box", "count": 1, "bought": "2026-11"}]},
}  # fmt: skip
"""A node that is delivered and paid a month before it works."""


@pytest.mark.parametrize(
    "more",
    [{"site": {"staff": "whole"}}, {"limits": {"owned_power_kw": 3.0}}, {"limits": {"owned_racks": 0.12}}],
)
def test_a_node_that_does_not_work_yet_is_on_the_site(priced, given, brute_force, more):
    """Another works there already, until the new one does: both draw power, fill racks and need operators."""
    asked = {"as_of": "2026-11-21", **MOVING, "strategies": ["hybrid"], **more}
    request, catalog = parse_request(asked), priced({("aws", "us-east-1", "g6e.xlarge", "on_demand"): 5.0})
    least, _ = brute_force.least(given.read(request, catalog))
    assert plan(request, catalog).strategy("hybrid").present_cost == pytest.approx(least, rel=3e-6)
