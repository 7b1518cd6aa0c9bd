"""The four kinds of bills plan as they come: a September of one machine around the clock, by the command and the
service; a file with every line twice has the same sums, and a note."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence

import pytest

from tests.billing.conftest import AZURE, CUR, FOCUS, GOOGLE

DAYS = range(1, 31)
OPTIONS = {"as_of": "2026-11-21", "start": "2026-12", "months": "1", "strategies": "cloud", "effort": "quick"}
ARGUMENTS = [text for name, value in OPTIONS.items() for text in (f"--{name.replace('_', '-')}", value)]
HOURS = 720
"""Of September: 24 a day, around the clock, which is 730 in a month of the plan."""


def _ends(day: int) -> tuple[str, str]:
    """The first moment of a day of September and of the next."""
    return f"2026-09-{day:02d}", f"2026-09-{day + 1:02d}" if day < 30 else "2026-10-01"


def _table(base: Mapping[str, str], rows: Sequence[Mapping[str, str]]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(base))
    writer.writeheader()
    writer.writerows({**base, **row} for row in rows)
    return out.getvalue().encode()


def _aws() -> bytes:
    rows = [
        {
            "lineItem/UsageStartDate": f"{start}T00:00:00Z", "lineItem/UsageEndDate": f"{end}T00:00:00Z",
            "lineItem/UsageType": "BoxUsage:g5.xlarge", "lineItem/UsageAmount": "24",
            "lineItem/UnblendedCost": f"{24 * 1.006}",
        }
        for start, end in map(_ends, DAYS)
    ]  # fmt: skip
    return _table(CUR, rows)


def _focus() -> bytes:
    rows = [
        {
            "ChargePeriodStart": f"{start}T00:00:00Z", "ChargePeriodEnd": f"{end}T00:00:00Z",
            "SkuPriceDetails": '{"InstanceType": "g5.xlarge"}', "ConsumedQuantity": "24", "ConsumedUnit": "Hours",
            "BilledCost": f"{24 * 1.006}", "EffectiveCost": f"{24 * 1.006}",
        }
        for start, end in map(_ends, DAYS)
    ]  # fmt: skip
    return _table(FOCUS, rows)


def _azure() -> bytes:
    rows = [
        {
            "Date": f"09/{day:02d}/2026", "MeterName": "NC24ads A100 v4", "Quantity": "24",
            "CostInBillingCurrency": f"{24 * 3.673}", "BillingCurrencyCode": "USD",
        }
        for day in DAYS
    ]  # fmt: skip
    return _table(AZURE, rows)


def _google() -> bytes:
    records = [
        {
            **GOOGLE, "usage_start_time": f"{start} 00:00:00 UTC", "usage_end_time": f"{end} 00:00:00 UTC",
            "cost": 24 * 0.7,
            "sku": {"description": "Nvidia L4 GPU running in Iowa"},
            "system_labels": [{"key": "compute.googleapis.com/machine_spec", "value": "g2-standard-4"}],
            "usage": {"amount": 86_400, "unit": "seconds", "amount_in_pricing_units": 24, "pricing_unit": "hour"},
        }
        for start, end in map(_ends, DAYS)
    ]  # fmt: skip
    return "".join(json.dumps(record) + "\n" for record in records).encode()


BILLS = {
    "cur.csv": (_aws, "A10G-24GB", HOURS * 1.006, "aws us-east-1"),
    "focus.csv": (_focus, "A10G-24GB", HOURS * 1.006, "aws us-east-1"),
    "azure.csv": (_azure, "A100-80GB-PCIe", HOURS * 3.673, "azure eastus"),
    "google.jsonl": (_google, "L4-24GB", HOURS * 0.7, "gcp us-central1"),
}
"""By file: what writes it, its accelerator, its cost of September, and its home."""


def _sums(plan: Mapping) -> tuple:
    """The work, the cost, and the present spend that a plan of a bill tells."""
    (spend,) = [note for note in plan["inputs"]["notes"] if note.startswith("present spend against plan")]
    return plan["workloads"], [each["total_cost"] for each in plan["strategies"]], spend


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", BILLS)
def test_a_bill_is_planned_as_it_comes(planner, client, tmp_path, name):
    write, accelerator, billed, home = BILLS[name]
    (tmp_path / name).write_bytes(write())
    ran = planner("estimate", *ARGUMENTS, name, "-o", "plan.json")
    assert ran.code == 0, ran.err
    plan = json.loads((tmp_path / "plan.json").read_text())
    (workload,) = plan["workloads"]
    assert workload["accelerators"] == [accelerator]
    assert workload["demand"] == [pytest.approx(730)]
    assert f"{billed * 730 / HOURS:,.2f}" in _sums(plan)[2]
    (use,) = plan["strategies"][0]["uses"]
    assert f"{use['provider']} {use['region']}" == home

    sent = client.post("/plan", params=OPTIONS, files={"file": (name, write())})
    assert sent.status_code == 200, sent.text
    assert sent.json()["content_digest"] == plan["content_digest"]
    assert _sums(sent.json()) == _sums(plan)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", BILLS)
def test_a_doubled_bill_has_the_same_sums_and_a_note(planner, tmp_path, name):
    data = BILLS[name][0]()
    lines = data.splitlines(keepends=True)
    doubled = data + b"".join(lines if name.endswith("jsonl") else lines[1:])  # a table has a head
    plans = []
    for folder, contents in (("once", data), ("twice", doubled)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(contents)
        ran = planner("estimate", *ARGUMENTS, f"{folder}/{name}", "-o", f"{folder}.json")
        assert ran.code == 0, ran.err
        plans.append(json.loads((tmp_path / f"{folder}.json").read_text()))
    once, twice = plans
    assert _sums(twice) == _sums(once)
    assert any("30 lines there twice, counted once" in note for note in twice["inputs"]["notes"])
    assert not any("there twice" in note for note in once["inputs"]["notes"])
