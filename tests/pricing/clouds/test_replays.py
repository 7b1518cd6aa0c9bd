"""Every fault that a price feed has, over HTTP, for each of the three clouds, through `planner prices refresh`.

A good refresh of all three comes first. Then one cloud has the fault and the two others have new prices: the cloud with
the fault keeps its last good prices byte for byte and is named with its fault, the others land, the exit code is 4.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from planner.cli import _price_refresh
from planner.cli._exit_codes import run
from pricing.adapters.retries import RetryBudget

REGIONS = {"aws": "us-east-1", "azure": "eastus2", "gcp": "us-central1"}
SERVICES = {
    "aws": ("ec2", "pricing", "savingsplans"),
    "azure": ("compute", "prices"),
    "gcp": ("cloudbilling", "compute", "tpu"),
}
CLOUDS = tuple(REGIONS)
LONG_S = 600.0
"""Time enough on any machine; only faults that nothing else ends have less."""
HTML = {"Content-Type": "text/html"}
PAGE = "<!DOCTYPE html><html><body><p>Sign in to the guest network<br></body></html>"


def conftest_of(folder: str) -> ModuleType:
    """The worlds of one cloud are in the conftest of its tests, which no import reaches."""
    spec = spec_from_file_location(f"replayed_{folder}", Path(__file__).parent / folder / "conftest.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class FeedRow:
    """Where one row of a feed has its price: the amounts are set in place; `currency` likewise."""

    amounts: list[tuple[dict[str, Any], str]]
    currencies: list[tuple[dict[str, Any], str]]


class Feed:
    """The price feed of one cloud, as its answers spell it."""

    def __init__(self, cloud: str) -> None:
        self.cloud = cloud
        self.list_name = {"aws": "PriceList", "azure": "Items", "gcp": "skus"}[cloud]
        self.needed = {"aws": "product", "azure": "armSkuName", "gcp": "description"}[cloud]

    def is_page(self, body: object) -> bool:
        return isinstance(body, dict) and self.list_name in body

    def rows(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [
            json.loads(row) if isinstance(row, str) else json.loads(json.dumps(row)) for row in body[self.list_name]
        ]

    def with_rows(self, body: Mapping[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
        spelled = [json.dumps(row) for row in rows] if self.cloud == "aws" else rows
        return {**body, self.list_name: spelled}

    def reprice(self, row: dict[str, Any], amount: Callable[[float], float], currency: str = "USD") -> dict[str, Any]:
        return getattr(self, f"_reprice_{self.cloud}")(row, amount, currency)

    def _reprice_aws(self, row: dict[str, Any], amount: Callable[[float], float], currency: str) -> dict[str, Any]:
        for terms in row["terms"].values():
            for term in terms.values():
                for dimension in term["priceDimensions"].values():
                    usd = float(dimension["pricePerUnit"]["USD"])
                    dimension["pricePerUnit"] = {currency: f"{amount(usd):.10f}"}
        return row

    def _reprice_azure(self, row: dict[str, Any], amount: Callable[[float], float], currency: str) -> dict[str, Any]:
        for priced in (row, *row.get("savingsPlan", ())):
            priced["retailPrice"] = amount(priced["retailPrice"])
        return {**row, "currencyCode": currency}

    def _reprice_gcp(self, row: dict[str, Any], amount: Callable[[float], float], currency: str) -> dict[str, Any]:
        for info in row["pricingInfo"]:
            for tier in info["pricingExpression"]["tieredRates"]:
                money = tier["unitPrice"]
                total = round(amount(float(money["units"]) + money["nanos"] / 1e9) * 10**9)
                sign = -1 if total < 0 else 1
                units, nanos = divmod(abs(total), 10**9)
                tier["unitPrice"] = {"currencyCode": currency, "units": str(sign * units), "nanos": sign * nanos}
        return row


@dataclass(frozen=True)
class Case:
    """One fault. `make(kit)` gives what happens to every request; or `rows` changes the rows of the price feed, or
    `page` its pages. `said` is what the reader is told, one pattern for all clouds; `limit_s` the time that the
    cloud has."""

    said: str
    make: Callable[[SimpleNamespace], Any] | None = None
    rows: Callable[[Feed, list[dict[str, Any]]], list[dict[str, Any]]] | None = None
    page: Callable[[Feed, dict[str, Any], int], dict[str, Any]] | None = None
    limit_s: float = LONG_S


def refused(status: int, kind: str, **headers: str) -> Case:
    def make(kit: SimpleNamespace) -> Any:
        return kit.Fault(kit.Answer({"error": {"code": status, "message": "not now"}}, status, headers))

    return Case(kind, make)


def answered(body: object, said: str, **headers: str) -> Case:
    return Case(said, lambda kit: kit.Fault(kit.Answer(body, 200, headers)))


def repriced(amount: Callable[[float], float], said: str, currency: str = "USD") -> Case:
    return Case(said, rows=lambda feed, rows: [feed.reprice(row, amount, currency) for row in rows])


def twice(feed: Feed, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    copies = json.loads(json.dumps(rows))
    return [*rows, *(feed.reprice(row, lambda usd: usd * 1.1) for row in copies)]


def without_field(feed: Feed, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != feed.needed} for row in rows]


def paged(token: Callable[[int], str]) -> Callable[[Feed, dict[str, Any], int], dict[str, Any]]:
    def page(feed: Feed, body: dict[str, Any], count: int) -> dict[str, Any]:
        link = f"https://prices.azure.com/api/retail/prices?$skip={token(count)}"
        name = {"aws": "NextToken", "azure": "NextPageLink", "gcp": "nextPageToken"}[feed.cloud]
        return {**body, feed.list_name: [], name: link if feed.cloud == "azure" else token(count)}

    return page


LATE = "unreachable|timed out"
UNREADABLE = "changed format|server error"
CASES = {
    "throttled": refused(429, "throttled", **{"Retry-After": "3600"}),
    "server error": refused(500, "server error"),
    "unavailable": Case("server error|throttled", lambda kit: kit.Fault(kit.Answer(PAGE, 503, HTML))),
    "no answer in time": Case(LATE, lambda kit: kit.Fault(wait_s=900), limit_s=2),
    "an answer that drips": Case(LATE, lambda kit: kit.Fault(drip_s=0.2), limit_s=2),
    "connection reset": Case(LATE, lambda kit: kit.Fault(reset=True)),
    "truncated": Case(f"{LATE}|{UNREADABLE}", lambda kit: kit.Fault(half=True)),
    "a page of HTML": Case(UNREADABLE, lambda kit: kit.Fault(kit.Answer(PAGE, 200, HTML))),
    "no JSON": answered('{"Items": [{"retailPrice": ', UNREADABLE),
    "another JSON": answered([1, 2, 3], UNREADABLE),
    "unauthorized": refused(401, "no credentials"),
    "forbidden": refused(403, "denied"),
    "redirected for ever": Case(
        "denied|unreachable|changed format|timed out",
        lambda kit: kit.Fault(kit.Answer("", 302, {"Location": "/again"})),
    ),
    "an empty list": Case("changed format", page=lambda feed, *_: {feed.list_name: []}),
    "a missing field": Case("changed format", rows=without_field),
    "a price of 0": repriced(lambda _: 0.0, "changed format"),
    "a negative price": repriced(lambda usd: -usd, "changed format"),
    "another currency": repriced(lambda usd: usd, "changed format", "EUR"),
    "a price of a thousand times": repriced(lambda usd: usd * 1000, "changed format"),
    "two rows that disagree": Case("changed format", rows=twice),
    "the same page for ever": Case("changed format", page=paged(lambda _: "7")),
    "pages without an end": Case("timed out", page=paged(str), limit_s=3),
}
QUICK = {("gcp", "an empty list")}


class Replay:
    """The three clouds: `urls`, and what each answers. `raised` are those whose prices rose by a tenth."""

    def __init__(self, kit: SimpleNamespace, recorded: Any, start: Callable[[Any], Any]) -> None:
        self.kit, self.raised, self.case, self.pages = kit, set[str](), dict[str, Case](), 0
        self.limits = dict.fromkeys(CLOUDS, LONG_S)
        worlds = {"aws": self._aws(kit, recorded), "azure": self._azure(kit, recorded), "gcp": self._gcp(kit, recorded)}
        self.running = {cloud: start(self._answering(cloud, world)) for cloud, world in worlds.items()}

    def _aws(self, kit: SimpleNamespace, recorded: Any) -> Any:
        return conftest_of("test_aws").Account(kit, recorded)

    def _azure(self, kit: SimpleNamespace, recorded: Any) -> Any:
        module = conftest_of("test_azure")
        world = module.World(kit)
        world.rows = json.loads(recorded("azure", "retail-prices.eastus2.recorded.json"))["Items"]
        world.skus = {"eastus2": [module.sku("Standard_ND96isr_H100_v5", "standardNDSH100v5Family", 8, "eastus2")]}
        return world

    def _gcp(self, kit: SimpleNamespace, recorded: Any) -> Any:
        module = conftest_of("test_gcp")
        return module.World(kit, module._table(recorded, "rates.csv"), module._table(recorded, "tpu-rates.csv"))

    def _answering(self, cloud: str, world: Any) -> Callable[[Any], Any]:
        feed = Feed(cloud)

        def answer(request: Any) -> Any:
            case = self.case.get(cloud)
            if case is not None and case.page is not None:  # the world knows no page of such a number
                query = {name: value for name, value in request.query.items() if name not in ("$skip", "pageToken")}
                body = re.sub(rb',? ?"NextToken": ?"\d+"', b"", request.body)
                request = replace(request, query=query, body=body)
            given = world.answer(request)
            body = json.loads(given.data) if given.data.startswith(b"{") else None
            if not feed.is_page(body):
                return given
            if cloud in self.raised:
                body = feed.with_rows(body, [feed.reprice(row, lambda usd: usd * 1.1) for row in feed.rows(body)])
            if case is not None and case.rows is not None:
                body = feed.with_rows(body, case.rows(feed, feed.rows(body)))
            if case is not None and case.page is not None:
                self.pages += 1
                body = case.page(feed, body, self.pages)
            return replace(given, body=json.dumps(body))

        return answer

    def break_down(self, cloud: str, case: Case) -> None:
        self.raised = set(CLOUDS)  # of the cloud with the fault as well: what is kept is old
        self.case[cloud] = case
        self.limits[cloud] = case.limit_s
        if case.make is not None:
            self.running[cloud].faults.append(replace(case.make(self.kit), times=10**9))

    def refresh(self, monkeypatch: pytest.MonkeyPatch) -> int:
        """The exit code. Each cloud has its own limit of time, and pauses are short."""
        limits = iter(self.limits.values())
        monkeypatch.setattr(_price_refresh, "RetryBudget", lambda _: RetryBudget(next(limits), first_pause_s=0.05))
        words = [f"{c}.{s}={self.running[c].url}" for c in CLOUDS for s in SERVICES[c]]
        endpoints = [word for address in words for word in ("--endpoint", address)]
        providers, regions = ",".join(CLOUDS), ",".join(REGIONS.values())
        return run(["prices", "refresh", "--provider", providers, "--regions", regions, *endpoints])


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No account of whoever runs this, and a data folder of the test's own."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AZURE_SUBSCRIPTION_ID", "00000000-1111-2222-3333-444444444444")
    monkeypatch.setenv("GPU_PLANNER_DATA", str(tmp_path / "data"))


@pytest.fixture
def replay(kit: SimpleNamespace, recorded: Any, cloud: Any) -> Replay:
    return Replay(kit, recorded, cloud)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The data folder after a good refresh of all three, made once."""
    return {"data": tmp_path_factory.mktemp("good") / "data"}


