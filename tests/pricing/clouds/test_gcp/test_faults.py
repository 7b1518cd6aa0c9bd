"""What goes wrong between us and Google Cloud, tried against the real clients; and what is called with which right."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from threading import Timer

import pytest

from pricing.errors import ProviderFailure
from pricing.providers.gcp import fetch, sku_rates
from pricing.providers.gcp.clients import ApiCall, GcpClients, classify_error

GUIDE = Path(__file__).parents[4] / "docs" / "guides" / "access-gcp.md"
CALL = ApiCall("compute", "machineTypes.aggregatedList", "projects/p")


@pytest.fixture
def failing(asked):
    """failing(fault) -> reads the rates of Compute Engine past that fault; gives them and the running cloud."""

    def read(*faults, **how):
        ask, running = asked(**how)
        running.faults += faults
        return sku_rates.compute_rates(ask, GcpClients(ask)), running

    return read


def error(kit, status, message, reason=None, **headers):
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}] if reason else []
    return kit.Answer({"error": {"code": status, "message": message, "details": details}}, status, headers)


def test_throttling_is_waited_out(failing, kit):
    found, running = failing(kit.Fault(error(kit, 429, "slow down", **{"Retry-After": "0"}), times=3))
    assert found.by
    assert len(running.seen) == 3 + 3


def test_throttling_to_the_end_is_said(failing, kit):
    with pytest.raises(ProviderFailure, match=r"429 .*slow down") as failed:
        failing(kit.Fault(error(kit, 429, "slow down", **{"Retry-After": "3600"}), times=9**9))
    assert failed.value.kind == "throttled"
    assert failed.value.retry_after_s == 3600
    assert "cloudbilling list_skus of services/6F81-5844-456A" in failed.value.detail


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ((403, "Permission 'compute.machineTypes.list' denied"), "denied"),
        ((403, "Rate Limit Exceeded", "rateLimitExceeded"), "throttled"),
        ((404, "project not found"), "denied"),
        ((400, "Invalid value for field"), "changed_format"),
        ((500, "Internal error"), "server_error"),
        ((503, "The service is currently unavailable"), "server_error"),
        ((504, "Deadline exceeded"), "unreachable"),
    ],
)
def test_what_an_answer_means(failing, kit, answer, kind):
    with pytest.raises(ProviderFailure) as failed:
        failing(kit.Fault(error(kit, *answer), times=9**9), again=False)
    assert failed.value.kind == kind
    assert f"{answer[0]} " in failed.value.detail
    assert answer[1] in failed.value.detail


def test_an_expired_credential_fails_at_once(failing, kit):
    fault = kit.Fault(error(kit, 401, "token expired"), times=9**9)
    with pytest.raises(ProviderFailure) as failed:
        failing(fault)
    assert failed.value.kind == "no_credentials"
    assert fault.times == 9**9 - 1


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_server_error_is_tried_again(failing, kit, status):
    assert failing(kit.Fault(error(kit, status, "try later"), times=2))[0].by


def test_half_a_page_is_read_again(failing, kit):
    found, running = failing(kit.Fault(half=True, times=1, where=lambda r: r.query.get("pageToken") == "20"))
    assert found.by
    assert [r.query.get("pageToken", "") for r in running.seen] == ["", "20", "20", "40"]


def test_half_pages_to_the_end_are_said(failing, kit):
    with pytest.raises(ProviderFailure) as failed:
        failing(kit.Fault(half=True, times=9**9), again=False)
    assert failed.value.kind in {"unreachable", "timed_out"}


@pytest.mark.parametrize("body", ["{", "<html>login</html>", '{"skus": [{"description": 7}]}', '{"skus": {}}'])
def test_a_body_of_another_shape_is_a_changed_format(failing, kit, body):
    with pytest.raises(ProviderFailure) as failed:
        failing(kit.Fault(kit.Answer(body), times=9**9))
    assert failed.value.kind == "changed_format"


def test_a_call_that_does_not_answer_ends_in_time(failing, kit):
    with pytest.raises(ProviderFailure) as failed:
        failing(kit.Fault(wait_s=1.0, times=9**9), seconds=0.3)
    assert failed.value.kind in {"unreachable", "timed_out"}


def test_a_slow_call_is_tried_again(failing, kit, monkeypatch):
    monkeypatch.setattr("pricing.providers.gcp.clients.CALL_S", 2.0)
    assert failing(kit.Fault(wait_s=5.0, times=1))[0].by


def test_nobody_listens(ask):
    nobody = ask("gcp", {"cloudbilling": "http://127.0.0.1:9"}, again=False)
    with pytest.raises(ProviderFailure) as failed:
        sku_rates.compute_rates(nobody, GcpClients(nobody))
    assert failed.value.kind in {"unreachable", "timed_out"}


def test_an_interruption_ends_the_wait(asked, kit):
    ask, running = asked()
    running.faults.append(kit.Fault(error(kit, 429, "slow down", **{"Retry-After": "50"}), times=9**9))
    Timer(0.2, ask.patience.stop.set).start()
    with pytest.raises(ProviderFailure) as failed:
        sku_rates.compute_rates(ask, GcpClients(ask))
    assert failed.value.kind == "interrupted"


def test_a_page_that_leads_to_itself_is_no_endless_list(cloud, ask, kit):
    running = cloud(lambda _: kit.Answer({"skus": [], "nextPageToken": "same"}))
    asked_of = ask("gcp", {"cloudbilling": running.url})
    with pytest.raises(ProviderFailure, match="the same next_page_token came twice"):
        sku_rates.compute_rates(asked_of, GcpClients(asked_of))


def test_a_failure_of_the_tpu_service_costs_only_tpu_prices(asked, readings, kit):
    ask, running = asked()
    denied = kit.Fault(error(kit, 403, "no"), times=9**9, where=lambda r: r.path == "/v1/services")
    running.faults.append(denied)
    assert readings(ask, "prices of machines with GPUs")["Price"]
    with pytest.raises(ProviderFailure, match="list_services"):
        readings(ask, "prices of TPUs")


def test_feeds_that_tasks_share_are_read_once(asked):
    ask, running = asked()
    for task in fetch.tasks(ask):
        assert list(task.read())
    first = [r for r in running.seen if "pageToken" not in r.query]
    assert len({r.path for r in first}) == len(first)


def test_plain_http_is_for_this_machine_alone(ask):
    far = ask("gcp", {"cloudbilling": "http://prices.example.org"})
    with pytest.raises(ProviderFailure, match="plain http is only allowed to this machine") as failed:
        sku_rates.compute_rates(far, GcpClients(far))
    assert failed.value.kind == "denied"


def test_no_credential_is_sent_to_this_machine(asked):
    ask, running = asked()
    for task in fetch.tasks(ask):
        list(task.read())
    assert not [r for r in running.seen if "Authorization" in r.headers or "X-Goog-Api-Key" in r.headers]


def test_without_credentials_the_way_to_them_is_told(ask, monkeypatch, tmp_path):
    for name in ("GOOGLE_CLOUD_PROJECT", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    nothing = ask("gcp", {})
    with pytest.raises(ProviderFailure, match=r"google-auth default.*credentials were not found") as failed:
        GcpClients(nothing).catalog()
    assert failed.value.kind == "no_credentials"


def test_a_revoked_credential_does_not_reveal_itself(ask, kit, cloud, monkeypatch, tmp_path):
    """The real token request, against a token service that says no."""
    secret = "made-up-refresh-token"
    tokens = cloud(lambda _: kit.Answer({"error": "invalid_grant", "error_description": "Token revoked."}, 400))
    user = {"type": "authorized_user", "client_id": "i", "client_secret": "s", "refresh_token": secret}
    file = tmp_path / "adc.json"
    file.write_text(json.dumps({**user, "quota_project_id": "p"}))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    monkeypatch.setattr("google.oauth2.credentials._GOOGLE_OAUTH2_TOKEN_ENDPOINT", tokens.url)
    import google.auth.transport.requests

    clients = GcpClients(ask("gcp", {}))
    credentials, _ = clients._default_credentials()
    with pytest.raises(ProviderFailure) as failed:
        clients.call(CALL, lambda _: credentials.refresh(google.auth.transport.requests.Request()))
    assert failed.value.kind == "no_credentials"
    assert "invalid_grant" in failed.value.detail
    assert secret not in failed.value.detail
    assert len(tokens.seen) == 1


def test_a_missing_sdk_says_what_to_install(asked, monkeypatch):
    ask, _ = asked()
    monkeypatch.setitem(sys.modules, "google.cloud.billing_v1", None)
    with pytest.raises(ProviderFailure, match=re.escape("pip install 'gpu-planner[gcp]'")) as failed:
        sku_rates.compute_rates(ask, GcpClients(ask))
    assert failed.value.kind == "no_sdk"


def test_over_grpc_errors_mean_the_same():
    from google.api_core import exceptions as api
    from google.rpc import error_details_pb2

    info = error_details_pb2.RetryInfo(retry_delay={"seconds": 7})
    throttled = classify_error(CALL, api.ResourceExhausted("quota", details=[info]))
    assert (throttled.kind, throttled.retry_after_s) == ("throttled", 7)
    plugin = api.ServiceUnavailable("Getting metadata from plugin failed with error: Reauthentication is needed")
    assert classify_error(CALL, plugin).kind == "no_credentials"
    assert classify_error(CALL, api.DeadlineExceeded("late")).kind == "unreachable"
    assert classify_error(CALL, api.PermissionDenied("no")).kind == "denied"
    assert classify_error(CALL, api.Unauthenticated("who")).kind == "no_credentials"
    assert classify_error(CALL, api.Unauthorized("token expired")).detail == f"{CALL}: 401 token expired"


def test_an_https_endpoint_keeps_the_default_transport(ask, monkeypatch):
    made = {}
    proxied = GcpClients(ask("gcp", {"cloudbilling": "https://proxy.example.org"}))
    monkeypatch.setattr(proxied, "_default_credentials", lambda: ("credentials", "p"))
    proxied._make_client("cloudbilling", lambda **how: made.update(how))
    assert made == {"credentials": "credentials", "client_options": {"api_endpoint": "proxy.example.org"}}


def test_the_guide_lists_the_calls_that_are_made_and_no_other(asked, world):
    """Each row of the guide's table: call, right, what it gives. What the adapter called here is exactly that."""
    world.quotas["us-central1"] = [{"metric": "NVIDIA_T4_GPUS", "limit": 1, "usage": 0}]
    ask, running = asked()
    for task in (*fetch.tasks(ask), *fetch.quota_tasks(ask)):
        list(task.read())
    called = {_pattern(request) for request in running.seen}
    told = set(re.findall(r"^\| `(GET [^`]+)` \|", GUIDE.read_text(encoding="utf-8"), re.MULTILINE))
    assert called == told


def _pattern(request):
    path = re.sub(r"/projects/[^/]+", "/projects/PROJECT", request.path)
    path = re.sub(r"/locations/[^/]+/", "/locations/ZONE/", path)
    return f"{request.method} " + re.sub(r"/services/[^/]+/", "/services/SERVICE/", path)


def test_sources_name_what_rows_name(asked):
    ask, _ = asked()
    ids = {source.source_id for source in fetch.sources(ask.today)}
    named = set()
    for task in fetch.tasks(ask):
        for reading in task.read():
            named.add(getattr(reading, "source_id", None))
    assert named - {None} <= ids
    assert all(source.as_of == ask.today for source in fetch.sources(ask.today))


def test_a_type_that_is_known_only_by_the_zones_is_priced(asked, readings):
    """A first refresh, with nothing known: shapes come from the zones."""
    ask, _ = asked()
    empty = replace(ask, known={})
    found = readings(empty, "prices of machines with GPUs")["Price"]
    priced = {(p.instance_type, p.purchase_option): p.price_per_hour for p in found}
    assert priced["a3-highgpu-8g", "on_demand"] == pytest.approx(88.489999903)
