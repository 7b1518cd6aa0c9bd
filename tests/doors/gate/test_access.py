"""Keys, tokens and projects through HTTP: 401, 403, 404 across projects, 429, and the audit."""

from __future__ import annotations

import json
import logging
import re
import time

import pytest

from planner.service import AccessSettings, ServiceLimits
from planner.service.callers import SCOPES
from planner.service.gate import authentication
from planner.service.gate.rate_limits import TokenBuckets
from planner.service.store import open_store
from planner.service.store.engine import sqlite_url
from tests.doors.conftest import HOURS, serving
from tests.doors.gate.issuer import AUDIENCE, issuing


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def store(folder):
    opened = open_store(sqlite_url(folder / "service.sqlite"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def issuer():
    with issuing() as running:
        yield running


@pytest.fixture(scope="module")
def guarded(folder, issuer):
    """A client of a service that requires keys; its store is also open here."""
    access = AccessSettings(key_required=True, requests_per_minute=0, oidc_issuer=issuer.url, oidc_audience=AUDIENCE)
    with serving(ServiceLimits(workers=0), sqlite_url(folder / "service.sqlite"), access=access) as client:
        yield client


def bearer(text):
    return {"authorization": f"Bearer {text}"}


def key_of(store, project="research", scopes=SCOPES, name="nightly", expires=None):
    return store.keys.create(project, name, scopes, expires)[0]


@pytest.fixture(scope="module")
def research(store):
    return bearer(key_of(store))


@pytest.fixture(scope="module")
def finance(store):
    return bearer(key_of(store, "finance"))


def kind(response):
    assert response.headers["content-type"] == "application/problem+json"
    return response.json()["type"].rpartition(":")[2]


@pytest.fixture(scope="module")
def planned(guarded, research):
    """A plan of the project research: its answer."""
    answer = guarded.post("/plan", json=HOURS, headers=research)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/plan"), ("POST", "/v1/plans"), ("GET", "/v1/plans/x"), ("DELETE", "/v1/plans/x"), ("GET", "/offers"),
     ("GET", "/catalog"), ("GET", "/accelerators"), ("GET", "/plans/x/terraform"), ("GET", "/metrics"), ("GET", "/no")],
)  # fmt: skip
def test_nothing_is_open_without_a_key(guarded, method, path):
    answer = guarded.request(method, path)
    assert answer.status_code == 401
    assert kind(answer) == "unauthorized"
    assert answer.headers["www-authenticate"] == 'Bearer realm="gpu-planner"'


def test_probes_and_the_contract_are_open(guarded):
    assert guarded.get("/healthz").status_code == 200
    assert guarded.get("/openapi.json").status_code == 200


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Basic dXNlcjpwdw==", "Bearer nonsense", "Bearer gpk_000000000000_" + "a" * 43, "gpk_x"],
)
def test_what_is_no_key_is_401(guarded, header):
    answer = guarded.get("/catalog", headers={"authorization": header})
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


def test_the_id_of_a_key_without_its_secret_is_401(guarded, store):
    text = key_of(store)
    other = text[:17] + ("a" * 43 if text[17:] != "a" * 43 else "b" * 43)
    assert guarded.get("/catalog", headers=bearer(other)).status_code == 401


def test_an_expired_and_a_revoked_key_are_401(guarded, store, monkeypatch):
    monkeypatch.setattr(authentication, "KEY_SECONDS", 0)
    assert guarded.get("/catalog", headers=bearer(key_of(store, expires=time.time() - 1))).status_code == 401
    text, key = store.keys.create("research", "soon gone", SCOPES, None)
    assert guarded.get("/catalog", headers=bearer(text)).status_code == 200
    assert store.keys.revoke(key.id).revoked is not None
    assert store.keys.revoke(key.id) is None
    assert guarded.get("/catalog", headers=bearer(text)).status_code == 401


def test_a_key_expires_while_it_is_known(guarded, store):
    """The few seconds for which a looked-up key is taken without a look do not prolong it."""
    headers = bearer(key_of(store, expires=time.time() + 1))
    assert guarded.get("/catalog", headers=headers).status_code == 200
    time.sleep(1.1)
    assert guarded.get("/catalog", headers=headers).status_code == 401


@pytest.mark.parametrize(
    ("scopes", "method", "path", "status"),
    [
        (("read",), "POST", "/plan", 403),
        (("read",), "DELETE", "/v1/plans/x", 403),
        (("read",), "GET", "/catalog", 200),
        (("plan",), "GET", "/catalog", 403),
        (("plan",), "POST", "/plan", 400),
        (("plan", "read"), "GET", "/metrics", 403),
        (("admin",), "GET", "/metrics", 200),
        ((), "GET", "/catalog", 403),
    ],
)
def test_a_key_does_what_its_scopes_allow(guarded, store, scopes, method, path, status):
    """400: the empty body was read."""
    answer = guarded.request(method, path, headers=bearer(key_of(store, scopes=scopes)))
    assert answer.status_code == status
    if status == 403:
        assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]


