"""JSON: exact there and back, with a schema that describes it."""

import dataclasses
import json

import jsonschema
import pytest

from planner.reports.json import loads, render, schema
from planner.request.errors import InternalError, InvalidRequest
from planner.result import SCHEMA_VERSION, Plan


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
    assert (
        json.loads(render(hostile_plan))["recommendation"]["sentence"]["text"]
        == hostile_plan.recommendation.sentence.text
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_never_written(small_plan, value):
    with pytest.raises(InternalError, match="finite"):
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


@pytest.mark.one_in(9)
def test_every_plan_is_valid_under_the_schema(plan):
    """By an independent validator of JSON Schema 2020-12."""
    described = schema()
    assert described["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(described)
    validator = jsonschema.Draft202012Validator(described, format_checker=jsonschema.FormatChecker())
    document = json.loads(render(dataclasses.replace(plan, schema_version=SCHEMA_VERSION)))
    assert [error.message for error in validator.iter_errors(document)] == []


@pytest.mark.parametrize(
    ("path", "value"),
    [(("months",), "three"), (("strategies", 0, "status"), "maybe"), (("schema_version",), "0"), (("as_of",), 3)],
)
def test_what_is_no_plan_is_not_valid(small_plan, path, value):
    document = json.loads(render(small_plan))
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert not jsonschema.Draft202012Validator(schema()).is_valid(document)


def test_the_schema_says_which_version_it_is_of():
    assert schema()["properties"]["schema_version"]["const"] == SCHEMA_VERSION
    assert schema()["$id"].endswith(f":{SCHEMA_VERSION}")
    assert "schema_version" in schema()["required"]


def test_a_name_that_a_later_plan_adds_does_not_stop_a_reader(small_plan):
    """So a new field needs no new version; docs/guides/outputs.md says what does."""
    document = {**json.loads(render(small_plan)), "added_later": 1}
    assert loads(json.dumps(document).encode()) == small_plan
    assert jsonschema.Draft202012Validator(schema()).is_valid(document)


def test_what_is_no_number_is_never_written_deep_in_a_plan(small_plan):
    first = dataclasses.replace(small_plan.strategies[0], present_cost=float("nan"))
    with pytest.raises(InternalError, match="finite"):
        render(dataclasses.replace(small_plan, strategies=(first, *small_plan.strategies[1:])))


def test_whole_numbers_in_fields_of_floats_are_written_as_floats(small_plan):
    plan = dataclasses.replace(small_plan, hours_per_month=730)
    assert b'"hours_per_month": 730.0,' in render(plan)
    assert render(plan) == render(dataclasses.replace(small_plan, hours_per_month=730.0))
