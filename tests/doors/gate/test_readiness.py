"""Readiness and the figures of plans, through HTTP and with a store that fails."""

from __future__ import annotations

import re
import time

import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy.exc import OperationalError

from planner.service import ServiceLimits
from planner.service.store import ServiceStore
from pricing.catalog.price_catalog import Catalog
from pricing.errors import InvalidSnapshot
from tests.doors.conftest import HOURS, serving


@pytest.fixture(scope="module")
def service():
    with serving(ServiceLimits(workers=1)) as client:
        yield client


def figure(client, name, **labels):
    for family in text_string_to_metric_families(client.get("/metrics").text):
        for sample in family.samples:
            if sample.name == name and sample.labels == labels:
                return sample.value
    return 0.0


def missing(answer):
    assert answer.status_code == 503
    assert answer.headers["retry-after"]
    return {fault["path"]: fault["message"] for fault in answer.json()["errors"]}


def wait_until_ready(client):
    while (answer := client.get("/readyz")).status_code != 200:
        assert missing(answer) == {"workers": "starting"}
        time.sleep(0.05)
    return answer


def test_a_service_is_ready_when_its_workers_are_warm(service):
    """The question itself starts them: one for short plans and one for others."""
    assert missing(service.get("/readyz")) == {"workers": "starting"}
    assert wait_until_ready(service).json() == {"status": "ready"}
    assert figure(service, "planner_workers_running") == 2


def test_prices_that_cannot_be_read_are_told(service, monkeypatch):
    def unreadable():
        raise InvalidSnapshot(("aws/vms.csv: not readable",))

    wait_until_ready(service)
    monkeypatch.setattr(Catalog, "current", unreadable)
    assert missing(service.get("/readyz")) == {"prices": "cannot be read: 1 problems"}
    assert service.get("/healthz").status_code == 200


def test_a_store_that_does_not_answer_is_told(service, monkeypatch):
    def unreachable(_):
        raise OperationalError("SELECT secret", {}, Exception("password=secret"))

    wait_until_ready(service)
    monkeypatch.setattr(ServiceStore, "check_connection", unreachable)
    answer = service.get("/readyz")
    assert missing(answer) == {"store": "does not answer (OperationalError)"}
    assert "secret" not in answer.text


def test_plans_are_counted_by_how_they_were_answered(service):
    """Three equal questions and one that cannot be planned: one plan is made, two answers are stored ones."""
    for _ in range(3):
        assert service.post("/plan", json={**HOURS, "months": 3}).status_code == 200
    assert service.post("/plan", json={**HOURS, "workloads": []}).status_code == 422
    assert figure(service, "planner_plans_total", answer="made") == 1
    assert figure(service, "planner_plans_total", answer="stored") == 2
    assert figure(service, "planner_plans_total", answer="rejected") == 1
    assert figure(service, "planner_plans_total", answer="failed") == 0
    assert figure(service, "planner_solve_seconds_count") == 1
    assert figure(service, "planner_solve_seconds_sum") > 0
    assert figure(service, "planner_plan_gap_count") == 1
    assert figure(service, "planner_plan_gap_bucket", le="0.001") == 1
    assert figure(service, "planner_queue_length") == 0
    assert figure(service, "planner_plans_running") == 0


def test_the_guide_says_what_each_figure_means(service, repository):
    service.post("/plan", json=HOURS)
    guide = (repository / "docs/guides/operate.md").read_text(encoding="utf-8")
    told = set(re.findall(r"^\| `(planner_\w+)` \|", guide, re.MULTILINE))
    suffixes = {"counter": "_total"}
    families = text_string_to_metric_families(service.get("/metrics").text)
    names = {family.name + suffixes.get(family.type, "") for family in families if not family.name.endswith("_created")}
    assert names == told


def test_the_age_of_prices_is_a_figure(service):
    assert figure(service, "planner_price_age_days") == service.get("/catalog").json()["age_days"]
