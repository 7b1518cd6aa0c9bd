"""Ten thousand draws against reading the array that they would be: draws x months x streams.

Taking a plan apart (once, before any draw) and paying for single draws are shown beside, so that nothing is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
from measure import Figure, medians

from planner import pipeline as planning
from planner.analysis.risk import BaselinePlan, find_switching_values, monte_carlo, uncertain_assumptions
from planner.analysis.risk.response_surface import decompose_cost, evaluate_terms
from planner.request.models import parse_request
from pricing.catalog.price_catalog import Catalog

DRAWS, MONTHS, STREAMS, RUNS = 10_000, 60, 10, 15
REQUEST = {
    "as_of": "2026-11-21",
    "months": MONTHS,
    "workloads": [
        {
            "name": "training",
            "kind": "training",
            "gang": 8,
            "storage_gb": 5000,
            "demand": {"accelerator": "H100", "accelerator_hours_per_month": 17_520},
        }
    ],
}


def risk() -> Iterator[Figure]:
    """Ten thousand draws of a plan's risk over 60 months, against reading an array of draws x months x 10 streams."""
    case = _case()
    figures = [
        f
        for f in uncertain_assumptions.list_repriced_assumptions(case.setting.assumptions)
        if uncertain_assumptions.is_drawn(f)
    ]
    name = case.pair[0]
    bill = case.build_cost_models([name])[name]
    terms = decompose_cost(bill, figures)
    drawn = monte_carlo.draw_values(figures, uncertain_assumptions.read_correlations(), DRAWS, 0)
    array = np.random.Generator(np.random.PCG64(0)).random((DRAWS, MONTHS, STREAMS))

    def evaluate() -> object:
        return evaluate_terms(terms, drawn, DRAWS)

    def draw_and_evaluate() -> object:
        return evaluate_terms(
            terms, monte_carlo.draw_values(figures, uncertain_assumptions.read_correlations(), DRAWS, 0), DRAWS
        )

    one = {name: float(column[0]) for name, column in drawn.items()}
    floor, alone, both = medians([array.sum, evaluate, draw_and_evaluate], RUNS)
    [apart, flipped] = medians([lambda: decompose_cost(bill, figures), lambda: find_switching_values(case)], 3)
    [single] = medians([lambda: bill.cost(one)], RUNS)
    against = "of the floor"
    yield Figure(f"floor: reading {array.nbytes / 1e6:.0f} MB", floor)
    yield Figure(f"evaluation alone, {len(figures)} figures drawn", alone, alone / floor, against, 4.0)
    yield Figure("draws and evaluation", both, both / floor, against, 10.0)
    yield Figure(f"taking the plan apart, once ({len(terms)} products)", apart, apart / floor, against)
    yield Figure("the same draws one by one", single * DRAWS, single * DRAWS / both, "of drawing together")
    yield Figure("flips of one workload, 60 months", flipped, flipped / floor, against)


def _case() -> BaselinePlan:
    """The solved plan as it is handed to risk."""
    seen: list[BaselinePlan] = []
    with patch.object(planning, "find_switching_values", lambda case: seen.append(case) or ()):
        planning.plan(parse_request(REQUEST), Catalog.embedded())
    return seen[0]
