"""JSON that is no request and is likely to be handed over as one: one sentence says what it is and what to give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.inputs import file_reader

REPOSITORY = Path(__file__).parents[2]
ESTIMATE = {
    "Name": "My Estimate",
    "Total Cost": {"monthly": "1424.00", "upfront": "0.00", "12 months": "17088.00"},
    "Metadata": {"Currency": "USD", "Locale": "en_US"},
    "Groups": {"Services": [{"Service Name": "Amazon EC2", "Region": "US East (Ohio)"}]},
}
"""In the shape of what AWS's calculator exports."""


def the_fault(document):
    read = file_reader.read(document if isinstance(document, bytes) else json.dumps(document).encode(), "given.json")
    (fault,) = read.complaints
    assert fault.place == "given.json"
    return f"{fault.message}; expected {fault.expected}"


def test_an_estimate_of_aws_as_json_is_asked_for_as_csv():
    told = the_fault(ESTIMATE)
    assert "AWS pricing calculator" in told
    assert told.endswith("as CSV")


@pytest.mark.parametrize("name", ["measured", "infeasible"])
def test_a_plan_is_no_request(name):
    told = the_fault((REPOSITORY / "openapi" / "examples" / f"{name}.answer.json").read_bytes())
    assert "this is a plan" in told
    assert "--compare-to" in told


def test_infracosts_output_tells_no_work():
    assert "Infracost" in the_fault({"version": "0.2", "projects": [], "totalMonthlyCost": None})


def test_a_request_of_one_workload_may_be_called_what_it_likes():
    read = file_reader.read(json.dumps({"name": "Groups", "demand": {"units_per_month": 1}}).encode(), "given.json")
    assert read.complaints == ()
