"""Accelerators by the names that bills have for them. Made rows: their names are written as the providers write them.

Forms: regions stand before AWS usage types (USW2-BoxUsage:p5.48xlarge); Google's descriptions are those of its SKUs
(TpuV5e running in Americas); Oracle's those of its product list (OCI - Compute - GPU - H100, per GPU and hour).
"""

from __future__ import annotations

import math

import pytest

AWS = [
    # (line type, usage type, hours, cost, type, accelerator, accelerators in it, way of paying)
    ("Usage", "USW2-BoxUsage:p5.48xlarge", 24, 1320.96, "p5.48xlarge", "H100-80GB-SXM", 8, "on_demand"),
    ("Usage", "USE2-SpotUsage:p4d.24xlarge", 10, 120, "p4d.24xlarge", "A100-40GB-SXM", 8, "spot"),
    ("Usage", "EUC1-BoxUsage:g6e.2xlarge", 5, 14, "g6e.2xlarge", "L40S-48GB", 1, "on_demand"),
    ("Usage", "APN1-BoxUsage:p4de.24xlarge", 2, 82, "p4de.24xlarge", "A100-80GB-SXM", 8, "on_demand"),
    ("Usage", "USE1-BoxUsage:trn1.32xlarge", 10, 215, "trn1.32xlarge", "Trainium1", 16, "on_demand"),
    ("Usage", "BoxUsage:inf2.xlarge", 10, 7.58, "inf2.xlarge", "Inferentia2", 1, "on_demand"),
    ("Usage", "USW2-BoxUsage:dl1.24xlarge", 10, 131, "dl1.24xlarge", "Gaudi-32GB", 8, "on_demand"),
    ("Usage", "USW2-Train:ml.g5.2xlarge", 20, 30.3, "g5.2xlarge", "A10G-24GB", 1, "on_demand"),
    ("DiscountedUsage", "USW2-BoxUsage:p3.8xlarge", 7, 0, "p3.8xlarge", "V100-16GB-SXM2", 4, "reserved"),
]
GOOGLE = [
    # (description, hours, accelerator, accelerators in one hour of it, way of paying)
    ("TpuV5e running in Americas", 10, "TPU-v5e", 1, "on_demand"),
    ("TpuV6e attached to Spot Preemptible VMs running in Iowa", 10, "TPU-v6e", 1, "spot"),
    ("TpuV5p running in Columbus", 4, "TPU-v5p", 1, "on_demand"),
    ("Nvidia H100 80GB GPU running in Iowa", 16, "H100-80GB-SXM", 1, "on_demand"),
    ("Nvidia H100 80GB Mega GPU running in Americas", 8, "H100-80GB-SXM", 1, "on_demand"),
    ("Nvidia Tesla A100 80GB GPU attached to Spot Preemptible VMs running in Iowa", 3, "A100-80GB-SXM", 1, "spot"),
    ("Nvidia Tesla T4 GPU running in Belgium", 5, "T4-16GB", 1, "on_demand"),
]
ORACLE = [
    ("Oracle Cloud Infrastructure - Compute - GPU - H100", "GPU Per Hour", "H100-80GB-SXM"),
    ("OCI - Compute - GPU - H200", "GPU Per Hour", "H200-141GB-SXM"),
    ("OCI - Compute - GPU - B200", "GPU Per Hour", "B200-180GB-SXM"),
    ("Compute - GPU - A100 - v2", "GPU Per Hour", "A100-80GB-SXM"),
    ("Compute - GPU - E3", "GPU Per Hour", "V100-16GB-SXM2"),
    ("OCI - Compute - GPU - E4", "GPU Per Hour", "A100-40GB-SXM"),
    ("Compute  - GPU - A10", "GPU Hour", "A10-24GB"),
    ("Compute - GPU - L40S", "GPU Per Hour", "L40S-48GB"),
    ("OCI- Compute - GPU - MI355X", "GPU Per Hour", "MI355X-288GB"),
    ("OCI - Compute - GPU - MI300X", "GPU Per Hour", "MI300X-192GB"),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("row", AWS, ids=lambda row: row[1])
def test_aws_usage_types(read, table, cur, row):
    kind, used, hours, cost, type_, accelerator, count, option = row
    told = {"lineItem/LineItemType": kind, "lineItem/UsageType": used, "lineItem/UsageAmount": str(hours)}
    held = {"reservation/ReservationARN": "arn", "reservation/EffectiveCost": "9"} if option == "reserved" else {}
    (line,) = read(table(cur, {**told, **held, "lineItem/UnblendedCost": str(cost)})).lines
    assert (line.instance_type, line.accelerator, line.purchase_option) == (type_, accelerator, option)
    assert (line.hours_used, line.billed) == (hours * count, cost)


def test_a_discount_of_an_agreement_takes_off_cost_and_no_hours(read, table, cur):
    used = {"lineItem/UsageType": "USW2-BoxUsage:p5.48xlarge", "lineItem/UsageAmount": "24"}
    bill = read(table(
        cur, {**used, "lineItem/UnblendedCost": "1320.96"},
        {**used, "lineItem/LineItemType": "EdpDiscount", "lineItem/UnblendedCost": "-132.096"},
        {**used, "lineItem/LineItemType": "PrivateRateDiscount", "lineItem/UnblendedCost": "-20"},
    ))  # fmt: skip
    assert math.fsum(line.hours_used for line in bill.lines) == 192  # 24 x 8
    assert math.fsum(line.billed for line in bill.lines) == pytest.approx(1168.864)  # 1,320.96 - 132.096 - 20


@pytest.mark.one_in(4)
@pytest.mark.parametrize("row", GOOGLE, ids=lambda row: row[0])
def test_google_descriptions(read, lines, row):
    sku, hours, accelerator, count, option = row
    usage = {"amount": hours * 3600, "unit": "seconds", "amount_in_pricing_units": hours, "pricing_unit": "hour"}
    (line,) = read(lines({"sku": {"description": sku}, "usage": usage, "cost": 12.5})).lines
    assert (line.accelerator, line.hours_used, line.purchase_option) == (accelerator, hours * count, option)
    assert line.billed == 12.5


def oracle(description: str, unit: str) -> dict[str, str]:
    return {
        "lineItem/intervalUsageStart": "2026-09-01T00:00Z", "lineItem/intervalUsageEnd": "2026-09-02T00:00Z",
        "product/service": "COMPUTE", "product/region": "us-ashburn-1", "product/Description": description,
        "usage/billedQuantity": "192", "cost/myCost": "1920", "cost/currencyCode": "USD",
        "cost/skuUnitDescription": unit, "cost/billingUnitReadable": "ONE HOUR",
    }  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("description", "unit", "accelerator"), ORACLE)
