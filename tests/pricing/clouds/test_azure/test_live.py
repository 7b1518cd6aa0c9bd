"""The whole adapter through the real SDK clients over HTTP."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from pricing.adapters.protocol import CoveredScope, RejectedRow, SkippedRows
from pricing.errors import ProviderFailure
from pricing.offering import Offering
from pricing.price import Price
from pricing.providers.azure import clients, fetch, resource_skus, retail_prices
from pricing.sale import SaleTerm

GUIDE = Path(__file__).parents[4] / "docs" / "guides" / "access-azure.md"
NEW = "Standard_ND144isr_GB300_v6"  # a name that Azure might give


def prices(readings):
    return {(p.instance_type, p.purchase_option): p.price_per_hour for p in readings if isinstance(p, Price)}


def paths(running):
    return Counter(r.path for r in running.seen)


def test_a_refresh_of_two_regions(live, kit, read):
    running, asked = live("eastus", "eastus2")
    found = read(asked)
    assert list(found) == ["prices in eastus", "prices in eastus2", "sizes in eastus", "sizes in eastus2"]
    # prices.csv line 469, eastus Standard_ND96amsr_A100_v4 on_demand
    assert prices(found["prices in eastus"]) == {("Standard_ND96amsr_A100_v4", "on_demand"): 32.77}
    two = prices(found["prices in eastus2"])
    assert len(two) == 11
    assert two["Standard_ND96isr_H100_v5", "reserved_3y"] == pytest.approx(43.162481)  # 1,134,310 / 26,280
    assert {p.as_of for p in found["prices in eastus2"] if isinstance(p, Price)} == {kit.TODAY}
    offered = {o.instance_type for o in found["sizes in eastus"] if isinstance(o, Offering)}
    assert offered == {"Standard_NV6", "Standard_ND96amsr_A100_v4"}
    assert len([c for c in found["prices in eastus2"] if isinstance(c, CoveredScope)]) == 16
    assert paths(running)[clients.PRICES_PATH] == 4  # 23 rows in pages of 10, and one page


def test_every_row_is_accounted_for(live, read):
    _, asked = live("eastus", "eastus2")
    found = read(asked)
    counted = {
        name: sum(r.rows if isinstance(r, SkippedRows) else not isinstance(r, CoveredScope | SaleTerm) for r in told)
        for name, told in found.items()
    }
    assert counted == {"prices in eastus": 2, "prices in eastus2": 23, "sizes in eastus": 6, "sizes in eastus2": 1}


def test_all_regions_of_the_folder_unless_some_are_asked_for(ask):
    names = [task.name for task in fetch.tasks(ask("azure", {}))]
    assert len(names) == len(set(names)) == 2 * 52
    assert names[:2] == ["prices in australiacentral", "prices in australiacentral2"]
    assert len(list(fetch.quota_tasks(ask("azure", {})))) == 52


def test_pages_are_followed_where_the_first_one_lay(live, world, make, read, at):
    world.skus["westus"] = [make.sku(f"Standard_D{n}s_v5", "F", None, "westus") for n in range(25)]
    running, asked = live("westus")
    assert read(asked)["sizes in westus"] == [SkippedRows(resource_skus.NO_ACCELERATORS, 25)]
    assert [r.path for r in running.seen if at["sizes"](r)] == [r.path for r in running.seen if at["sizes"](r)][:1] * 3


def test_nothing_but_reads_and_no_token_over_plain_http(live, read):
    running, asked = live("eastus")
    read(asked)
    assert {r.method for r in running.seen} == {"GET"}
    assert not [r for r in running.seen if "Authorization" in r.headers]


def test_prices_need_no_account(live, monkeypatch, read):
    running, asked = live("eastus")
    monkeypatch.delenv("AZURE_SUBSCRIPTION_ID")
    found = read(asked)
    assert prices(found["prices in eastus"])
    [skipped] = found["sizes in eastus"]
    assert "AZURE_SUBSCRIPTION_ID" in skipped.reason
    assert set(paths(running)) == {clients.PRICES_PATH}


def test_the_default_chain_without_any_credential(ask, monkeypatch):
    # the real DefaultAzureCredential, told to look at the environment only: it finds nothing and no call is made
    monkeypatch.setenv("AZURE_SUBSCRIPTION_ID", "s")
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential")
    for name in ("AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_TENANT_ID", "AZURE_USERNAME", "AZURE_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    tasks = {task.name: task for task in fetch.tasks(ask("azure", {}, ("eastus", "westus")))}
    for region in ("eastus", "westus"):
        with pytest.raises(ProviderFailure) as failed:
            list(tasks[f"sizes in {region}"].read())
        assert failed.value.kind == "no_credentials"


def test_a_new_type_comes_with_its_offering_and_its_price(live, world, make, read):
    world.rows.append(make.row(armSkuName=NEW, skuName="ND144isrGB300v6", retailPrice=115.0))
    world.skus["eastus"].append(make.sku(NEW, "standardNDGB300v6Family", 4))
    _, asked = live("eastus")
    told = read(asked)["prices in eastus"]
    assert prices(told)[NEW, "on_demand"] == 115.0
    assert [o.accelerator for o in told if isinstance(o, Offering)] == ["GB300-279GB"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (NEW, "no size of this name is on the list of the region"),
        ("Standard_NC192ads_A100_v4", "unknown accelerator: the name may mean A100-40GB-PCIe"),
    ],
)
def test_a_new_type_that_cannot_be_told_is_refused(live, world, make, name, words, read):
    world.rows.append(make.row(armSkuName=name))
    world.skus["eastus"].append(make.sku("Standard_NC192ads_A100_v4", "F", 8))
    _, asked = live("eastus")
    told = read(asked)["prices in eastus"]
    assert next(r.reason for r in told if isinstance(r, RejectedRow)).count(words) == 1
    assert len(prices(told)) == 1
    assert len([c for c in told if isinstance(c, CoveredScope)]) == 16


def test_a_dead_management_api_does_not_hold_up_the_prices(live, world, make, kit, at):
    world.rows.append(make.row(armSkuName=NEW))
    running, asked = live("eastus", seconds=400)
    running.faults = [kit.Fault(kit.Answer({}, 503, {"Retry-After": "300"}), times=10**6, where=at["sizes"])]
    told = list(next(iter(fetch.tasks(asked))).read())
    assert prices(told) == {("Standard_ND96amsr_A100_v4", "on_demand"): 32.77}
    assert "sizes could not be read (server error" in next(r.reason for r in told if isinstance(r, RejectedRow))
    assert sum(map(at["sizes"], running.seen)) == 1  # half of the time that is left is no 300 s: it is not waited for


def test_a_region_where_nothing_is_sold_covers_nothing(live, read):
    _, asked = live("eastuss")
    found = read(asked)
    assert found["prices in eastuss"].kind == "changed_format"
    assert "no virtual machine is sold there" in found["prices in eastuss"].detail
    assert found["sizes in eastuss"].kind == "changed_format"


@pytest.mark.parametrize("address", ["http://prices.example", "http://127.0.0.1.example", "ftp://x", "prices.example"])
def test_plain_http_is_for_this_machine(ask, monkeypatch, address, read):
    monkeypatch.setenv("AZURE_SUBSCRIPTION_ID", "s")
    for failed in read(ask("azure", {"prices": address, "compute": address}, ("eastus",))).values():
        assert failed.kind == "denied"


def test_nobody_listens(ask, monkeypatch, read):
    monkeypatch.setenv("AZURE_SUBSCRIPTION_ID", "s")
    address = "http://127.0.0.1:9"
    for failed in read(ask("azure", {"prices": address, "compute": address}, ("eastus",), 0.3)).values():
        assert failed.kind in {"unreachable", "timed_out"}


def test_without_the_sdk(live, monkeypatch, read):
    _, asked = live("eastus")
    for name in ("azure.core", "azure.core.pipeline.policies", "azure.mgmt.compute"):
        monkeypatch.setitem(sys.modules, name, None)
    for failed in read(asked).values():
        assert (failed.kind, failed.detail) == ("no_sdk", "pip install 'gpu-planner[azure]'")


FIRST_USE = """
import builtins, os, time
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pricing.accelerator import embedded_names
from pricing.adapters.protocol import FetchRequest
from pricing.errors import ProviderFailure
from pricing.adapters.retries import RetryBudget
from pricing.providers.azure import fetch

