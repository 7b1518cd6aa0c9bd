"""The shape that tools for Infracost's output read, and what its one month stands for.

Names, types and what may be null are facts of infracost's own schema and output (version 0.2). A breakdown that was
compared with nothing has null for the past and the difference there: its tools fail on a difference without totals.
"""

import json
import math
from dataclasses import replace

import pytest

from planner.reports.infracost import render
from planner.result import Gap
from planner.result.message import Message

AMOUNT = (str, type(None))
COSTS = {"totalHourlyCost": AMOUNT, "totalMonthlyCost": AMOUNT}
SUMMARY = {
    "totalDetectedResources": int, "totalSupportedResources": int, "totalUnsupportedResources": int,
    "totalUsageBasedResources": int, "totalNoPriceResources": int, "unsupportedResourceCounts": dict,
    "noPriceResourceCounts": dict,
}  # fmt: skip
COMPONENT = {
    "name": str, "unit": str, "hourlyQuantity": AMOUNT, "monthlyQuantity": AMOUNT, "price": AMOUNT,
    "hourlyCost": AMOUNT, "monthlyCost": AMOUNT, "priceNotFound": bool,
}  # fmt: skip
RESOURCE = {
    "name": str, "resourceType": str, "metadata": dict, "hourlyCost": AMOUNT, "monthlyCost": AMOUNT,
    "costComponents": [COMPONENT],
}  # fmt: skip
BREAKDOWN = {"resources": [RESOURCE], **COSTS}
PROJECT = {
    "name": str, "metadata": {"path": str, "type": str}, "pastBreakdown": type(None), "breakdown": BREAKDOWN,
    "diff": type(None), "summary": SUMMARY,
}  # fmt: skip
ROOT = {
    "version": str, "metadata": dict, "currency": str, "projects": [PROJECT], **COSTS, "pastTotalHourlyCost": AMOUNT,
    "pastTotalMonthlyCost": AMOUNT, "diffTotalHourlyCost": AMOUNT, "diffTotalMonthlyCost": AMOUNT,
    "timeGenerated": str, "summary": SUMMARY, "missingPricesCount": int, "missingPricesComponents": [str],
}  # fmt: skip


def differences(value, shape, path="$"):
    """Where a document is not of a shape: names, types, and every item of a list."""
    if isinstance(shape, dict):
        if not isinstance(value, dict) or set(value) != set(shape):
            return [f"{path}: {sorted(value)}"]
        return [fault for name, part in shape.items() for fault in differences(value[name], part, f"{path}.{name}")]
    if isinstance(shape, list):
        return [fault for index, each in enumerate(value) for fault in differences(each, shape[0], f"{path}[{index}]")]
    return [] if isinstance(value, shape) else [f"{path}: {value!r}"]


def document(plan):
    return json.loads(render(plan))


def resources(plan):
    return {each["name"]: each for each in document(plan)["projects"][0]["breakdown"]["resources"]}


def test_the_shape(plan):
    assert differences(document(plan), ROOT) == []


def test_the_month_times_the_months_is_the_total_cost(plan):
    found = document(plan)
    if plan.recommendation.strategy is None:
        assert found["totalMonthlyCost"] is None
        assert found["projects"][0]["breakdown"]["totalMonthlyCost"] is None
        return
    chosen = plan.strategy(plan.recommendation.strategy)
    borne = math.fsum(row.amount for row in plan.views.effective if row.strategy == chosen.name)
    inside = math.fsum(row.amount for row in plan.views.effective
                       if row.strategy == chosen.name and row.month <= plan.months)  # fmt: skip
    assert borne == pytest.approx(chosen.total_cost)
    assert float(found["totalMonthlyCost"]) * plan.months == pytest.approx(inside)
    assert float(found["totalHourlyCost"]) * plan.hours_per_month == pytest.approx(float(found["totalMonthlyCost"]))


