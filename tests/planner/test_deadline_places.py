"""Work with a deadline at the places that may be worth it: what cannot be cheaper is left out, what is fast enough
stays."""

from __future__ import annotations

import math

from planner.application import plan

HOURLY_UNITS = 2 * 3600
FAILURES = 3e-3
"""What work is done again after failures of hardware, at most, beside the sums by hand."""
T4 = {"accelerator": "T4", "units_per_second": 2.0, "per": "job", "count": 1}
A10G = {"accelerator": "A10G", "units_per_second": 8.0, "per": "job", "count": 1}


def job(t4_hours: float, *measured: dict, **more) -> dict:
    """Work of so many hours on one T4, to be done within three months."""
    demand = {"total_units": t4_hours * HOURLY_UNITS, "deadline_month": 3}
    parts = [each["accelerator"] for each in measured]
    return {
        "name": "job",
        "kind": "training",
        "demand": demand,
        "measurements": list(measured),
        "accelerators": parts,
        **more,
    }


def test_a_commitment_that_is_dearer_in_every_hour_than_another_place_is_not_searched(priced, ask):
    """300 hours on a T4 at 1 USD are 300 USD at most. An A10G does the work in 75 hours, each of 6 USD or more even if
    the committed node worked in all of its hours: 450 at least. One of three ways is left."""
    fast, slow = ("aws", "us-east-1", "g5.xlarge"), ("aws", "us-east-1", "g4dn.xlarge")
    catalog = priced({(*slow, "on_demand"): 1.0, (*fast, "on_demand"): 8.0, (*fast, "reserved_1y_no_upfront"): 6.0})
    [cloud] = plan(ask(job(300, T4, A10G), strategies=["cloud"], providers=["aws"]), catalog).strategies
    assert (cloud.candidates, cloud.pruned) == (3, 2)
    assert math.isclose(cloud.total_cost, 300.0, rel_tol=FAILURES)


def test_the_cheapest_place_that_is_too_slow_leaves_no_other_out(priced, ask):
    """3,000 hours on one T4 at 0.10 would be 300 USD; one job at a time does no more than 3 x 730 = 2,190 of them until
    the deadline. An A10G does the work in 750 hours: 2,250 USD at 3 USD."""
    catalog = priced(
        {
            ("aws", "us-east-1", "g4dn.xlarge", "on_demand"): 0.1,
            ("aws", "us-east-1", "g5.xlarge", "on_demand"): 3.0,
            ("aws", "us-east-1", "g5.xlarge", "reserved_1y_no_upfront"): 2.9,
        }
    )
    asked = ask(job(3000, T4, A10G), strategies=["cloud"], providers=["aws"])
    [cloud] = plan(asked, catalog).strategies
    assert cloud.status == "optimal"
    assert math.isclose(cloud.total_cost, 2250.0, rel_tol=FAILURES)
    several = ask(job(3000, T4, A10G, parallel_jobs=2), strategies=["cloud"], providers=["aws"])
    [cloud] = plan(several, catalog).strategies  # two at a time are fast enough on a T4
    assert math.isclose(cloud.total_cost, 300.0, rel_tol=FAILURES)
