"""The SDK's clients, one call at a time: credentials, addresses, time limits, pages, and what an error means.

Everything that knows google-auth, api-core or a transport is here; what the answers mean is not. The SDK's own
retries are off: `Patience` is the one that tries again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pricing.adapters.api_calls import CALL_S, ApiCall, uses_plain_http
from pricing.adapters.api_calls import summarize_error as told
from pricing.adapters.protocol import FetchRequest
from pricing.errors import FailureKind, ProviderFailure

T = TypeVar("T")

SCOPE = "https://www.googleapis.com/auth/cloud-platform"  # what a principal may do is up to its roles; see the guide
IMPORT_LOCK = Lock()
NO_SDK = "pip install 'gpu-planner[gcp]'"


class GcpClients:
    """Clients of one refresh. Nothing is connected before it is asked for."""

    def __init__(self, request: FetchRequest) -> None:
        self._request = request
        self.patience = request.patience

    def catalog(self) -> Any:
        """billing_v1.CloudCatalogClient."""
        return self._make_client("cloudbilling", import_sdk("cloud.billing_v1").CloudCatalogClient)

    def compute(self, name: str) -> Any:
        """compute_v1's client of that name (MachineTypesClient ...)."""
        return self._make_client("compute", getattr(import_sdk("cloud.compute_v1"), name))

    def tpu(self) -> Any:
        """tpu_v2.TpuClient."""
        return self._make_client("tpu", import_sdk("cloud.tpu_v2").TpuClient)

    def project(self) -> str:
        """The project whose zones and quotas are read. Raises Failed where none is set."""
        named = os.environ.get("GOOGLE_CLOUD_PROJECT", "")
        if not named and self._is_anonymous("compute"):
            return "loopback"
        project = named or self._default_credentials()[1]
        if not project:
            raise ProviderFailure("no_credentials", "no project is set: name one in GOOGLE_CLOUD_PROJECT")
        return str(project)

    def call(self, call: ApiCall, what: Callable[[float], T]) -> T:
        """`what(timeout_s)`, tried again as patience allows."""

        def once() -> T:
            return what(max(0.1, min(CALL_S, self.patience.left_s)))

        return self.patience.call(once, partial(classify_error, call))

    def pages(self, call: ApiCall, method: Any, api_request: Any) -> Iterator[Any]:
        """Every page of a list, each a call of its own; `api_request` is moved on from page to page."""
        seen = {""}

        def page(timeout_s: float) -> Any:
            return next(iter(method(request=api_request, retry=None, timeout=timeout_s).pages))

        while True:
            answer = self.call(call, page)
            yield answer
            token = answer.next_page_token
            if not token:
                return
            if token in seen:
                raise ProviderFailure("changed_format", f"{call}: the same next_page_token came twice")
            seen.add(token)
            api_request.page_token = token

    def _is_anonymous(self, service: str) -> bool:
        return uses_plain_http(service, self._request.endpoints.get(service))

    def _make_client(self, service: str, make: Any) -> Any:
        address = self._request.endpoints.get(service)
        if self._is_anonymous(service):
            nobody = import_sdk("auth.credentials").AnonymousCredentials()
            return make(credentials=nobody, transport="rest", client_options={"api_endpoint": address})
        host = urlsplit(address).netloc or address if address else None
        return make(credentials=self._default_credentials()[0], client_options={"api_endpoint": host} if host else None)

    def _default_credentials(self) -> tuple[Any, str | None]:
        auth = import_sdk("auth")
        call = ApiCall("google-auth", "default", "this machine")
        credentials, project = self.call(call, lambda _: auth.default(scopes=[SCOPE]))
        return credentials, project


def import_sdk(module: str) -> Any:
    """google.MODULE, loaded now; Failed where the extra is not installed."""
    try:
        with IMPORT_LOCK:  # first imports of one package from two threads can end in a deadlock
            return import_module(f"google.{module}")
    except ImportError as error:
        raise ProviderFailure("no_sdk", NO_SDK) from error


def classify_error(call: ApiCall, error: Exception) -> ProviderFailure:
    """What an exception of the SDK, of its transports or of google-auth means."""
    import google.auth.exceptions as auth
    from google.api_core import exceptions as api

    words = told(getattr(error, "message", "") or error)
    if isinstance(error, api.GoogleAPICallError):
        code = "" if error.code is None else f"{int(error.code)} "
        return ProviderFailure(_classify_response(error, words), f"{call}: {code}{words}", _retry_after(error))
    name = type(error).__name__
    meanings: tuple[tuple[type[Exception], FailureKind, str], ...] = (  # the first that fits
        (auth.TransportError, "unreachable", f"the token could not be fetched: {words}"),
        (auth.GoogleAuthError, "no_credentials", words),  # none found, expired, revoked
        (ValueError, "changed_format", f"{name}: {words}"),  # no JSON
        (OSError, "unreachable", name),  # all of requests' errors: refused, too late, cut in the middle of a body
        (Exception, "changed_format", f"{name}: {words}"),  # the body is not what the SDK expects
    )
    return next(ProviderFailure(kind, f"{call}: {what}") for of, kind, what in meanings if isinstance(error, of))


def _classify_response(error: Any, words: str) -> FailureKind:
    from google.api_core import exceptions as api

    reason = str(getattr(error, "reason", "") or "") + words
    if isinstance(error, api.TooManyRequests) or "ratelimitexceeded" in reason.casefold().replace("_", ""):
        return "throttled"
    if isinstance(error, api.Unauthorized) or "getting metadata from plugin failed" in words.casefold():
        return "no_credentials"
    if isinstance(error, api.GatewayTimeout):
        return "unreachable"
    if isinstance(error, api.ServerError):
        return "server_error"
    return "changed_format" if isinstance(error, api.BadRequest) else "denied"


def _retry_after(error: Any) -> float | None:
    """Seconds that the server asked to wait: Retry-After over REST, RetryInfo over gRPC."""
    headers = getattr(error.response, "headers", None) or {}
    stated = str(headers.get("Retry-After", ""))
    if stated.isascii() and stated.isdecimal():
        return float(stated)
    delays = [detail.retry_delay for detail in error.details if hasattr(detail, "retry_delay")]
    return float(delays[0].seconds + delays[0].nanos / 1e9) if delays else None