def test_another_project_does_not_see_a_plan(guarded, research, finance, planned):
    """Reading, Terraform, comparison and deletion: 404 as if there were none, word for word."""
    plan_id = planned["plan_id"]
    for method, path in (
        ("GET", f"/v1/plans/{plan_id}"),
        ("GET", f"/v1/plans/{plan_id}/events"),
        ("GET", f"/plans/{plan_id}/terraform"),
        ("DELETE", f"/v1/plans/{plan_id}"),
        ("POST", f"/plan?compare_to={plan_id}"),
    ):
        body = HOURS if method == "POST" else None
        theirs = guarded.request(method, path, headers=finance, json=body)
        invented = guarded.request(method, path.replace(plan_id, "0" * len(plan_id)), headers=finance, json=body)
        assert theirs.status_code == 404, path
        assert theirs.json() == invented.json()
    assert guarded.get(f"/v1/plans/{plan_id}", headers=research).json()["plan_id"] == plan_id
    assert guarded.post(f"/plan?compare_to={plan_id}", json=HOURS, headers=research).status_code == 200


def test_another_project_does_not_see_a_job(guarded, research, finance):
    """A long question: its state, its events and its end belong to the project that asked."""
    location = guarded.post("/v1/plans", json={**HOURS, "months": 12}, headers=research).headers["location"]
    for method, path in (("GET", location), ("GET", f"{location}/events"), ("DELETE", location)):
        assert guarded.request(method, path, headers=finance).status_code == 404
    assert guarded.get(location, headers=research).status_code in (200, 202)
    assert guarded.delete(location, headers=research).status_code == 204


@pytest.mark.slow
def test_equal_questions_of_two_projects_are_two_plans(guarded, research, finance, planned):
    """The same plan_id, since it is the digest of the question; deleting one leaves the other."""
    theirs = guarded.post("/plan", json=HOURS, headers=finance).json()
    assert theirs["plan_id"] == planned["plan_id"]
    assert guarded.delete(f"/v1/plans/{theirs['plan_id']}", headers=finance).status_code == 204
    assert guarded.get(f"/v1/plans/{theirs['plan_id']}", headers=finance).status_code == 404
    assert guarded.get(f"/v1/plans/{planned['plan_id']}", headers=research).status_code == 200


def test_a_token_is_of_the_project_that_it_claims(guarded, issuer, planned):
    path = f"/v1/plans/{planned['plan_id']}"
    assert guarded.get(path, headers=bearer(issuer.token())).status_code == 200
    assert guarded.get(path, headers=bearer(issuer.token(planner_project="finance"))).status_code == 404
    assert guarded.get(path, headers=bearer(issuer.token(scope="openid"))).status_code == 403
    expired = guarded.get(path, headers=bearer(issuer.token(exp=1_700_000_000)))
    assert expired.status_code == 401
    assert expired.json()["detail"] == "The token has expired."


@pytest.mark.slow
def test_a_stated_key_must_be_valid_where_none_is_required(client):
    assert client.get("/catalog").status_code == 200
    assert client.get("/catalog", headers=bearer("gpk_000000000000_" + "a" * 43)).status_code == 401


def test_the_audit_names_who_planned_read_and_downloaded(guarded, store):
    headers = bearer(key_of(store, "audited", name="ada"))
    plan_id = guarded.post("/plan", json=HOURS, headers=headers | {"x-request-id": "r-1"}).json()["plan_id"]
    guarded.get(f"/v1/plans/{plan_id}", headers=headers | {"x-request-id": "r-2"})
    guarded.get(f"/plans/{plan_id}/terraform", headers=headers | {"x-request-id": "r-3"})
    guarded.get(f"/v1/plans/{plan_id}/reports/review", headers=headers | {"x-request-id": "r-3a"})
    guarded.get(f"/v1/plans/{plan_id}/reports/csv", headers=headers | {"x-request-id": "r-3b"})
    guarded.get("/catalog", headers=headers)
    guarded.get("/v1/plans/none", headers=headers)
    guarded.post("/plan", json={"workloads": []}, headers=headers)
    guarded.delete(f"/v1/plans/{plan_id}", headers=headers | {"x-request-id": "r-4"})
    events = list(reversed(store.audit.list(project="audited")))
    assert [(event.caller, event.action, event.request_id) for event in events] == [
        ("ada", "plan", "r-1"),
        ("ada", "read", "r-2"),
        ("ada", "download", "r-3"),
        ("ada", "read", "r-3a"),
        ("ada", "download", "r-3b"),
        ("ada", "delete", "r-4"),
    ]
    assert {event.subject for event in events[1:]} == {plan_id}
    assert events[0].subject


