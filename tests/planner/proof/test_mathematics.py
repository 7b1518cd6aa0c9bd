"""Questions too large to try every plan: the optimum equals that of the rules stated again in linopy."""

from __future__ import annotations

import math

import pytest

from planner.application import plan
from planner.request.models import parse_request

LARGER = 40


def costs(priced, given, mathematics, prices, asked, name) -> tuple[float, float]:
    """The product's least present cost and that of the other formulation; infinite where nothing is possible."""
    request, catalog = parse_request({"as_of": "2026-11-21", **asked, "strategies": [name]}), priced(prices)
    question = given.read(request, catalog, name)
    least = math.inf if question is None else mathematics.least(question)
    found = plan(request, catalog).strategy(name)
    return math.inf if found.status == "infeasible" else found.present_cost, least


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_the_other_formulation_agrees_on_small_questions(priced, given, mathematics, instances, seed):
    """Without quotas and operators hired one by one, which brute force covers."""
    prices, asked, name = instances.question(seed)
    asked.pop("site", None)
    asked["limits"].pop("quotas", None)
    found, least = costs(priced, given, mathematics, prices, asked, name)
    assert found == pytest.approx(least, rel=1e-5, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(LARGER))
def test_the_other_formulation_agrees_on_larger_questions(priced, given, mathematics, instances, seed):
    prices, asked, name = instances.larger(seed)
    found, least = costs(priced, given, mathematics, prices, asked, name)
    assert found == pytest.approx(least, rel=1e-5)
