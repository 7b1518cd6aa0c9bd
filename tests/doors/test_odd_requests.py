"""Requests that were once answered with an internal error: each names its fault."""

from __future__ import annotations

import gzip
import json

import pytest


def faults(client, document, **query):
    answer = client.post("/plan", json=document, params=query)
    assert answer.status_code == 422, answer.text
    return {fault["path"] for fault in answer.json()["errors"]}


def test_an_assumption_with_a_percent_sign(client, hours):
    for name in ("discount-rate", "discount_rate_annual"):
        answer = client.post("/plan", json={**hours, "assumptions": {name: "8%"}})
        assert answer.status_code == 422
        [fault] = answer.json()["errors"]
        assert fault["path"].startswith("assumptions")
        assert "8%" in fault["value"]


def test_a_strategy_twice_beside_another_fault(client, hours):
    assert "?months" in faults(client, hours, months=0, strategies=["cloud", "cloud"])
    assert "months" in faults(client, {**hours, "months": 0, "strategies": ["cloud", "cloud"]})


@pytest.mark.parametrize("amount", [1e30, 1e300])
def test_hours_beyond_any_number_of_accelerators(client, hours, amount):
    hours["workloads"][0]["demand"]["accelerator_hours_per_month"] = amount
    assert faults(client, hours) == {"workloads[0].demand.accelerator_hours_per_month"}


@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01", "1999-12-31", "2200-01-01"])
def test_a_date_of_no_plan(client, hours, day):
    assert faults(client, hours, as_of=day) == {"?as_of"}
    assert faults(client, {**hours, "as_of": day}) == {"as_of"}


@pytest.mark.parametrize("month", ["9999-12", "1999-12", "0001-01"])
def test_a_first_month_of_no_plan(client, hours, month):
    assert faults(client, {**hours, "start": month}) == {"start"}


def test_a_sheet_in_gzip_is_refused_and_a_bill_in_it_is_read(client, repository):
    sheet = gzip.compress(b"name,accelerator,hours per month\na,L4,730\n")
    query = {"name": "plan.csv.gz", "as_of": "2026-11-21"}
    refused = client.post("/plan", content=sheet, headers={"content-type": "application/gzip"}, params=query)
    assert refused.status_code == 422
    assert "gzip archive" in refused.json()["errors"][0]["message"]
    bill = gzip.compress((repository / "tests/billing/testdata/focus-1.0-sample-300.csv").read_bytes())
    read = client.post("/plan", content=bill, headers={"content-type": "application/gzip"}, params=query)
    assert "gzip archive" not in json.dumps(read.json())


def test_no_month_at_all_beside_another_fault(client, hours):
    hours["workloads"][0]["demand"] = {"requests_per_second": {}}
    assert faults(client, hours, start="0000-01") == {"?start"}
    assert faults(client, hours) == {"workloads[0].demand.requests_per_second", "workloads[0].measurements"}
