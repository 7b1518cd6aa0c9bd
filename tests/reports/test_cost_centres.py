"""Cost centres in the tables for programs: CSV and FOCUS, against the plan's own."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import defaultdict

import pytest

from planner.application import plan
from planner.reports import csv as csv_report
from planner.reports import focus


@pytest.fixture(scope="module")
def found(live_plans):
    """Reserved nodes, a savings plan, what is there, support and tax: by two teams and workloads without one."""
    case = live_plans.CASES["committed"]()
    return plan(case.request(), case.catalog)


def test_csv_has_each_measure_by_month(found):
    rows = csv.DictReader(io.StringIO(csv_report.render(found).decode("utf-8-sig")))
    told = {
        (row["name"], int(row["month"]), row["measure"]): float(row["value"])
        for row in rows
        if row["kind"] == "cost_centre"
    }
    for row in found.views.cost_centres:
        assert told[row.team, row.month, "cash"] == row.cash
        assert told[row.team, row.month, "effective"] == row.effective
        assert told.get((row.team, row.month, "variance")) == row.variance
    assert any(row.variance is not None for row in found.views.cost_centres)


def test_focus_bills_each_cost_centre_what_it_pays(found):
    """BilledCost by month and cost centre is the plan's cash; all rows have one."""
    billed, effective = defaultdict(float), defaultdict(float)
    for row in csv.DictReader(io.StringIO(focus.render(found).decode())):
        key = row["x_CostCentre"], row["BillingPeriodStart"][:7]
        billed[key] += float(row["BilledCost"])
        effective[row["x_CostCentre"]] += float(row["EffectiveCost"])
        if row["Tags"] and (team := json.loads(row["Tags"]).get("team")):
            assert team == row["x_CostCentre"]
    for row in found.views.cost_centres:
        if row.month <= found.months:
            assert billed[row.team, found.month_names[row.month - 1]] == pytest.approx(row.cash, abs=0.01)
    total = math.fsum(row.effective for row in found.views.cost_centres)
    assert math.fsum(effective.values()) == pytest.approx(total, abs=0.01)