os.environ["AZURE_SUBSCRIPTION_ID"] = "s"
here = "http://127.0.0.1:9"
places = {"prices": here, "compute": here}
asked = FetchRequest(("a",), date(2026, 11, 21), embedded_names(), {}, places, RetryBudget(1))
plain, inside, most = builtins.__import__, [], []

def slow(name, globals=None, *rest, **named):
    if not name.startswith("azure") or globals["__name__"] != "pricing.providers.azure.clients":
        return plain(name, globals, *rest, **named)
    inside.append(name)
    most.append(len(inside))
    time.sleep(0.05)
    try:
        return plain(name, globals, *rest)
    finally:
        inside.remove(name)

def kind(task):
    try:
        return list(task.read())
    except ProviderFailure as failed:
        return failed.kind

builtins.__import__ = slow
with ThreadPoolExecutor(2) as pool:
    print(set(pool.map(kind, fetch.tasks(asked))) <= {"unreachable", "timed_out"}, max(most))
"""


@pytest.mark.slow
def test_threads_load_the_sdk_one_at_a_time():
    """Two at once end in a deadlock of Python's import locks: azure-core imports itself in circles."""
    ended = subprocess.run([sys.executable, "-c", FIRST_USE], capture_output=True, text=True, timeout=600, check=False)
    assert (ended.stdout, ended.stderr) == ("True 1\n", "")


