"""Google Cloud on this machine's loopback: answers of the documented shape, in pages, from public rates and shapes."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from io import StringIO

import pytest

PAGE = 20
COMPUTE = "6F81-5844-456A"
TPU = "1111-2222-3333"  # not the real number: the adapter has to look it up
SHAPES = {  # vCPU, GiB, accelerator type, count, local SSD partitions: as in offerings.csv
    "a2-highgpu-1g": (12, 85, "nvidia-tesla-a100", 1, 0),
    "a2-ultragpu-1g": (12, 170, "nvidia-a100-80gb", 1, 1),
    "a3-highgpu-1g": (26, 234, "nvidia-h100-80gb", 1, 2),
    "a3-highgpu-8g": (208, 1872, "nvidia-h100-80gb", 8, 16),
    "a3-megagpu-8g": (208, 1872, "nvidia-h100-mega-80gb", 8, 16),
    "a4-highgpu-8g": (224, 3968, "nvidia-b200", 8, 32),
    "g4-standard-12": (12, 45, "nvidia-rtx-pro-6000", 1, 0),
    "g4-standard-48": (48, 180, "nvidia-rtx-pro-6000", 1, 0),
    "n1-standard-8": (8, 30, "", 0, 0),
    "e2-standard-8": (8, 32, "", 0, 0),
    "ct6e-standard-4t": (180, 720, "ct6e", 4, 0),
}


def sku(row, number=0, **changed):
    """One SKU as the catalogue writes it."""
    units, _, nanos = f"{float(row['usd']):.9f}".partition(".")
    money = {"currencyCode": "USD", "units": units, "nanos": int(nanos)}
    expression = {"usageUnit": row["usage_unit"], "displayQuantity": 1, "tieredRates": [{"unitPrice": money}]}
    made = {
        "name": f"services/S/skus/{number:04d}",
        "skuId": f"{number:04d}",
        "description": row["description"],
        "category": {"resourceGroup": row["group"], "usageType": row["usage_type"], "resourceFamily": "Compute"},
        "serviceRegions": row["regions"].split(),
        "pricingInfo": [{"pricingExpression": expression, "effectiveTime": "2026-06-01T00:00:00Z"}],
        "serviceProviderName": "Google",
    }
    return {**made, **changed}


def machine(name, /, **changed):
    cpus, gib, kind, count, partitions = SHAPES[name]
    made = {"name": name, "guestCpus": cpus, "memoryMb": int(gib * 1024)}
    if kind:
        made["accelerators"] = [{"guestAcceleratorType": kind, "guestAcceleratorCount": count}]
    if partitions:
        made["bundledLocalSsds"] = {"partitionCount": partitions, "defaultInterface": "NVME"}
    return {**made, **changed}


class World:
    """What the clouds of a test sell; a test changes it before it asks."""

    def __init__(self, kit, rates, tpu_rates) -> None:
        self.kit = kit
        self.skus = [sku(row, n) for n, row in enumerate(rates, 1)]
        self.tpu_skus = [sku(row, n) for n, row in enumerate(tpu_rates, 9001)]
        names = {COMPUTE: "Compute Engine", TPU: "Cloud TPU"}
        self.services = [{"name": f"services/{number}", "displayName": name} for number, name in names.items()]
        self.zones = {
            "us-central1-a": [machine(n) for n in SHAPES if n != "ct6e-standard-4t"],
            "us-central1-b": [machine("a2-highgpu-1g"), machine("n1-standard-8")],
            "us-east1-b": [machine("n1-standard-8")],
            "us-east5-a": [machine("ct6e-standard-4t")],
            "asia-east1-a": [],
        }
        self.gpus = {
            "us-central1-a": ["nvidia-tesla-t4", "nvidia-h100-80gb", "nvidia-tesla-t4-vws"],
            "us-east1-c": ["nvidia-tesla-t4"],
        }
        self.slices = {
            "us-central1-a": {"v5litepod-8": "2x4", "v2-8": "2x2"},
            "us-central2-b": {"v4-8": "2x2x1"},
            "us-east5-a": {"v6e-8": "2x4"},
        }
        self.quotas = {}

    def answer(self, request):
        path = request.path.strip("/").split("/")
        token = int(request.query.get("pageToken") or 0)
        if path[0] == "v1":
            rows = self.services if path[-1] == "services" else {COMPUTE: self.skus, TPU: self.tpu_skus}[path[2]]
            return self._page(path[-1], rows, token)
        if path[0] == "v2":
            return self._tpu(path)
        if path[-1] == "regions":
            rows = [{"name": name, "quotas": rows} for name, rows in self.quotas.items()]
            return self._page("items", rows, token)
        return self._zones(path[-1], token)

    def _page(self, key, rows, token):
        more = {"nextPageToken": str(token + PAGE)} if token + PAGE < len(rows) else {}
        return self.kit.Answer({key: rows[token : token + PAGE], **more})

    def _tpu(self, path):
        if path[-1] == "locations":
            return self.kit.Answer({"locations": [{"locationId": zone} for zone in self.slices]})
        zone = path[-2]
        rows = [
            {
                "name": f"projects/p/locations/{zone}/acceleratorTypes/{n}",
                "type": n,
                "acceleratorConfigs": [{"topology": t}],
            }
            for n, t in self.slices[zone].items()
        ]
        return self.kit.Answer({"acceleratorTypes": rows})

    def _zones(self, what, token):
        """Two zones a page, as an aggregated list may cut anywhere."""
        scopes = self.zones if what == "machineTypes" else self.gpus
        rows = {
            f"zones/{zone}": {what: found if what == "machineTypes" else [{"name": n} for n in found]}
            if found
            else {"warning": {"code": "NO_RESULTS_ON_PAGE"}}
            for zone, found in scopes.items()
        }
        names = list(rows)[token : token + 2]
        more = {"nextPageToken": str(token + 2)} if token + 2 < len(rows) else {}
        return self.kit.Answer({"items": {n: rows[n] for n in names}, **more})


@pytest.fixture
def rows(recorded):
    """The rows of rates.csv by description."""
    return {row["description"]: row for row in _table(recorded, "rates.csv")}


def _table(recorded, name):
    return list(csv.DictReader(StringIO(recorded("gcp", name).decode())))


@pytest.fixture
def world(kit, recorded):
    return World(kit, _table(recorded, "rates.csv"), _table(recorded, "tpu-rates.csv"))


@pytest.fixture
def make():
    """make.sku(row, **changed) and make.machine(name, **changed), for worlds of a test's own."""

    class Make:
        sku, machine = staticmethod(sku), staticmethod(machine)

    return Make


@pytest.fixture
def asked(cloud, world, ask):
    """asked(...) -> (ask, running cloud): every service at one loopback address."""

    def start(**how):
        running = cloud(world.answer)
        services = {"cloudbilling": running.url, "compute": running.url, "tpu": running.url}
        return ask("gcp", services, **how), running

    return start


@pytest.fixture
def readings():
    """Everything that a task yields, by its kind: readings(ask, "prices of TPUs")["Price"]."""
    from pricing.providers.gcp import fetch

    def read(ask, task):
        found = defaultdict(list)
        [wanted] = [t for t in fetch.tasks(ask) if t.name == task]
        for reading in wanted.read():
            found[type(reading).__name__].append(reading)
        return found

    return read


@pytest.fixture
def replayed(recorded):
    """A recorded JSON answer."""
    return lambda name: json.loads(recorded("gcp", name))
