"""Bills made here, in the columns of each export, and those recorded. Figures in tests are worked by hand."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from planner.inputs import bills
from planner.inputs.bills.bill import Bill
from pricing.catalog.price_catalog import Catalog

RECORDED = Path(__file__).parent / "testdata"
FOCUS = {
    "ProviderName": "AWS", "BillingCurrency": "USD", "ChargeCategory": "Usage", "ChargeFrequency": "Usage-Based",
    "ChargeClass": "", "ChargePeriodStart": "2026-09-01T00:00:00Z", "ChargePeriodEnd": "2026-09-02T00:00:00Z",
    "BilledCost": "0", "EffectiveCost": "0", "ConsumedQuantity": "", "ConsumedUnit": "", "PricingQuantity": "",
    "PricingUnit": "", "PricingCategory": "Standard", "CommitmentDiscountId": "", "CommitmentDiscountStatus": "",
    "CommitmentDiscountType": "", "ChargeDescription": "", "SkuPriceDetails": "", "SubAccountId": "111122223333",
    "RegionId": "us-east-1", "ServiceName": "Amazon Elastic Compute Cloud", "Tags": "",
}  # fmt: skip
CUR = {
    "lineItem/LineItemType": "Usage", "lineItem/UsageStartDate": "2026-09-01T00:00:00Z",
    "lineItem/UsageEndDate": "2026-09-02T00:00:00Z", "lineItem/UsageType": "", "lineItem/ProductCode": "AmazonEC2",
    "lineItem/UsageAmount": "", "lineItem/UnblendedCost": "0", "lineItem/CurrencyCode": "USD",
    "lineItem/UsageAccountId": "111122223333", "lineItem/LineItemDescription": "", "product/region": "us-east-1",
    "pricing/unit": "Hrs", "pricing/LeaseContractLength": "", "pricing/PurchaseOption": "", "pricing/OfferingClass": "",
    "reservation/ReservationARN": "", "reservation/EffectiveCost": "", "reservation/StartTime": "",
    "reservation/EndTime": "", "reservation/NumberOfReservations": "", "reservation/UnusedQuantity": "",
    "reservation/UnusedAmortizedUpfrontFeeForBillingPeriod": "", "reservation/UnusedRecurringFee": "",
    "savingsPlan/SavingsPlanARN": "", "savingsPlan/SavingsPlanEffectiveCost": "",
    "savingsPlan/TotalCommitmentToDate": "", "savingsPlan/UsedCommitment": "", "savingsPlan/StartTime": "",
    "savingsPlan/EndTime": "", "resourceTags/user:team": "",
}  # fmt: skip
AZURE = {
    "SubscriptionId": "sub-1", "Date": "09/01/2026", "MeterCategory": "Virtual Machines", "MeterSubCategory": "",
    "MeterName": "", "ProductName": "", "UnitOfMeasure": "1 Hour", "Quantity": "0", "CostInBillingCurrency": "0",
    "BillingCurrencyCode": "EUR", "ResourceLocation": "EastUS", "ChargeType": "Usage", "PricingModel": "OnDemand",
    "ReservationId": "", "Term": "", "ProductOrderName": "", "Frequency": "UsageBased", "AdditionalInfo": "",
    "Tags": "",
}  # fmt: skip
GOOGLE: dict[str, Any] = {
    "service": {"description": "Compute Engine"}, "sku": {"description": ""}, "cost_type": "regular",
    "usage_start_time": "2026-09-01 00:00:00 UTC", "usage_end_time": "2026-09-02 00:00:00 UTC",
    "project": {"id": "lab"}, "labels": [], "system_labels": [], "location": {"region": "us-central1"}, "cost": 0,
    "currency": "USD", "usage": {"amount": 0, "unit": "seconds", "amount_in_pricing_units": 0, "pricing_unit": "hour"},
    "credits": [],
}  # fmt: skip


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return Catalog.embedded()


@pytest.fixture(scope="session")
def read(catalog: Catalog) -> Callable[..., Bill]:
    """Reads a bill in this process, and holds it against its own totals."""

    def reading(path: Path) -> Bill:
        bill = bills._read_bill(path, catalog, path.name, progress=None)
        assert bill.differences() == ()
        return bill

    return reading


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Path]:
    """A CSV file of rows that differ from those of `base`."""

    def make(base: Mapping[str, str], *rows: Mapping[str, str], name: str = "bill.csv", separator: str = ",") -> Path:
        path = tmp_path / name
        titles = list(dict.fromkeys([*base, *(title for row in rows for title in row)]))
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, titles, restval="", delimiter=separator)
            writer.writeheader()
            writer.writerows({**base, **row} for row in rows)
        return path

    return make


@pytest.fixture
def lines(tmp_path: Path) -> Callable[..., Path]:
    """A JSON lines file of records that differ from Google's `base`."""

    def make(*records: Mapping[str, Any], name: str = "bill.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps({**GOOGLE, **record}) + "\n" for record in records), encoding="utf-8")
        return path

    return make


@pytest.fixture(scope="session")
def focus() -> dict[str, str]:
    return FOCUS


@pytest.fixture(scope="session")
def cur() -> dict[str, str]:
    return CUR


@pytest.fixture(scope="session")
def azure() -> dict[str, str]:
    return AZURE


@pytest.fixture(scope="session")
def recorded() -> Sequence[Path]:
    return sorted(RECORDED.glob("*.csv"))
