"""Stored plans in other formats, plans asked for again, assumptions in the query: what the review page stands on."""

from __future__ import annotations

import io
import json
import time
import zipfile

import pytest

from planner.reports import formats, load
from planner.reports.json import loads


def ended(client, location):
    """The answer of a job when it has ended."""
    while (answer := client.get(location)).status_code == 202:
        time.sleep(0.05)
    return answer


@pytest.fixture(scope="module")
def plan(client):
    from tests.doors.conftest import HOURS

    (workload,) = HOURS["workloads"]
    # of no other test: a stored plan names the input that it came from
    return client.post("/plan", json={**HOURS, "workloads": [{**workload, "name": "reported"}]})


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", sorted({*formats()} - {"terraform"}))
def test_a_stored_plan_in_any_format_is_what_the_format_makes(client, plan, name):
    answer = client.get(f"/v1/plans/{plan.json()['plan_id']}/reports/{name}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == load(name).MEDIA_TYPE
    if name != "json":
        assert answer.content == load(name).render(loads(plan.content))


def test_a_review_that_was_asked_for_is_at_hand(client, hours):
    made = client.post("/v1/plans", json=hours, params={"format": "review"})
    review = ended(client, made.headers["location"])
    again = client.get(f"/v1/plans/{review.json()['plan']['plan_id']}/reports/review")
    assert again.content == review.content
    same = client.get(again.url, headers={"if-none-match": again.headers["etag"]})
    assert same.status_code == 304


def test_an_unknown_format_and_an_unknown_plan_are_problems(client, plan):
    unknown = client.get(f"/v1/plans/{plan.json()['plan_id']}/reports/docx")
    assert unknown.status_code == 422
    assert "review" in unknown.json()["errors"][0]["expected"]
    assert client.get("/v1/plans/000000000000/reports/json").status_code == 404
    assert client.post("/v1/plans/000000000000/again").status_code == 404


def test_an_assumption_of_the_query_holds_over_that_of_the_body(client, hours):
    listed = client.post("/plan", json=hours).json()["strategies"][0]["total_cost"]
    query = {"assumption": "enterprise_discount_fraction=0.1"}
    stated = client.post("/plan", json=hours | {"assumptions": {"enterprise_discount_fraction": 0.2}}, params=query)
    one = client.post("/plan", json=hours | {"assumptions": {"enterprise_discount_fraction": 0.1}})
    assert stated.json()["strategies"][0]["total_cost"] == one.json()["strategies"][0]["total_cost"]
    assert listed != stated.json()["strategies"][0]["total_cost"]


def test_every_wrong_assumption_is_told(client, hours):
    params = {"assumption": ["enterprise_discount_fraction=much", "pueh=1", "nonsense"]}
    refused = client.post("/plan", json=hours, params=params)
    assert refused.status_code == 422
    assert {error["path"] for error in refused.json()["errors"]} == {"?assumption"}
    assert len(refused.json()["errors"]) == 3


def test_a_plan_is_asked_for_again_with_other_settings(client, hours):
    first = client.post("/plan", json=hours, params={"assumption": "cloud_tax_fraction=0.2", "months": 3}).json()
    again = client.post(f"/v1/plans/{first['plan_id']}/again", params={"assumption": "cloud_support_fraction=0.1"})
    assert again.status_code == 202
    second = ended(client, again.headers["location"]).json()
    overridden = {each["name"]: each["value"] for each in second["assumptions"] if each["overridden"]}
    assert overridden == {"cloud_tax_fraction": 0.2, "cloud_support_fraction": 0.1}
    assert second["months"] == 3
    assert second["strategies"][0]["total_cost"] == pytest.approx(1.1 * first["strategies"][0]["total_cost"])


def test_terraform_of_one_provider(client, plan):
    place = f"/plans/{plan.json()['plan_id']}/terraform"
    whole = zipfile.ZipFile(io.BytesIO(client.get(place).content)).namelist()
    provider = next(name for name in whole if "/" in name).partition("/")[0]
    part = zipfile.ZipFile(io.BytesIO(client.get(place, params={"provider": provider}).content)).namelist()
    assert "README.md" in part
    assert {name.partition("/")[0] for name in part if "/" in name} == {provider}
    nowhere = client.get(place, params={"provider": "moon"})
    assert nowhere.status_code == 422
    assert nowhere.json()["errors"][0]["path"] == "?provider"


def test_the_review_has_the_first_screen_and_the_plan(plan):
    made = loads(plan.content)
    document = json.loads(load("review").render(made))
    assert document["screen"]["headline"] == str(made.recommendation.sentence)
    assert document["screen"]["considered"] == len(made.considered)
    assert document["plan"]["considered"] == []
    assert document["plan"]["content_digest"] == made.content_digest
    assert set(document["screen"]["sliders"]) <= document["screen"]["figures"].keys()
    hours = [sum(each) for each in zip(*(bar["values"] for bar in document["screen"]["usage"]["bars"]), strict=True)]
    assert hours == pytest.approx([1460.0, 1460.0])  # as asked for, on one L4 a node