def test_resources_add_up_to_the_total_and_components_to_their_resource(plan):
    found = document(plan)
    priced = [each for each in resources(plan).values() if each["monthlyCost"] is not None]
    total = math.fsum(float(each["monthlyCost"]) for each in priced)
    assert total == pytest.approx(float(found["totalMonthlyCost"] or 0), abs=1e-6)
    for resource in priced:
        parts = resource["costComponents"]
        assert math.fsum(float(part["monthlyCost"]) for part in parts) == pytest.approx(float(resource["monthlyCost"]))
        for part in (part for part in parts if part["price"] is not None):
            cost = float(part["price"]) * float(part["monthlyQuantity"])
            assert cost == pytest.approx(float(part["monthlyCost"]))


def test_by_hand(small_plan):
    """A month: 18,250 committed and 29,200 on demand for training, 5,000 spot for 500 hours, 12.50 of egress."""
    found = document(small_plan)
    assert found["totalMonthlyCost"] == "52462.5"
    own = {name: each["monthlyCost"] for name, each in resources(small_plan).items() if each["monthlyCost"]}
    assert own == {
        "aws us-east-1 p5.48xlarge on_demand": "29200.0",
        "aws us-east-1 p5.48xlarge spot": "5000.0",
        "aws us-east-1 p5.48xlarge reserved_1y": "18250.0",
        "egress aws us-east-1": "12.5",
    }
    (spot,) = resources(small_plan)["aws us-east-1 p5.48xlarge spot"]["costComponents"]
    assert (spot["name"], spot["unit"], spot["monthlyQuantity"], spot["price"]) == (
        "embedding", "hours", "500.0", "10.0"
    )  # fmt: skip
    assert found["metadata"]["month"] == "mean of 3 months"
    assert found["metadata"]["totalCost"] == "157387.5"
    assert found["timeGenerated"] == "2026-11-21T00:00:00Z"


def test_a_missing_price_is_told_and_is_no_zero(small_plan):
    """Those that could have changed the answer: for what a workload asks for, or what the strategy uses."""
    plan = replace(small_plan, gaps=(
        Gap("no_price", "aws p5.4xlarge (H100)", Message("by_hand", {}, "no price in any region: never a candidate")),
        Gap("no_price", "gcp: something that nobody asked for", Message("by_hand", {}, "never a candidate")),
        Gap("no_price", "aws us-west-9 egress", Message("by_hand", {}, "cannot run there"), "embedding"),
        Gap("predicted", "H100", Message("by_hand", {}, "throughput is predicted")),
    ))  # fmt: skip
    missing = [each for each in resources(plan).values() if each["resourceType"] == "no_price"]
    assert [each["name"] for each in missing] == ["aws p5.4xlarge (H100)", "aws us-west-9 egress"]
    for each in missing:
        (part,) = each["costComponents"]
        assert part["priceNotFound"] is True
        assert {part[name] for name in ("price", "hourlyCost", "monthlyCost", "monthlyQuantity")} == {None}
        assert each["monthlyCost"] is None
    summary = document(plan)["summary"]
    assert (summary["totalDetectedResources"], summary["totalSupportedResources"]) == (6, 4)
    assert summary["unsupportedResourceCounts"] == {"no_price": 2}
    assert (summary["totalUnsupportedResources"], summary["totalUsageBasedResources"]) == (2, 0)
    assert (summary["totalNoPriceResources"], summary["noPriceResourceCounts"]) == (0, {}), "its word for free"
    assert document(plan)["missingPricesCount"] == 2
    assert document(plan)["missingPricesComponents"] == [
        "no_price.aws p5.4xlarge (H100)",
        "no_price.aws us-west-9 egress",
    ]
    assert document(plan)["totalMonthlyCost"] == "52462.5"


def test_the_dearest_month_is_told(long_plan):
    told = document(long_plan)["metadata"]
    # the first six months cost 12,000.25 on demand each; the others (300,000 - 50,000) / 30 and power of at most
    # 136.40, that is 8,469.73
    assert (told["dearestMonth"], told["dearestMonthCost"]) == ("2026-12", "12000.25")
