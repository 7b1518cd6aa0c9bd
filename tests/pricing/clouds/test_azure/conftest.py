"""Azure on this machine's loopback: recorded answers, and others of the documented shape, cut into pages."""

from __future__ import annotations

import json
import re

import pytest

from pricing.errors import ProviderFailure
from pricing.providers.azure import fetch

PAGE = 10
SUBSCRIPTION = "00000000-1111-2222-3333-444444444444"


def row(**changed):
    """A row of the price feed. Figure: prices.csv line 469, eastus Standard_ND96amsr_A100_v4 on_demand."""
    made = {
        "currencyCode": "USD",
        "tierMinimumUnits": 0.0,
        "retailPrice": 32.77,
        "unitPrice": 32.77,
        "armRegionName": "eastus",
        "location": "US East",
        "effectiveStartDate": "2023-08-01T00:00:00Z",
        "meterId": "m1",
        "meterName": "ND96amsr A100 v4",
        "productName": "Virtual Machines NDasr A100 v4 Series",
        "skuName": "ND96amsr A100 v4",
        "serviceName": "Virtual Machines",
        "unitOfMeasure": "1 Hour",
        "type": "Consumption",
        "isPrimaryMeterRegion": True,
        "armSkuName": "Standard_ND96amsr_A100_v4",
    }
    return {**made, **changed}


def sku(name, family, gpus, region="eastus", **capabilities):
    """A size as the SKU list tells it."""
    told = {"vCPUs": "96", "MemoryGB": "1900", "LowPriorityCapable": "True", "RdmaEnabled": "True", **capabilities}
    if gpus is not None:
        told["GPUs"] = str(gpus)
    return {
        "resourceType": "virtualMachines",
        "name": name,
        "family": family,
        "locations": [region],
        "locationInfo": [{"location": region, "zones": ["1"]}],
        "capabilities": [{"name": key, "value": value} for key, value in told.items()],
        "restrictions": [],
    }


def usage(name, used, limit, title="Standard Family vCPUs"):
    return {"unit": "Count", "currentValue": used, "limit": limit, "name": {"value": name, "localizedValue": title}}


class World:
    """What Azure sells in a test; `rows` of the feed, `skus` and `usages` by region."""

    def __init__(self, kit) -> None:
        self.kit, self.rows, self.skus, self.usages = kit, [], {}, {}

    def answer(self, request):
        if request.path == "/api/retail/prices":
            return self._prices(request)
        region = re.search(r"location eq '(\w+)'", request.query.get("$filter", ""))
        if request.path == f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/skus":
            rows = self.skus.get(region[1] if region else request.query.get("of"), [])
        else:
            rows = self.usages.get(request.path.split("/")[-2], [])
        start = int(request.query.get("$skiptoken") or 0)
        answer = {"value": rows[start : start + PAGE]}
        if start + PAGE < len(rows):  # as the real service does: an absolute link
            of = f"&of={region[1] if region else request.query.get('of', '')}"
            answer["nextLink"] = f"https://management.azure.com{request.path}?$skiptoken={start + PAGE}{of}"
        return self.kit.Answer(answer)

    def _prices(self, request):
        region = re.search(r"armRegionName eq '(\w+)'", request.query["$filter"])[1]
        assert request.query["api-version"] == "2023-01-01-preview"
        assert request.query["currencyCode"] == "'USD'"
        rows = [r for r in self.rows if r["armRegionName"] == region]
        start = int(request.query.get("$skip") or 0)
        more = start + PAGE < len(rows)
        link = f"https://prices.azure.com:443/api/retail/prices?$filter={request.query['$filter']}&$skip={start + PAGE}"
        body = {"Items": rows[start : start + PAGE], "NextPageLink": link if more else None, "Count": len(rows)}
        return self.kit.Answer({"BillingCurrency": "USD", "CustomerEntityType": "Retail", **body})


@pytest.fixture
def feed_rows(recorded):
    """The rows of a recorded answer of the price feed."""
    return lambda name: json.loads(recorded("azure", f"retail-prices.{name}.json"))["Items"]


@pytest.fixture
def sku_rows(recorded):
    """The SKUs of a recorded answer."""
    return lambda name: json.loads(recorded("azure", f"resource-skus.{name}.json"))["value"]


@pytest.fixture(scope="session")
def make():
    """make.row, make.sku, make.usage: answers of a test's own."""

    class Make:
        row, sku, usage, page = staticmethod(row), staticmethod(sku), staticmethod(usage), PAGE

    return Make


@pytest.fixture
def world(kit, feed_rows, sku_rows):
    """eastus2 with the recorded prices, southcentralus with the recorded sizes, and a little of eastus."""
    made = World(kit)
    made.rows = [
        *feed_rows("eastus2.recorded"),
        row(),
        row(productName="Virtual Machines NDasr A100 v4 Series Windows"),
    ]
    made.skus = {
        "southcentralus": sku_rows("southcentralus"),
        "eastus": [
            *sku_rows("eastus.recorded"),
            sku("Standard_ND96amsr_A100_v4", "standardNDAMSv4_A100Family", 8),
            sku("Standard_NV6ads_A10_v5", "StandardNVADSA10v5Family", 1, vCPUs="6", MemoryGB="55"),
        ],
        "eastus2": [sku("Standard_ND96isr_H100_v5", "standardNDSH100v5Family", 8, "eastus2")],
    }
    return made


@pytest.fixture
def read():
    """read(ask) -> every task's readings by its name, or its failure."""

    def run(asked):
        found = {}
        for task in fetch.tasks(asked):
            try:
                found[task.name] = list(task.read())
            except ProviderFailure as failed:
                found[task.name] = failed
        return found

    return run


@pytest.fixture
def at():
    """Picks the requests of a service."""
    return {
        "prices": lambda request: request.path == "/api/retail/prices",
        "sizes": lambda request: request.path.endswith("/skus"),
    }


@pytest.fixture
def live(world, cloud, ask, monkeypatch):
    """live(regions) -> (the running cloud, the ask of a refresh); a subscription is set."""
    monkeypatch.setenv("AZURE_SUBSCRIPTION_ID", SUBSCRIPTION)

    def start(*regions, **how):
        running = cloud(world.answer)
        return running, ask("azure", {"prices": running.url, "compute": running.url}, regions, **how)

    return start
