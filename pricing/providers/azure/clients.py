"""The SDK's clients: credentials, addresses, time limits, pages, and the classification of errors.

Only this module imports azure-core, azure-identity or azure-mgmt-compute; other modules interpret the answers. The
pipelines do not retry (`RetryBudget` does), follow no redirects and write no logs. They never register a resource
provider, which the SDK's own pipeline does unasked and which is a write.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from pricing.adapters.api_calls import CALL_S, ApiCall, summarize_error, uses_plain_http
from pricing.adapters.protocol import FetchRequest
from pricing.adapters.retries import RetryBudget
from pricing.errors import FailureKind, ProviderFailure

T = TypeVar("T")

ADDRESSES = {"compute": "https://management.azure.com", "prices": "https://prices.azure.com"}
SUBSCRIPTION = "AZURE_SUBSCRIPTION_ID"
PRICES_PATH = "/api/retail/prices"
PRICES_VERSION = "2023-01-01-preview"
"""The version that has savings plans: learn.microsoft.com/rest/api/cost-management/retail-prices."""
NO_SDK = "pip install 'gpu-planner[azure]'"
_IMPORTING = Lock()
FAILURE_KINDS: dict[int, FailureKind] = {
    400: "changed_format",
    401: "no_credentials",
    408: "unreachable",
    429: "throttled",
}


class MissingSubscription(ProviderFailure):
    """No subscription is named. Prices need none, so a refresh is whole without; sizes and quotas do."""


class AzureClients:
    """Clients of one refresh. Each connects, and looks for credentials, on first use."""

    def __init__(self, request: FetchRequest) -> None:
        self._request = request
        self._lock = Lock()
        self._credential: Any = None

    def retail_prices(self, region: str, currency: str) -> Iterator[list[dict[str, Any]]]:
        """Every page of the public price feed for virtual machines in a region. Needs no credential."""
        call = ApiCall("prices", "retail prices", region)
        base = self._service_address("prices")
        filter_text = f"serviceName eq 'Virtual Machines' and armRegionName eq '{region}'"
        query = {"api-version": PRICES_VERSION, "currencyCode": f"'{currency}'", "$filter": filter_text}
        links = set()
        with _sdk():
            from azure.core import PipelineClient
            from azure.core.pipeline.policies import UserAgentPolicy
        policies = [UserAgentPolicy("gpu-planner")]
        made: Any = PipelineClient(base, policies=policies, transport=self._make_transport(base))
        with made as client:
            while True:
                url = f"{base}{PRICES_PATH}?{urlencode(query, quote_via=quote)}"
                page = self.call(call, partial(_get_json, client, url), self._request.patience)
                yield _require_field(call, page, "Items", list)
                link = _require_field(call, page, "NextPageLink", str | None)
                if not link:
                    return
                if link in links:
                    raise ProviderFailure("changed_format", f"{call}: the same NextPageLink came twice")
                links.add(link)
                query |= dict(parse_qsl(urlsplit(link).query))  # only the query: the address is that of the first page

    def resource_skus(self, region: str, patience: RetryBudget) -> Iterator[list[Any]]:
        """Every page of resource_skus.list in a region: models of the SDK."""
        call = ApiCall("compute", "resource_skus.list", region)
        with self._make_compute_client() as client:
            yield from self._list_pages(
                call, partial(client.resource_skus.list, filter=f"location eq '{region}'"), patience
            )

    def usages(self, region: str) -> Iterator[list[Any]]:
        """Every page of usage.list in a region: models of the SDK."""
        call = ApiCall("compute", "usage.list", region)
        with self._make_compute_client() as client:
            yield from self._list_pages(call, partial(client.usage.list, region), self._request.patience)

    def call(self, call: ApiCall, function: Callable[[dict[str, float]], T], patience: RetryBudget) -> T:
        """The result of `function(time limits)`, with retries within `patience`."""

        def once() -> T:
            limit_s = max(0.1, min(CALL_S, patience.left_s))
            return function({"connection_timeout": limit_s, "read_timeout": limit_s})

        return patience.call(once, partial(classify_error, call))

    def _list_pages(self, call: ApiCall, method: Callable[..., Any], patience: RetryBudget) -> Iterator[list[Any]]:
        """Each page is a separate list call: the SDK's pager cannot be used again after an error in a page."""
        base = urlsplit(self._service_address("compute"))
        link: str | None = None
        links: set[str | None] = {None}

        def page(limits: dict[str, float]) -> tuple[list[Any], str | None]:
            pages = method(**limits).by_page(continuation_token=link)
            return list(next(pages)), pages.continuation_token

        while True:
            rows, following = self.call(call, page, patience)
            yield rows
            if not following:
                return
            after = urlsplit(following)
            path = base.path + after.path.removeprefix(base.path)
            link = base._replace(path=path, query=after.query).geturl()  # never another host: the call has the token
            if link in links:
                raise ProviderFailure("changed_format", f"{call}: the same nextLink came twice")
            links.add(link)

    def _make_compute_client(self) -> Any:
        """ComputeManagementClient; over plain HTTP without an Authorization header."""
        subscription = os.environ.get(SUBSCRIPTION, "").strip()
        if not subscription:
            raise MissingSubscription("no_credentials", f"no subscription is set: name one in {SUBSCRIPTION}")
        base = self._service_address("compute")
        with _sdk():
            from azure.core.pipeline.policies import SansIOHTTPPolicy, UserAgentPolicy
            from azure.mgmt.compute import ComputeManagementClient
            from azure.mgmt.core.policies import ARMChallengeAuthenticationPolicy
        plain = uses_plain_http("compute", base)
        credential = _NoCredential() if plain else self._default_credential()
        policy: Any = (
            SansIOHTTPPolicy() if plain else ARMChallengeAuthenticationPolicy(credential, *_token_scopes(base))
        )
        return ComputeManagementClient(
            credential,
            subscription,
            base_url=base,
            authentication_policy=policy,
            policies=[UserAgentPolicy("gpu-planner"), policy],
            transport=self._make_transport(base),
        )

    def _default_credential(self) -> Any:
        """The SDK's own credential chain, created once, since it caches its tokens."""
        with self._lock:
            if self._credential is None:
                with _sdk():
                    from azure.identity import DefaultAzureCredential
                self._credential = DefaultAzureCredential()
            return self._credential

    def _service_address(self, service: str) -> str:
        address = self._request.endpoints.get(service, ADDRESSES[service]).rstrip("/")
        parts = urlsplit(address)
        if not uses_plain_http(service, address) and (parts.scheme != "https" or not parts.hostname):
            raise ProviderFailure("denied", f"{service}: the address is no https:// address")
        return address

    def _make_transport(self, base: str) -> Any:
        """A transport that uses no proxy and no .netrc for calls to this machine."""
        with _sdk():
            from azure.core.pipeline.transport import RequestsTransport
        return RequestsTransport(use_env_settings=not base.startswith("http:"))