@pytest.fixture
def data(good: dict[str, Path], replay: Replay, tmp_path: Path, capfd: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    if not good["data"].exists():
        assert replay.refresh(monkeypatch) == 0, capfd.readouterr().err
        shutil.copytree(tmp_path / "data", good["data"])
    else:
        shutil.copytree(good["data"], tmp_path / "data")
    capfd.readouterr()
    return tmp_path / "data" / "snapshots"


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a provider but the list of rows that are held, which is of the last refresh."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != "quarantine.csv"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def cases() -> Iterator[Any]:
    for cloud in CLOUDS:
        for name in CASES:
            marks = () if (cloud, name) in QUICK else (pytest.mark.slow,)
            yield pytest.param(cloud, name, id=f"{cloud}: {name}", marks=marks)


@pytest.mark.parametrize(("cloud_name", "fault"), [*cases()])
def test_a_fault_costs_its_cloud_nothing_but_the_news(replay, data, capfd, monkeypatch, cloud_name, fault):
    before = {each: contents(data / each) for each in CLOUDS}
    replay.break_down(cloud_name, CASES[fault])
    begun = time.monotonic()
    code = replay.refresh(monkeypatch)
    took = time.monotonic() - begun
    out, err = capfd.readouterr()
    assert code == 4, out + err
    assert contents(data / cloud_name) == before[cloud_name]
    for other in set(CLOUDS) - {cloud_name}:
        assert (data / other / "current").read_text().splitlines()[-1].endswith("-002"), other
        assert f"planner: {other}" not in err
    assert re.search(rf"^planner: {cloud_name}: .*({CASES[fault].said})", err, re.MULTILINE), err
    assert "Traceback" not in out + err
    assert "internal error" not in err
    assert took < LONG_S / 2, "it was not the time limit that ended it, or that was short"
