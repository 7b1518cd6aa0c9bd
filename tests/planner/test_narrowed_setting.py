"""Problems cut down to the homes that matter, for questions beside the plan."""

from __future__ import annotations

import pytest

from planner.optimization.narrowed_setting import narrow_large_problem

PRICES = {"us-east-1": 0.5, "us-east-2": 0.6, "us-west-1": 0.7, "us-west-2": 0.9}


@pytest.fixture
def case(priced, ask, case_of):
    """A service of one node all month in one of four regions, each dearer than the one before, each with a quota."""
    measured = [{"accelerator": "T4", "units_per_second": 2.0, "per": "job", "count": 1}]
    service = {
        "name": "service",
        "kind": "inference",
        "measurements": measured,
        "demand": {"requests_per_second": 2.0},
    }
    quotas = [
        {
            "provider": "aws", "region": region, "code": "L-1", "title": "nodes", "unit": "node", "limit": 10,
            "used": 0, "types": "*", "kinds": "on_demand", "as_of": "2026-11-20", "source_id": "drawn",
        }
        for region in PRICES
    ]  # fmt: skip
    asked = ask(
        service, months=1, providers=["aws"], strategies=["cloud"], discount_rate_annual=0,
        quotas=quotas, limits={"quotas": "hold"},
    )  # fmt: skip
    offers = {("aws", region, "g4dn.xlarge", "on_demand"): price for region, price in PRICES.items()}
    return case_of(asked, priced(offers))


@pytest.mark.parametrize(("large", "regions"), [(1_000, {"us-east-1", "us-east-2", "us-west-1"}), (0, {"us-east-1"})])
def test_homes_that_are_nearly_taken_are_left_out_of_a_large_problem(case, large, regions):
    """The plan and the relaxation use the cheapest region; the two next are nearly taken, the dearest is not."""
    [solved] = case.solved
    problem = narrow_large_problem("cloud", case.setting, iter(solved.candidates), whole_columns=0, most_columns=large)
    resources = problem.setting.market.resources
    kept = {resources[each.resource].region for hourly in problem.setting.choice.hourly for each in hourly}
    assert kept == regions
    assert not problem.is_whole
