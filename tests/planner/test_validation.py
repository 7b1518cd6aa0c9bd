"""What is wrong with a request shows without a catalogue wherever it can, each problem at its place."""

from __future__ import annotations

import pytest

from planner.application import plan
from planner.request.errors import InvalidRequest, unknown_name
from planner.request.models import parse_request
from planner.request.validation import validate_form

WORK = {"name": "a", "demand": {"accelerator_hours_per_month": 10, "accelerator": "L4"}}


def problems_of(**changes) -> list[tuple[str, str, str]]:
    request = parse_request({"as_of": "2026-11-21", "months": 3, "workloads": [WORK], **changes})
    return [(each.path, each.message, each.expected) for each in validate_form(request)]


def refusals_of(document: dict) -> list[tuple[str, str, str, str]]:
    with pytest.raises(InvalidRequest) as refused:
        parse_request({"as_of": "2026-11-21", **document})
    return [(each.path, each.message, each.value, each.expected) for each in refused.value.complaints]


@pytest.mark.parametrize(
    ("workload", "path", "field", "belongs"),
    [
        ({"limits": {}}, "workloads[0].limits", "limits", "the top level of the request"),
        ({"units_per_month": 3}, "workloads[0].units_per_month", "units_per_month", "workloads[].demand"),
        (
            {"count": 2}, "workloads[0].count", "count",
            ("workloads[].measurements[] or workloads[].serving.measured[] or existing.nodes[] or "
             "existing.commitments[]"),
        ),
    ],
)  # fmt: skip
def test_a_field_at_the_wrong_level_is_told_where_it_belongs(workload, path, field, belongs):
    found = refusals_of({"workloads": [{**WORK, **workload}]})
    assert found == [(path, "field at the wrong level", field, f"{field} at {belongs}")]


def test_a_field_of_no_level_is_told_the_nearest():
    assert refusals_of({"workloads": [{**WORK, "gangs": 2}]}) == [
        ("workloads[0].gangs", "unknown field", "gangs", "gang")
    ]


def test_a_request_without_problems_has_none():
    assert problems_of() == []


def test_months_are_validated_without_a_catalogue():
    demand = {"total_units": 5, "deadline_month": 4}
    ((path, message, expected),) = problems_of(workloads=[{**WORK, "demand": demand, "network": {"parameters": 7e9}}])
    assert (path, message) == ("workloads[0].demand.deadline_month", "deadline outside the plan")
    assert expected == "1 to 3 or 2026-12 to 2027-02, or more months (at most 120)"
    short = {**WORK["demand"], "accelerator_hours_per_month": [1, 2]}
    ((path, message, _),) = problems_of(workloads=[{**WORK, "demand": short}])
    assert (path, message) == ("workloads[0].demand.accelerator_hours_per_month", "no value for 2027-02")


def test_what_exists_is_validated_without_a_catalogue():
    nodes = [
        {"system": "DGX H100", "count": 1},
        {"system": "dgx h100", "count": 2},
        {"system": "x", "count": 1, "bought": "2027-01"},
    ]
    line = {"provider": "p", "region": "r", "instance_type": "t", "purchase_option": "o", "count": 1, "ends": "2027-03"}
    found = problems_of(existing={"nodes": nodes, "commitments": [line, line]})
    assert [(path, message) for path, message, _ in found] == [
        ("existing.nodes[1]", "the same system and month of purchase twice"),
        ("existing.nodes[2].bought", "bought after the plan starts"),
        ("existing.commitments[1]", "the same commitment twice"),
    ]


def test_a_quote_of_the_future_is_none():
    box = {"name": "box", "accelerator": "L4", "price": 9, "price_as_of": "2026-11-22"}
    assert [path for path, _, _ in problems_of(systems=[box])] == ["systems[0].price_as_of"]


def test_an_unknown_name_has_the_nearest_or_the_first_or_a_hint():
    assert unknown_name("a.region", "eu-west", ["us-east", "eu-west-1"]).expected == "one of eu-west-1, us-east"
    assert (
        str(unknown_name("a.region", "xyz", ["b", "a"])) == "a.region: unknown region; read xyz; expected one of a, b"
    )
    assert unknown_name("x", "y", [str(n) * 9 for n in range(20)], kind="thing").expected.count(",") == 11
    assert unknown_name("x", "y", nearest=("z",)).expected == "one of z"
    assert unknown_name("x", "y", hint="a letter").expected == "a letter"


def test_residencies_that_no_place_meets_are_a_contradiction(catalog, ask, hours):
    """All work in the EU, and one job in the US: nothing would be done «in time»."""
    job = {**hours("H100", 5000), "residency": ["us"]}
    with pytest.raises(InvalidRequest) as refused:
        plan(ask(hours("H100", 10, "other"), job, residency=["EU"]), catalog)
    (fault,) = refused.value.complaints
    assert fault.path == "workloads[1].residency"
    assert fault.message == "contradicts the residency of the request: no region is in EU and in US"
    assert plan(ask({**job, "residency": ["DE"]}, residency=["EU"], strategies=["cloud"]), catalog).status == "optimal"
