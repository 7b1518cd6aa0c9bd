"""`planner db`, and what `serve`, `worker` and `db` say of a store that cannot be opened."""

from __future__ import annotations

import json

import pytest

from planner.service import ServiceLimits
from planner.service.store import open_store
from planner.service.store.engine import MIGRATIONS
from pricing.catalog.price_catalog import Catalog
from tests.doors.conftest import HOURS, serving


@pytest.mark.parametrize("command", [("serve",), ("worker",), ("db", "upgrade"), ("db", "prune", "--days", "1")])
@pytest.mark.parametrize("url", ["sqlite:////nowhere/at/all.sqlite", "nonsense", "postgresql://x@127.0.0.1:9/x"])
def test_a_store_that_cannot_be_opened_is_one_clear_fault(planner, command, url):
    ran = planner(*command, "--store", url)
    assert ran.code == 2
    assert "the store cannot be opened" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("option", ["--workers=0", "--seconds=0", "--waiting=x"])
def test_a_limit_that_is_none_is_a_fault(planner, option):
    ran = planner("serve", option)
    assert ran.code == 2
    assert option.partition("=")[0] in ran.err


def test_a_limit_from_the_environment_is_one(planner, monkeypatch):
    monkeypatch.setenv("PLANNER_WORKERS", "0")
    ran = planner("serve")
    assert ran.code == 2
    assert "--workers" in ran.err


def test_the_store_is_upgraded_copied_and_pruned(planner, tmp_path):
    url = f"sqlite:///{tmp_path / 'service.sqlite'}"
    newest = max(file.name[1:5] for file in (MIGRATIONS / "versions").glob("v*.py"))
    assert f"version {newest}" in planner("db", "upgrade", "--store", url).out
    ran = planner("db", "backup", "--store", url, "copy.sqlite")
    tables = (
        "api_keys",
        "audit",
        "jobs",
        "plans",
        "price_snapshots",
        "reading_answers",
        "review_links",
        "reviews",
        "tasks",
    )
    assert (ran.code, ran.out) == (0, f"copied {', '.join(f'0 {name}' for name in tables)} to copy.sqlite\n")
    open_store(f"sqlite:///{tmp_path / 'copy.sqlite'}").close()
    again = planner("db", "backup", "--store", url, "copy.sqlite")
    assert again.code == 2
    assert "exists" in again.err
    pruned = planner("db", "prune", "--store", url, "--plans", "0").out
    assert pruned == "deleted 0 jobs, 0 plans, 0 reviews, 0 answers\n"
    assert planner("db", "prune", "--store", url).code == 2


def test_prices_in_use_are_listed_with_the_plans_made_with_them(planner, tmp_path):
    url = f"sqlite:///{tmp_path / 'service.sqlite'}"
    with serving(ServiceLimits(workers=0, seconds=600), url) as client:
        plan = client.post("/plan", json=HOURS).json()
    ran = planner("db", "prices", "--store", url, "--json")
    (noted,) = json.loads(ran.out)
    assert noted["plans"] == 1
    assert noted["oldest_price"] == client_oldest(plan)
    assert noted["prices"] == sum(noted["coverage"].values()) > 1000
    shown = planner("db", "prices", "--store", url).out
    assert noted["digest"][:12] in shown


def client_oldest(plan: dict) -> str:
    """The date of the oldest price in the whole catalogue, which is that of the plan at the oldest."""
    oldest = Catalog.current().oldest().isoformat()
    assert oldest <= plan["oldest_price"]
    return oldest