def test_oracle_products(read, table, description, unit, accelerator):
    (line,) = read(table({}, oracle(description, unit))).lines
    assert (line.provider, line.accelerator, line.hours_used, line.billed) == ("oci", accelerator, 192, 1920)


@pytest.mark.parametrize(
    "description",
    ["OCI - Compute - GPU - H100T", "Compute - GPU Standard - V2", "NVIDIA AI Enterprise - GPU", "BM.GPU.H100.8"],
)
def test_oracle_products_that_may_mean_several_are_named(read, table, description):
    bill = read(table({}, oracle(description, "GPU Per Hour")))
    assert bill.lines == ()
    assert [(each.why, each.name, each.billed) for each in bill.apart] == [("not matched", description, 1920)]


def test_types_that_have_ended_are_named_with_what_is_there_instead(read, table, cur):
    used = ["BoxUsage:p2.xlarge", "USE1-ElasticInference:eia2.medium", "BoxUsage:g5.xlarge"]
    row = {"lineItem/LineItemType": "Usage", "lineItem/UsageAmount": "2", "lineItem/UnblendedCost": "1.8"}
    bill = read(table(cur, *({**row, "lineItem/UsageType": each} for each in used)))
    first, second = bill.notes
    assert first.startswith(
        "eia2.medium: not sold any more: aws eia2.medium (Elastic Inference), not sold since 2024-04;"
    )
    assert first.endswith("; instead inf2.xlarge, from 0.7582 USD an hour on demand (us-east-1)")
    assert second.startswith("p2.xlarge: not sold any more: aws p2.xlarge (1 x K80-12GB-die); instead p3.2xlarge")
    assert sorted(line.instance_type for line in bill.lines) == ["g5.xlarge", "p2.xlarge"]
    assert [each.name for each in bill.apart] == ["eia2.medium"]
