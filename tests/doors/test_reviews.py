"""Reviews that are kept: created, changed, listed, shared with those who have no key, and deleted."""

from __future__ import annotations

import time

import pytest

from planner.service import ServiceLimits
from planner.service.gate.settings import AccessSettings
from planner.service.store import open_store
from tests.doors.conftest import HOURS, serving

DEAR = {"name": "dear power", "moves": {"electricity_price_per_kwh": 0.4}}


@pytest.fixture(scope="module")
def plan(client):
    return client.post("/plan", json=HOURS).json()["plan_id"]


def keep(client, plan, **changed):
    return client.post("/v1/reviews", json={"plan_id": plan, "title": "March", "scenarios": [DEAR]} | changed)


def test_a_review_is_kept_read_changed_and_deleted(client, plan):
    made = keep(client, plan, moves={"discount_rate_annual": 0.1})
    assert made.status_code == 201
    place = made.headers["location"]
    review = client.get(place).json()
    assert review == made.json()
    assert (review["plan_id"], review["title"], review["version"]) == (plan, "March", 1)
    assert (review["moves"], review["scenarios"]) == ({"discount_rate_annual": 0.1}, [DEAR])
    assert review["id"] in {each["id"] for each in client.get("/v1/reviews").json()}

    cheap = {"name": "cheap", "moves": {}}
    changed = client.put(place, json={"version": 1, "title": "April", "scenarios": [DEAR, cheap]})
    assert changed.status_code == 200
    assert client.get(place).json() == changed.json()
    assert (changed.json()["version"], changed.json()["title"], changed.json()["moves"]) == (2, "April", {})
    assert client.delete(place).status_code == 204
    assert client.get(place).status_code == 404
    assert client.delete(place).status_code == 404
    assert client.get(f"/v1/plans/{plan}").status_code == 200


def test_two_who_change_one_review_do_not_overwrite_each_other(client, plan):
    place = keep(client, plan).headers["location"]
    assert client.put(place, json={"version": 1, "title": "one"}).status_code == 200
    late = client.put(place, json={"version": 1, "title": "other"})
    assert late.status_code == 409
    assert late.headers["content-type"] == "application/problem+json"
    assert client.get(place).json()["title"] == "one"


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ({}, {"plan_id"}),
        ({"plan_id": "PLAN", "scenarios": [{"name": "", "moves": {"x": "much"}}], "more": 1},
         {"scenarios[0].name", "scenarios[0].moves.x", "more"}),
        ({"plan_id": "PLAN", "scenarios": [DEAR] * 51}, {"scenarios"}),
        ({"plan_id": "PLAN", "title": "x" * 201}, {"title"}),
    ],
)  # fmt: skip
def test_every_fault_of_a_review_is_told_with_its_place(client, plan, body, places):
    answer = client.post("/v1/reviews", json=body | ({"plan_id": plan} if "plan_id" in body else {}))
    assert answer.status_code == 422
    assert {fault["path"] for fault in answer.json()["errors"]} == places


def test_what_is_no_review_is_a_problem(client, plan):
    assert client.post("/v1/reviews", json={"plan_id": "000000000000"}).status_code == 404
    broken = client.post("/v1/reviews", content=b"{", headers={"content-type": "application/json"})
    assert broken.status_code == 422
    assert client.post("/v1/reviews", content=b"x" * 300_000).status_code == 413
    infinite = b'{"plan_id": "%s", "moves": {"x": Infinity}}' % plan.encode()
    assert client.post("/v1/reviews", content=infinite).status_code == 422


def test_answers_of_a_project_are_remembered(client):
    hours = {**HOURS, "months": 1}
    client.post("/plan", json=hours, params={"answer": ["sheets=all", "unit of a=b=hours"]})
    client.post("/plan", json=hours | {"months": 2}, params={"answer": "sheets=Ads"})
    known = client.get("/v1/answers").json()
    assert known["sheets"] == "Ads"
    assert known["unit of a=b"] == "hours"


@pytest.fixture
def guarded(tmp_path):
    """A service that requires keys, and its store."""
    url = f"sqlite:///{tmp_path / 'service.sqlite'}"
    store = open_store(url)
    with serving(ServiceLimits(workers=0, seconds=600), url, access=AccessSettings(key_required=True)) as client:
        yield client, store
    store.close()


def test_a_link_opens_one_review_without_a_key_until_it_ends(guarded):
    client, store = guarded
    keys = {
        name: {"authorization": f"Bearer {store.keys.create(project, name, scopes, None)[0]}"}
        for name, project, scopes in (
            ("ada", "research", ("plan", "read")), ("eve", "finance", ("plan", "read")), ("bob", "research", ("read",)),
        )
    }  # fmt: skip
    plan = client.post("/plan", json=HOURS, headers=keys["ada"]).json()["plan_id"]
    body = {"plan_id": plan, "scenarios": [DEAR]}
    assert client.post("/v1/reviews", json=body).status_code == 401
    assert client.post("/v1/reviews", json=body, headers=keys["bob"]).status_code == 403
    assert client.post("/v1/reviews", json=body, headers=keys["eve"]).status_code == 404
    place = client.post("/v1/reviews", json=body, headers=keys["ada"]).headers["location"]
    assert client.get(place, headers=keys["bob"]).status_code == 200
    assert client.get(place, headers=keys["eve"]).status_code == 404
    assert client.get("/v1/reviews", headers=keys["eve"]).json() == []
    assert client.post(f"{place}/links", headers=keys["eve"]).status_code == 404
    assert client.post(f"{place}/links", headers=keys["bob"]).status_code == 403

    link = client.post(f"{place}/links", json={"days": 2}, headers=keys["ada"]).json()
    shared = client.get(f"/v1/shared/{link['token']}")
    assert shared.json() == client.get(place, headers=keys["ada"]).json()
    document = client.get(f"/v1/shared/{link['token']}/plan")
    assert document.json()["plan"]["plan_id"] == plan
    assert client.get(f"/v1/plans/{plan}").status_code == 401
    assert client.get(f"/v1/shared/{link['token'][:-1]}").status_code == 404
    assert client.delete(f"/v1/shared/{link['token']}").status_code == 405
    assert client.post(f"{place}/links", json={"days": 0}, headers=keys["ada"]).status_code == 422

    acts = [(event.caller, event.action) for event in store.audit.list()]
    assert ("ada", "share") in acts
    assert client.delete(f"{place}/links", headers=keys["ada"]).status_code == 204
    assert client.get(f"/v1/shared/{link['token']}").status_code == 404
    stored = str(store.engine.connect().exec_driver_sql("SELECT * FROM review_links").all())
    assert link["token"] not in stored


@pytest.mark.slow
def test_a_link_ends_by_itself(guarded):
    client, store = guarded
    key = {"authorization": f"Bearer {store.keys.create('research', 'ada', ('plan', 'read'), None)[0]}"}
    plan = client.post("/plan", json=HOURS, headers=key).json()["plan_id"]
    place = client.post("/v1/reviews", json={"plan_id": plan}, headers=key).headers["location"]
    review = store.reviews.find("research", place.rpartition("/")[2])
    assert client.get(f"/v1/shared/{store.reviews.share(review, 'ada', time.time() + 60)}").status_code == 200
    assert client.get(f"/v1/shared/{store.reviews.share(review, 'ada', time.time() - 1)}").status_code == 404