@pytest.fixture(scope="module")
def limited(folder):
    """A client of a service with narrow limits by caller: 3 requests a minute, 2 plans a day."""
    access = AccessSettings(key_required=True, requests_per_minute=3, plans_per_day=2)
    with serving(ServiceLimits(workers=0), sqlite_url(folder / "service.sqlite"), access=access) as client:
        yield client


def test_too_many_requests_are_429_by_caller(limited, store):
    """A bucket of 3 that fills by one in 20 seconds; another caller has a bucket of its own."""
    headers = bearer(key_of(store, name="often"))
    answers = [limited.get("/catalog", headers=headers) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert [answer.headers["ratelimit-policy"] for answer in answers] == ['"requests";q=3;w=60'] * 4
    left = [re.fullmatch(r'"requests";r=(\d);t=(\d+)', answer.headers["ratelimit"]) for answer in answers]
    assert [int(match[1]) for match in left] == [2, 1, 0, 0]
    assert 1 <= int(answers[3].headers["retry-after"]) <= 20
    assert kind(answers[3]) == "rate-limit"
    assert limited.get("/catalog", headers=bearer(key_of(store, name="seldom"))).status_code == 200


def test_plans_in_a_day_are_counted_in_the_store(limited, guarded, store):
    """Two plans were asked for on another replica; the third, here, is refused. Faulty requests do not count."""
    headers = bearer(key_of(store, name="busy"))
    assert guarded.post("/plan", json=HOURS, headers=headers).status_code == 200
    assert guarded.post("/plan", json={"workloads": []}, headers=headers).status_code == 422
    within = limited.post("/plan", json={**HOURS, "months": 1}, headers=headers)
    assert within.status_code == 200
    assert '"plans";r=1;t=' in within.headers["ratelimit"]
    beyond = limited.post("/plan", json=HOURS, headers=headers)
    assert beyond.status_code == 429
    assert '"plans";q=2;w=86400' in beyond.headers["ratelimit-policy"]
    assert 86_000 < int(beyond.headers["retry-after"]) <= 86_400
    assert limited.get("/catalog", headers=headers).status_code == 200


def test_a_bucket_fills_as_time_goes():
    """By hand: 60 in a minute is one a second; after 60 at once, one more is there a second later."""
    now = [0.0]
    buckets = TokenBuckets(60, 60, lambda: now[0])
    caller = store_caller()
    assert all(buckets.take(caller)[0] for _ in range(60))
    assert buckets.take(caller) == (False, 0)
    now[0] = 0.5
    assert buckets.take(caller) == (False, 0.5)
    assert buckets.seconds_until(0.5, 1) == 1
    now[0] = 1.0
    assert buckets.take(caller)[0]
    now[0] = 1000.0
    assert buckets.take(caller) == (True, 59)


def store_caller():
    from planner.service.callers import Caller

    return Caller("p", "n")


def test_limits_are_off_where_no_key_is_required(client):
    assert "ratelimit" not in client.get("/healthz").headers
    assert "ratelimit" not in client.get("/catalog").headers


def test_nothing_secret_is_logged_or_stored(guarded, store, folder, caplog):
    """The key, a workload's name, a file's name and a query are in no line of the log, and the key is in no file of
    the store."""
    text = key_of(store, name="logged")
    secrets = ("confidential-workload", "confidential-file", "confidential-query")
    body = {**HOURS, "workloads": [{**HOURS["workloads"][0], "name": secrets[0]}]}
    with caplog.at_level(logging.DEBUG):
        answer = guarded.post(f"/plan?name={secrets[1]}.json", json=body, headers=bearer(text))
        assert answer.status_code == 200
        guarded.get(f"/v1/plans/{answer.json()['plan_id']}?x={secrets[2]}", headers=bearer(text))
        guarded.post("/plan", content=f"{{{secrets[0]}", headers=bearer(text) | {"content-type": "application/json"})
        guarded.get("/catalog", headers=bearer(text[:-1] + "!"))
    ours = "\n".join(str(vars(record)) for record in caplog.records if record.name.startswith(("planner", "uvicorn")))
    assert "research/logged" in ours
    for secret in (text, text[17:], *secrets):
        assert secret not in ours
    stored = b"".join(path.read_bytes() for path in folder.iterdir())
    assert text[17:].encode() not in stored
    assert json.dumps(secrets[0]).encode() not in stored


def test_the_contract_says_what_each_operation_needs(guarded):
    document = guarded.get("/openapi.json").json()
    assert document["components"]["securitySchemes"]["apiKey"]["scheme"] == "bearer"
    operations = {
        (method, path): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    for (method, path), operation in operations.items():
        if path in ("/healthz", "/readyz") or path.startswith("/v1/shared/"):  # the link is the key
            assert operation["security"] == []
            continue
        scope = "read" if method == "get" else "plan"
        assert {"apiKey": [scope]} in operation["security"]
        assert {"401", "403", "429"} <= operation["responses"].keys()
