"""AWS on this machine: moto's server where moto has real data (types, zones, regions), else a replay of answers."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from pricing.providers.aws import fetch
from pricing.providers.aws.clients import AwsClients

EC2 = '<?xml version="1.0" encoding="UTF-8"?><{0} xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">{1}</{0}>'
REGION = "us-east-1"


@pytest.fixture(autouse=True)
def _no_account(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    """No key, profile or metadata service of whoever runs this."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))


@pytest.fixture(scope="session", autouse=True)
def _sdk_reads_its_models_once() -> Iterator[None]:
    """Every session reads megabytes of them, and there is one in every test; a loader keeps what it has read."""
    import botocore.session

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(botocore.session, "create_loader", cache(botocore.session.create_loader))
        yield


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    """The address of moto's server."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


class Account:
    """What the replayed services answer; a test changes it. Amounts are texts, as the services give them."""

    def __init__(self, kit: SimpleNamespace, recorded: Callable[[str, str], bytes]) -> None:
        self._kit = kit
        self.products: list[list[str]] = [json.loads(recorded("aws", "get-products.gpu.json"))["PriceList"]]
        self.quotas = json.loads(recorded("aws", "list-service-quotas.json"))["Quotas"]
        self.spot: list[tuple[str, str, str, str]] = []  # type, zone, price, time
        self.blocks: dict[tuple[str, int], list[dict[str, Any]]] = {}  # by type and hours
        self.rates: dict[str, list[dict[str, Any]]] = {"Compute": [], "EC2Instance": []}
        self.product = "Linux/UNIX"
        self.classes = ["on-demand", "spot", "capacity-block"]
        self.types = ["p4d.24xlarge", "p5.48xlarge"]
        self.zones = [REGION + "a", REGION + "b"]
        self.regions = [REGION]

    def answer(self, request: Any) -> Any:
        target = request.headers.get("X-Amz-Target", "")
        if target == "AWSPriceListService.GetProducts":
            return self._products(request.json)
        if target == "ServiceQuotasV20190624.ListServiceQuotas":
            return self._json({"Quotas": self.quotas})
        if request.path == "/DescribeSavingsPlansOfferingRates":
            return self._kit.Answer({"searchResults": self.rates[request.json["savingsPlanTypes"][0]]})
        return getattr(self, request.form["Action"])(request.form)

    def _json(self, body: object) -> Any:
        return self._kit.Answer(json.dumps(body), headers={"Content-Type": "application/x-amz-json-1.1"})

    def _products(self, asked: Mapping[str, Any]) -> Any:
        number = int(asked.get("NextToken") or 0)
        more = {"NextToken": str(number + 1)} if number + 1 < len(self.products) else {}
        return self._json({"FormatVersion": "aws_v1", "PriceList": self.products[number], **more})

    def _xml(self, action: str, items: str) -> Any:
        return self._kit.Answer(EC2.format(f"{action}Response", items), headers={"Content-Type": "text/xml"})

    def DescribeRegions(self, _: Mapping[str, str]) -> Any:  # noqa: N802  (named as the action)
        items = "".join(f"<item><regionName>{name}</regionName></item>" for name in self.regions)
        return self._xml("DescribeRegions", f"<regionInfo>{items}</regionInfo>")

    def DescribeInstanceTypeOfferings(self, _: Mapping[str, str]) -> Any:  # noqa: N802
        items = "".join(
            f"<item><instanceType>{name}</instanceType><location>{zone}</location></item>"
            for name in self.types
            for zone in self.zones
        )
        return self._xml("DescribeInstanceTypeOfferings", f"<instanceTypeOfferingSet>{items}</instanceTypeOfferingSet>")

    def DescribeInstanceTypes(self, _: Mapping[str, str]) -> Any:  # noqa: N802
        classes = "".join(f"<item>{name}</item>" for name in self.classes)
        items = "".join(
            f"<item><instanceType>{name}</instanceType><vCpuInfo><defaultVCpus>96</defaultVCpus></vCpuInfo>"
            "<memoryInfo><sizeInMiB>1179648</sizeInMiB></memoryInfo><gpuInfo><gpus><item><name>any</name>"
            "<count>8</count><memoryInfo><sizeInMiB>40960</sizeInMiB></memoryInfo></item></gpus></gpuInfo>"
            f"<supportedUsageClasses>{classes}</supportedUsageClasses></item>"
            for name in self.types
        )
        return self._xml("DescribeInstanceTypes", f"<instanceTypeSet>{items}</instanceTypeSet>")

    def DescribeSpotPriceHistory(self, form: Mapping[str, str]) -> Any:  # noqa: N802
        asked = {value for name, value in form.items() if name.startswith("InstanceType.")}
        items = "".join(
            f"<item><instanceType>{name}</instanceType><productDescription>{self.product}</productDescription>"
            f"<spotPrice>{price}</spotPrice><timestamp>{at}</timestamp><availabilityZone>{zone}</availabilityZone></item>"
            for name, zone, price, at in self.spot
            if name in asked
        )
        return self._xml("DescribeSpotPriceHistory", f"<spotPriceHistorySet>{items}</spotPriceHistorySet>")

    def DescribeCapacityBlockOfferings(self, form: Mapping[str, str]) -> Any:  # noqa: N802
        name = form.get("InstanceType") or form.get("UltraserverType", "")
        found = self.blocks.get((name, int(form["CapacityDurationHours"])), [])
        items = "".join(
            "<item>" + "".join(f"<{key}>{value}</{key}>" for key, value in offer.items()) + "</item>" for offer in found
        )
        return self._xml(
            "DescribeCapacityBlockOfferings", f"<capacityBlockOfferingSet>{items}</capacityBlockOfferingSet>"
        )


@pytest.fixture
def account(kit, recorded) -> Account:
    return Account(kit, recorded)


@pytest.fixture
def aws(cloud, account, ask) -> Callable[..., SimpleNamespace]:
    """AWS as `account` has it: aws() gives the running `cloud`, the `ask`, and `read(task)` -> its readings."""

    def start(**more: Any) -> SimpleNamespace:
        running = cloud(account.answer)
        more = {"regions": (REGION,), **more}
        made = ask("aws", dict.fromkeys(fetch.SERVICES, running.url), **more)

        def read(name: str) -> list[Any]:
            (task,) = [task for task in fetch.tasks(made) if task.name == f"{name} in {REGION}"]
            return list(task.read())

        return SimpleNamespace(cloud=running, ask=made, read=read, clients=AwsClients(made))

    return start


@pytest.fixture
def refresh() -> Callable[..., list[str]]:
    """The arguments of a refresh of one region from the replayed account, which has fewer rows than the real one:
    what is missing there is kept, and told."""

    def arguments(url: str, *more: str) -> list[str]:
        endpoints = [word for service in fetch.SERVICES for word in ("--endpoint", f"aws.{service}={url}")]
        return ["prices", "refresh", "--provider", "aws", "--regions", REGION, *endpoints, *more]

    return arguments