class _NoCredential:
    """The credential for plain HTTP, where none may be sent."""

    def get_token(self, *_: str, **__: Any) -> Any:
        raise ProviderFailure("denied", "no token is sent over plain http")


class _sdk:  # noqa: N801  # reads as a statement: with _sdk(): import ...
    """Reports a missing SDK as such, and lets one thread import at a time.

    Modules of azure-core import each other in cycles, in which two importing threads would deadlock.
    """

    def __enter__(self) -> None:
        _IMPORTING.acquire()

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        _IMPORTING.release()
        if isinstance(error, ImportError):
            raise ProviderFailure("no_sdk", NO_SDK) from error


def _token_scopes(base: str) -> list[str]:
    """The scopes for a token: those of the sovereign cloud with this address, else of the public cloud."""
    with _sdk():
        from azure.core import AzureClouds
        from azure.mgmt.core.tools import get_arm_endpoints
    known = {urlsplit(e["resource_manager"]).hostname: e for e in map(get_arm_endpoints, AzureClouds)}
    public = get_arm_endpoints(AzureClouds.AZURE_PUBLIC_CLOUD)
    scopes: list[str] = known.get(urlsplit(base).hostname, public)["credential_scopes"]
    return scopes


def _get_json(client: Any, url: str, limits: dict[str, float]) -> Any:
    with _sdk():
        from azure.core.exceptions import HttpResponseError
        from azure.core.rest import HttpRequest
    response = client.send_request(HttpRequest("GET", url), **limits)
    if response.status_code != 200:
        raise HttpResponseError(response=response)
    return response.json()


def _require_field(call: ApiCall, answer: Any, name: str, kind: Any) -> Any:
    """A field of an answer; raises ProviderFailure if it is missing or of another kind."""
    if not isinstance(answer, dict) or not isinstance(answer.get(name, ...), kind):
        raise ProviderFailure("changed_format", f"{call}: {name} is missing or of another kind")
    return answer[name]


def classify_error(call: ApiCall, error: Exception) -> ProviderFailure:
    """The failure that an exception of the SDK, its transport or azure-identity stands for."""
    with _sdk():
        from azure.core import exceptions as azure
    error_body = getattr(error, "error", None)  # the body of an error response in the usual format
    text = (
        f"{error_body.code}: {error_body.message}"
        if error_body is not None
        else str(getattr(error, "message", "") or error)
    )
    words = summarize_error(text)
    late = (azure.ServiceRequestTimeoutError, azure.ServiceResponseTimeoutError)
    lost = (azure.ServiceRequestError, azure.ServiceResponseError)
    other = (azure.DecodeError, ValueError, KeyError, TypeError, AttributeError)
    meanings: tuple[tuple[Any, FailureKind, str], ...] = (
        (azure.IncompleteReadError, "unreachable", "the answer was cut"),
        (other, "changed_format", f"{type(error).__name__}: {words}"),
        (azure.ClientAuthenticationError, "no_credentials", words),  # missing, expired or revoked
        (late, "unreachable", f"no answer within {CALL_S:g} s or the time left"),
        (lost, "unreachable", type(error).__name__),
    )
    for types, kind, meaning in meanings:
        if isinstance(error, types):
            return ProviderFailure(kind, f"{call}: {meaning}")
    status = getattr(error, "status_code", None)
    if status is None:
        return ProviderFailure("changed_format", f"{call}: {type(error).__name__}: {words}")
    kind = FAILURE_KINDS.get(status, "server_error" if status >= 500 else "denied")
    return ProviderFailure(kind, f"{call}: {status} {words}", _retry_after(error))


def _retry_after(error: Any) -> float | None:
    """The wait in seconds that the server requires."""
    stated = str(getattr(error.response, "headers", {}).get("Retry-After", ""))
    return float(stated) if stated.isascii() and stated.isdecimal() else None
