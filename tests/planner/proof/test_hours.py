"""The bill of a plan, lived through hour by hour, is the bill that the plan states."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from planner.application import plan
from planner.inputs import file_reader
from planner.request.models import parse_request

ROOT = Path(__file__).parents[3]
EXAMPLES = (
    "openapi/examples/measured.request.json", "examples/request.json", "examples/capacity-review.csv",
    "examples/finetune.yaml", "openapi/examples/portfolio.request.json",
)  # fmt: skip
FAST, ALL = 3, 200


def agrees(hours, found, request, catalog) -> int:
    """How many strategies were lived through; their total and present cost agree within 0.1 %."""
    lived = 0
    for strategy in found.strategies:
        if strategy.status == "infeasible":
            continue
        total, worth = hours.Lived(found, strategy, request, catalog).live()
        assert total == pytest.approx(strategy.total_cost, rel=1e-3, abs=0.01), strategy.name
        assert worth == pytest.approx(strategy.present_cost, rel=1e-3, abs=0.01), strategy.name
        lived += 1
    return lived


@pytest.mark.one_in(len(EXAMPLES))
@pytest.mark.parametrize("path", EXAMPLES)
def test_the_bill_of_an_example(hours, catalog, path):
    """Real requests over the whole catalogue."""
    read = file_reader.read((ROOT / path).read_bytes(), path)
    assert not read.complaints
    request = parse_request({"as_of": "2026-11-21", **read.document}, places=read.places)
    assert agrees(hours, plan(request, catalog), request, catalog)


@pytest.mark.parametrize("seed", [*range(FAST), *(pytest.param(s, marks=pytest.mark.slow) for s in range(FAST, ALL))])
def test_the_bill_of_a_small_question(hours, priced, instances, seed):
    prices, asked, _ = instances.question(seed)
    asked = {key: value for key, value in asked.items() if key not in ("site", "finance")}
    request, catalog = parse_request({"as_of": "2026-11-21", **asked}), priced(prices)
    agrees(hours, plan(request, catalog), request, catalog)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 4])
def test_the_bill_of_a_larger_question(hours, priced, instances, seed):
    prices, asked, name = instances.larger(seed)
    request, catalog = parse_request({"as_of": "2026-11-21", **asked, "strategies": [name]}), priced(prices)
    assert agrees(hours, plan(request, catalog), request, catalog)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_an_irregular_week_is_served_in_every_hour(hours, priced, seed):
    """168 measured hours, each with a level of its own: more than the program keeps apart."""
    chance = random.Random(seed)
    week = [(1.6 if 8 <= hour % 24 < 20 else 0.7) * chance.uniform(0.8, 1.2) for hour in range(168)]
    prices = {("aws", "us-east-1", "g6e.xlarge", "on_demand"): 1.0, ("aws", "us-east-1", "g6e.xlarge", "spot"): 0.4}
    job = {
        "name": "api", "kind": "inference", "demand": {"requests_per_second": 37, "daily_shape": week},
        "measurements": [{"accelerator": "L40S", "units_per_second": 2.0, "per": "job"}], "spare_replicas": 1,
        "interruptible": True, "spot_fraction_max": 0.5, "may_be_owned": False,
    }  # fmt: skip
    request = parse_request({"as_of": "2026-11-21", "months": 2, "strategies": ["cloud"], "workloads": [job]})
    catalog = priced(prices)
    found = plan(request, catalog)
    assert agrees(hours, found, request, catalog) == 1
    done = sum(use.units for use in found.strategy("cloud").uses)
    assert done == pytest.approx(2 * 37 * 3600 * 730, rel=1e-9)


def test_a_bill_that_is_wrong_is_found(hours, priced):
    """An hour too many or a node too few does not pass: the check can fail."""
    prices = {("aws", "us-east-1", "g6e.xlarge", "on_demand"): 1.0}
    demand = {"requests_per_second": 3, "daily_shape": "business_hours"}
    job = {
        "name": "api", "kind": "inference", "demand": demand, "may_be_owned": False,
        "measurements": [{"accelerator": "L40S", "units_per_second": 2.0, "per": "job"}],
    }  # fmt: skip
    request = parse_request({"as_of": "2026-11-21", "months": 1, "strategies": ["cloud"], "workloads": [job]})
    catalog = priced(prices)
    found = plan(request, catalog)
    cloud = found.strategy("cloud")
    assert agrees(hours, found, request, catalog) == 1
    (use,) = cloud.uses
    fewer = replace(cloud, uses=(replace(use, node_hours=use.node_hours * 0.8),))
    with pytest.raises(hours.Unserved):
        hours.Lived(found, fewer, request, catalog).live()
    dearer = replace(found, strategies=(replace(cloud, total_cost=cloud.total_cost * 1.002),))
    with pytest.raises(AssertionError):
        agrees(hours, dearer, request, catalog)
