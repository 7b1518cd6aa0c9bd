"""JSON: exact there and back, with a schema that describes it."""

import dataclasses
import json

import pytest

from planner.answer import Plan
from planner.errors import Defect, InvalidRequest
from planner.reports.json import loads, render, schema


def test_there_and_back(plan):
    data = render(plan)
    assert loads(data) == plan
    assert render(loads(data)) == data


def test_keys_stand_in_the_order_of_the_fields(small_plan):
    data = render(small_plan)
    assert data.endswith(b"}\n")
    document = json.loads(data)
    assert list(document) == [field.name for field in dataclasses.fields(Plan)]
    assert document["as_of"] == "2026-11-21"
    # 3 x (58,400 + 5,000 + 12.50)
    assert document["strategies"][0]["total_cost"] == 190237.5


def test_text_is_kept_as_it_is(hostile_plan):
    assert json.loads(render(hostile_plan))["recommendation"]["sentence"] == hostile_plan.recommendation.sentence


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_never_written(small_plan, value):
    with pytest.raises(Defect, match="finite"):
        render(dataclasses.replace(small_plan, hours_per_month=value))


def test_every_fault_of_a_document_is_named(small_plan):
    document = json.loads(render(small_plan))
    document["months"] = "three"
    del document["currency"]
    document["strategies"][1]["status"] = "maybe"
    with pytest.raises(InvalidRequest) as refused:
        loads(json.dumps(document).encode())
    paths = {complaint.path for complaint in refused.value.complaints}
    assert paths == {"months", "currency", "strategies[1].status"}


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"[1, 2]", b"{"])
def test_what_is_no_plan_is_refused(data):
    with pytest.raises(InvalidRequest):
        loads(data)


def test_the_schema_describes_what_is_written(small_plan):
    described = schema()
    document = json.loads(render(small_plan))
    assert set(described["properties"]) == set(document)
    assert set(described["required"]) <= set(document)
    strategy = described["$defs"]["Strategy"]["properties"]
    assert set(strategy) == set(document["strategies"][0])
