"""Every plan of a small question tried: the product's optimum is the least of them, and impossible is impossible."""

from __future__ import annotations

import math

import pytest

from planner.plan import plan
from planner.request import parse

FAST, ALL = 40, 260


@pytest.mark.parametrize("seed", [*range(FAST), *(pytest.param(s, marks=pytest.mark.slow) for s in range(FAST, ALL))])
def test_the_optimum_is_the_least_of_all_plans(priced, given, brute_force, instances, seed):
    prices, asked, name = instances.question(seed)
    request, catalog = parse({"as_of": "2026-11-21", **asked, "strategies": [name]}), priced(prices)
    question = given.read(request, catalog, name)
    least = math.inf if question is None else brute_force.least(question)[0]
    found = plan(request, catalog).strategy(name)
    assert (found.status == "infeasible") == math.isinf(least), (found.status, least)
    if not math.isinf(least):
        assert found.present_cost == pytest.approx(least, rel=3e-6, abs=1e-4)
