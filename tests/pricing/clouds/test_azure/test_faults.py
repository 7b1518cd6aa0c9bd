"""Everything that goes wrong on the way, each tried on the real SDK clients."""

from __future__ import annotations

from collections import Counter
from threading import Timer

import pytest

from pricing.adapters.retries import RetryBudget
from pricing.errors import ProviderFailure
from pricing.providers.azure import clients, resource_skus

NEW = "Standard_ND144isr_GB300_v6"  # a name that Azure might give


def paths(running):
    return Counter(r.path for r in running.seen)


THROTTLED = {"error": {"code": "TooManyRequests", "message": "slow down"}}
EXPIRED = {"error": {"code": "ExpiredAuthenticationToken", "message": "The access token expiry is in the past."}}
FORBIDDEN = {"error": {"code": "AuthorizationFailed", "message": "no right to Microsoft.Compute/skus/read"}}
UNREGISTERED = {"error": {"code": "MissingSubscriptionRegistration", "message": "not registered"}}
SERVICES = pytest.mark.parametrize("service", ["prices", "sizes"])


@pytest.mark.one_in(6)
@SERVICES
@pytest.mark.parametrize(
    ("status", "headers", "half"),
    [
        (429, {"Retry-After": "0"}, False),
        (429, {}, False),
        (500, {}, False),
        (503, {}, False),
        (408, {}, False),
        (200, {}, True),
    ],
)
def test_a_fault_that_passes_loses_nothing(live, kit, service, status, headers, half, read, at):
    running, asked = live("eastus2")
    plain = read(asked)[f"{service} in eastus2"]
    whole = None if half else kit.Answer(THROTTLED, status, headers)
    running.faults = [kit.Fault(whole, times=2, half=half, where=at[service])]
    assert read(asked)[f"{service} in eastus2"] == plain
    assert not running.faults[0].times


@pytest.mark.one_in(6)
@SERVICES
@pytest.mark.parametrize(
    ("body", "status", "kind", "words"),
    [
        (THROTTLED, 429, "throttled", "429 TooManyRequests: slow down"),
        (THROTTLED, 503, "server_error", "503"),
        (EXPIRED, 401, "no_credentials", "ExpiredAuthenticationToken"),
        (FORBIDDEN, 403, "denied", "AuthorizationFailed: no right to Microsoft.Compute/skus/read"),
        (UNREGISTERED, 409, "denied", "MissingSubscriptionRegistration"),
        ({}, 404, "denied", "404"),
        ({}, 400, "changed_format", "400"),
        ("<html>sign in</html>", 200, "changed_format", ""),
        ('{"Items": [', 200, "changed_format", ""),
        ([], 200, "changed_format", ""),
        ({"Rows": [], "values": []}, 200, "changed_format", ""),
        ("", 302, "denied", "302"),
    ],
)
def test_a_fault_that_stays_is_named(live, kit, service, body, status, kind, words, read, at):
    running, asked = live("eastus2", again=False)
    running.faults = [kit.Fault(kit.Answer(body, status), times=10**6, where=at[service])]
    found = read(asked)
    failed = found[f"{service} in eastus2"]
    assert isinstance(failed, ProviderFailure)
    assert failed.kind == kind
    assert words in failed.detail
    assert failed.detail.startswith(("prices retail prices of eastus2", "compute resource_skus.list of eastus2"))
    assert {r.method for r in running.seen} == {"GET"}  # the SDK would have registered a provider by itself


@SERVICES
def test_half_an_answer_throughout(live, kit, service, read, at):
    running, asked = live("eastus2", again=False)
    running.faults = [kit.Fault(times=10**6, half=True, where=at[service])]
    assert read(asked)[f"{service} in eastus2"].kind in {"unreachable", "timed_out"}


def test_half_of_a_later_page_loses_no_row(live, kit, read):
    running, asked = live("eastus2")
    plain = read(asked)
    running.faults = [kit.Fault(half=True, where=lambda r: r.query.get("$skip") == "20")]
    assert read(asked) == plain


@SERVICES
def test_an_answer_that_comes_late_is_asked_for_again(live, kit, service, monkeypatch, read, at):
    running, asked = live("eastus2")
    plain = read(asked)[f"{service} in eastus2"]
    monkeypatch.setattr(clients, "CALL_S", 2.0)
    running.faults = [kit.Fault(wait_s=5.0, where=at[service])]
    assert read(asked)[f"{service} in eastus2"] == plain


@SERVICES
def test_the_limit_of_time_ends_a_call(live, kit, service, read, at):
    running, asked = live("eastus2", seconds=0.4)
    running.faults = [kit.Fault(wait_s=1.5, times=10**6, where=at[service])]
    failed = read(asked)[f"{service} in eastus2"]
    assert failed.kind in {"unreachable", "timed_out"}


@SERVICES
def test_a_long_wait_that_the_server_asks_for_is_not_begun(live, kit, service, read, at):
    running, asked = live("eastus2")
    running.faults = [kit.Fault(kit.Answer(THROTTLED, 429, {"Retry-After": "3600"}), where=at[service])]
    failed = read(asked)[f"{service} in eastus2"]
    assert (failed.kind, failed.retry_after_s) == ("throttled", 3600)


def test_an_interruption_ends_every_wait(live, kit, world, make, read, at):
    world.rows.append(make.row(armSkuName=NEW))
    running, asked = live("eastus")
    running.faults = [kit.Fault(kit.Answer(THROTTLED, 429, {"Retry-After": "5"}), times=10**6, where=at["sizes"])]
    timer = Timer(0.2, asked.patience.stop.set)
    timer.start()
    found = read(asked)
    timer.join()
    assert {name: failed.kind for name, failed in found.items()} == {
        "prices in eastus": "interrupted",
        "sizes in eastus": "interrupted",
    }


def test_a_link_that_comes_twice_ends(live, kit, read):
    running, asked = live("eastus2")
    again = {
        "Items": [],
        "NextPageLink": "https://prices.azure.com/api/retail/prices?$skip=10",
        "value": [],
        "nextLink": "/x",
    }
    running.faults = [kit.Fault(kit.Answer(again), times=10**6)]
    found = read(asked)
    assert "the same NextPageLink came twice" in found["prices in eastus2"].detail
    assert "the same nextLink came twice" in found["sizes in eastus2"].detail


def test_a_link_to_another_host_stays_here(live, kit, read, at):
    running, asked = live("eastus2")
    elsewhere = {"value": [], "nextLink": "http://192.0.2.1/steal?x=1"}
    running.faults = [kit.Fault(kit.Answer(elsewhere), where=at["sizes"])]
    read(asked)
    assert "/steal" in paths(running)


def test_a_shelf_tries_again_after_a_passing_failure(live, kit, at):
    running, asked = live("eastus")
    shelf = resource_skus.SkuCache(asked, clients.AzureClients(asked))
    running.faults = [kit.Fault(kit.Answer(THROTTLED, 403), where=at["sizes"])]
    with pytest.raises(ProviderFailure):
        shelf.of("eastus", RetryBudget(5))
    assert shelf.of("eastus", RetryBudget(5)).offerings
