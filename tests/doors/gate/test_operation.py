"""What an operator does: keys and audit on the command line, changes of prices, backup and restore."""

from __future__ import annotations

import csv
import io
import json
import re
import time

import pytest
from sqlalchemy import update

from planner.cli.serve import is_loopback
from planner.service import AccessSettings, ServiceLimits
from planner.service.store import open_store
from planner.service.store.access_tables import AUDIT
from planner.service.store.engine import sqlite_url
from tests.doors.conftest import HOURS, serving

GATED = AccessSettings(key_required=True)


@pytest.fixture
def url(tmp_path):
    return sqlite_url(tmp_path / "service.sqlite")


def bearer(text):
    return {"authorization": f"Bearer {text}"}


def test_a_key_is_shown_once_listed_without_its_secret_and_revoked(planner, url):
    made = planner(
        "key", "create", "nightly", "--project", "research", "--scope", "plan", "--days", "2", "--store", url
    )
    assert made.code == 0
    text = made.out.strip()
    identity, secret = re.fullmatch(r"gpk_([0-9a-f]{12})_([A-Za-z0-9_-]{43})", text).groups()
    listed = planner("key", "list", "--store", url).out
    assert [*listed.splitlines()[1].split()[:4]] == [identity, "research", "nightly", "plan"]
    assert secret not in listed
    assert planner("key", "revoke", identity, "--store", url).code == 0
    assert "revoked 20" in planner("key", "list", "--store", url).out
    again = planner("key", "revoke", identity, "--store", url)
    assert again.code == 2
    assert "no valid key has the id" in again.err
    acts = json.loads(planner("audit", "--store", url, "--json").out)
    assert [(act["action"], act["subject"]) for act in acts] == [("key-revoke", identity), ("key-create", identity)]
    assert all(act["caller"].startswith("operator ") for act in acts)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("create", "n" * 129), "has 129 characters; at most 128"),
        (("create", "n", "--project", "p" * 65), "at most 64"),
        (("create", ""), "at most 128"),
        (("create", "n", "--scope", "all"), "'all' is not one of 'plan', 'read', 'admin'"),
        (("create", "n", "--days", "0"), "0.0 is not in the range x>0"),
    ],
)
def test_a_faulty_key_is_told(planner, url, arguments, told):
    answer = planner("key", *arguments, "--store", url)
    assert answer.code == 2
    assert told in answer.err


def test_a_store_that_cannot_be_opened_keeps_its_password(planner):
    for command in (("key", "list"), ("audit",), ("serve",)):
        answer = planner(*command, "--store", "postgresql://planner:hunter2@127.0.0.1:1/planner")
        assert answer.code == 2
        assert "the store cannot be opened" in answer.err
        assert "hunter2" not in answer.err + answer.out


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False),
     ("10.0.0.1", False), ("planner.example.com", False)],
)  # fmt: skip
def test_keys_are_required_on_every_address_but_loopback(host, expected):
    assert is_loopback(host) == expected


def test_faulty_settings_of_the_provider_end_the_start(planner, url):
    answer = planner("serve", "--store", url, "--oidc-issuer", "http://login.example.com", "--oidc-audience", "x")
    assert answer.code == 2
    assert "is not an https URL" in answer.err


@pytest.mark.slow
def test_changes_of_prices_are_recorded_where_there_is_a_store(planner, tmp_path, monkeypatch, url):
    """A cloud of our own: an import is recorded with its file; without a store nothing is made."""
    monkeypatch.setenv("GPU_PLANNER_DATA", str(tmp_path / "data"))
    prices = tmp_path / "list.csv"
    prices.write_text("type,gpu,gpu count,region,price\nbox-8,H100-80GB-SXM,8,here,20\n")
    arguments = ("prices", "import", str(prices), "--provider", "ownbox", "--as-of", "2026-11-20", "--source", "x")
    assert planner(*arguments).code == 0
    assert not (tmp_path / "data" / "service.sqlite").exists()
    monkeypatch.setenv("PLANNER_STORE", url)
    assert planner(*arguments).code == 0
    rows = list(csv.DictReader(io.StringIO(planner("audit", "--csv").out)))
    assert [(row["action"], row["subject"]) for row in rows] == [("prices", "import list.csv")]


def test_a_backup_restores_plans_keys_and_audit(planner, url, tmp_path):
    """The drill of the guide: back up while the service runs, lose the store, start on the copy: the key opens it,
    the plan is there to the byte, another project still does not see it."""
    text = planner("key", "create", "nightly", "--project", "research", "--store", url).out.strip()
    other = planner("key", "create", "other", "--project", "finance", "--store", url).out.strip()
    with serving(ServiceLimits(workers=0), url, access=GATED) as client:
        plan = client.post("/plan", json=HOURS, headers=bearer(text)).content
        path = f"/v1/plans/{json.loads(plan)['plan_id']}"
        assert planner("db", "backup", str(tmp_path / "copy.sqlite"), "--store", url).code == 0
    (tmp_path / "service.sqlite").unlink()
    restored = sqlite_url(tmp_path / "copy.sqlite")
    with serving(ServiceLimits(workers=0), restored, access=GATED) as client:
        assert client.get(path, headers=bearer(text)).content == plan
        assert client.get(path, headers=bearer(other)).status_code == 404
        assert client.get(path).status_code == 401
    acts = json.loads(planner("audit", "--store", restored, "--json").out)
    assert [act["action"] for act in acts] == ["read", "plan", "key-create", "key-create"]


def test_the_audit_ends_by_its_own_policy(planner, url):
    planner("key", "create", "old", "--store", url)
    store = open_store(url)
    with store.engine.begin() as connection:
        connection.execute(update(AUDIT).values(time=time.time() - 40 * 86_400))
    store.close()
    planner("key", "create", "new", "--store", url)
    assert "1 acts" in planner("db", "prune", "--audit-days", "30", "--store", url).out
    assert planner("audit", "--store", url, "--days", "400").out.count("key-create") == 1