def test_a_token_is_for_the_cloud_that_is_called():
    assert clients._token_scopes("https://management.azure.com") == ["https://management.azure.com/.default"]
    assert clients._token_scopes("https://a-proxy.example/azure") == ["https://management.azure.com/.default"]
    sovereign = clients._token_scopes("https://management.usgovcloudapi.net")
    assert sovereign == ["https://management.core.usgovcloudapi.net/.default"]


def test_sizes_are_read_once(live, world, make, read, at):
    world.rows.append(make.row(armSkuName=NEW))
    running, asked = live("eastus")
    read(asked)
    assert sum(map(at["sizes"], running.seen)) == 1


def test_sources_are_those_that_rows_name(live, kit, read):
    _, asked = live("eastus", "eastus2")
    named = set()
    for told in read(asked).values():
        named |= {p for r in told if isinstance(r, Price | Offering) for p in r.source_id.split("+")}
    own = {source.source_id for source in fetch.sources(kit.TODAY)}
    assert {retail_prices.SOURCE, resource_skus.SOURCE} <= named & own
    assert all(source.as_of == kit.TODAY for source in fetch.sources(kit.TODAY))


def test_the_calls_are_those_that_the_guide_lists(live, world, make, read):
    world.usages["eastus"] = [make.usage("cores", 0, 10)]
    running, asked = live("eastus")
    read(asked)
    for task in fetch.quota_tasks(asked):
        list(task.read())
    text = GUIDE.read_text()
    made = set()
    for request in running.seen:
        path = re.sub(r"^/subscriptions/[^/]+/providers/", "", request.path)
        made.add(re.sub("/locations/[^/]+/", "/locations/", path))
    assert made == {"/api/retail/prices", "Microsoft.Compute/skus", "Microsoft.Compute/locations/usages"}
    rights = set(re.findall(r'"(Microsoft\.[\w./*]+)"', text))
    assert rights == {f"{call}/read" for call in made if call.startswith("Microsoft.")}
    assert "https://prices.azure.com/api/retail/prices" in text
