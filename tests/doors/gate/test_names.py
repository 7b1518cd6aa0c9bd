"""Which host names, and pages of which sites, the service answers: rebinding and cross-site requests."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.service.gate.trusted_hosts import is_trusted_host

JSON = {"content-type": "application/json"}


def kind(response):
    assert response.headers["content-type"] == "application/problem+json"
    return response.json()["type"].rpartition(":")[2]


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:8000",
        "localhost.:8000",
        "planner.localhost",
        "127.0.0.1",
        "127.0.0.1:9000",
        "10.1.2.3",
        "[::1]:8000",
        "[2001:db8::1]",
        "planner.example.com",
        "Planner.Example.com:443",
        "a.b.internal.example:80",
    ],
)
def test_own_names_and_addresses_are_answered(narrow, host):
    assert narrow.get("/catalog", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "attacker.example",
        "attacker.example:8000",
        "localhost.attacker.example",
        "127.0.0.1.attacker.example",
        "notlocalhost",
        "internal.example",
        "notinternal.example",
        "planner.example.com.attacker.example",
        "[::1].attacker.example",
    ],
)
def test_a_rebound_name_gets_nothing(narrow, host):
    """The page of attacker.example, whose name now resolves to this machine, reads prices or posts a plan."""
    for answer in (
        narrow.get("/catalog", headers={"host": host}),
        narrow.post("/plan", json={}, headers={"host": host, "origin": f"http://{host}"}),
    ):
        assert answer.status_code == 421
        assert kind(answer) == "wrong-host"


def test_probes_are_answered_under_any_name(narrow):
    assert narrow.get("/healthz", headers={"host": "pool-7.lb.example"}).status_code == 200


@given(st.from_regex(r"[a-z0-9-]{1,20}(\.[a-z0-9-]{1,20}){1,3}", fullmatch=True))
def test_only_listed_names_are_trusted(name):
    """Law: without a list, a name of letters is trusted only below localhost."""
    if not name.replace(".", "").isdecimal():
        assert is_trusted_host(name, ()) == (name.endswith(".localhost") or name == "localhost")
        assert is_trusted_host(name, (name,))
        assert is_trusted_host(name, ("*",))


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://attacker.example"},
        {"origin": "null"},
        {"origin": "http://localhost:3000"},
        {"origin": "https://portal.example.com.attacker.example"},
        {"sec-fetch-site": "cross-site", "origin": "https://attacker.example"},
        {"sec-fetch-site": "same-site", "origin": "http://127.0.0.1:3000"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
    ],
)
@pytest.mark.parametrize("media_type", ["text/plain", "multipart/form-data; boundary=x", "application/json"])
def test_no_page_of_another_site_plans(narrow, hours, headers, media_type):
    """A form, or fetch with text/plain, is sent without asking first: each such request is refused unread."""
    body = json.dumps(hours).encode()
    answer = narrow.post("/plan", content=body, headers={"content-type": media_type, **headers})
    assert answer.status_code == 403
    assert kind(answer) == "cross-site"


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://localhost:8000", "host": "localhost:8000"},
        {"origin": "https://planner.example.com", "host": "planner.example.com"},
        {"origin": "https://portal.example.com", "sec-fetch-site": "cross-site"},
        {"origin": "http://127.0.0.1:1", "sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
    ],
)
def test_programs_own_pages_and_allowed_sites_plan(narrow, headers):
    """An empty list of workloads is refused by its content, so it was read."""
    answer = narrow.post("/plan", content=b'{"workloads": []}', headers=JSON | headers)
    assert answer.status_code == 422


def test_a_link_from_another_site_may_be_followed_and_a_script_not(narrow):
    across = {"sec-fetch-site": "cross-site"}
    assert narrow.get("/catalog", headers=across | {"sec-fetch-mode": "navigate"}).status_code == 200
    assert narrow.get("/catalog", headers=across | {"sec-fetch-mode": "no-cors"}).status_code == 403


@pytest.mark.parametrize(("path", "status"), [("/healthz", 200), ("/nothing", 404), ("/catalog?x", 200)])
def test_every_answer_has_strict_headers(narrow, path, status):
    answer = narrow.get(path)
    assert answer.status_code == status
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; frame-ancestors 'none'")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "no-store"
    assert "server" not in answer.headers


def test_a_refusal_has_strict_headers_too(narrow):
    answer = narrow.get("/catalog", headers={"host": "attacker.example"})
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-request-id"]
