"""The SDK's clients: credentials, addresses, time limits, pages, and the classification of errors.

Only this module imports google-auth, api-core or a transport; other modules interpret the answers. The SDK's own
retries are off: `RetryBudget` does all retries.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pricing.adapters.api_calls import CALL_S, ApiCall, summarize_error, uses_plain_http
from pricing.adapters.protocol import FetchRequest
from pricing.errors import FailureKind, ProviderFailure

T = TypeVar("T")

SCOPE = "https://www.googleapis.com/auth/cloud-platform"  # the roles of the principal limit its rights; see the guide
IMPORT_LOCK = Lock()
NO_SDK = "pip install 'gpu-planner[gcp]'"


class GcpClients:
    """Clients of one refresh. Each connects on first use."""

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
        """The project whose zones and quotas are read. Raises ProviderFailure if none is set."""
        named = os.environ.get("GOOGLE_CLOUD_PROJECT", "")
        if not named and self._is_anonymous("compute"):
            return "loopback"
        project = named or self._default_credentials()[1]
        if not project:
            raise ProviderFailure("no_credentials", "no project is set: name one in GOOGLE_CLOUD_PROJECT")
        return str(project)

    def call(self, call: ApiCall, function: Callable[[float], T]) -> T:
        """The result of `function(timeout_s)`, with retries."""

        def once() -> T:
            return function(max(0.1, min(CALL_S, self.patience.left_s)))

        return self.patience.call(once, partial(classify_error, call))

    def pages(self, call: ApiCall, method: Any, api_request: Any) -> Iterator[Any]:
        """Every page of a list, each from a separate call; `api_request` advances from page to page."""
        tokens = {""}

        def page(timeout_s: float) -> Any:
            return next(iter(method(request=api_request, retry=None, timeout=timeout_s).pages))

        while True:
            answer = self.call(call, page)
            yield answer
            token = answer.next_page_token
            if not token:
                return
            if token in tokens:
                raise ProviderFailure("changed_format", f"{call}: the same next_page_token came twice")
            tokens.add(token)
            api_request.page_token = token

    def _is_anonymous(self, service: str) -> bool:
        return uses_plain_http(service, self._request.endpoints.get(service))

    def _make_client(self, service: str, make: Any) -> Any:
        address = self._request.endpoints.get(service)
        if self._is_anonymous(service):
            anonymous = import_sdk("auth.credentials").AnonymousCredentials()
            return make(credentials=anonymous, transport="rest", client_options={"api_endpoint": address})
        host = urlsplit(address).netloc or address if address else None
        return make(credentials=self._default_credentials()[0], client_options={"api_endpoint": host} if host else None)

    def _default_credentials(self) -> tuple[Any, str | None]:
        auth = import_sdk("auth")
        call = ApiCall("google-auth", "default", "this machine")
        credentials, project = self.call(call, lambda _: auth.default(scopes=[SCOPE]))
        return credentials, project


def import_sdk(module: str) -> Any:
    """google.MODULE, imported on demand; raises ProviderFailure if the extra is not installed."""
    try:
        with IMPORT_LOCK:  # two threads that import one package first can deadlock
            return import_module(f"google.{module}")
    except ImportError as error:
        raise ProviderFailure("no_sdk", NO_SDK) from error


def classify_error(call: ApiCall, error: Exception) -> ProviderFailure:
    """The failure that an exception of the SDK, its transports or google-auth stands for."""
    import google.auth.exceptions as auth
    from google.api_core import exceptions as api

    words = summarize_error(getattr(error, "message", "") or error)
    if isinstance(error, api.GoogleAPICallError):
        code = "" if error.code is None else f"{int(error.code)} "
        return ProviderFailure(_classify_response(error, words), f"{call}: {code}{words}", _retry_after(error))
    name = type(error).__name__
    meanings: tuple[tuple[type[Exception], FailureKind, str], ...] = (  # the first match counts
        (auth.TransportError, "unreachable", f"the token could not be fetched: {words}"),
        (auth.GoogleAuthError, "no_credentials", words),  # missing, expired or revoked
        (ValueError, "changed_format", f"{name}: {words}"),  # no JSON
        (OSError, "unreachable", name),  # all of requests' errors: refused, too late, cut in the middle of a body
        (Exception, "changed_format", f"{name}: {words}"),  # a body that the SDK cannot parse
    )
    return next(ProviderFailure(kind, f"{call}: {detail}") for of, kind, detail in meanings if isinstance(error, of))


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
    """The wait in seconds that the server requires: Retry-After over REST, RetryInfo over gRPC."""
    headers = getattr(error.response, "headers", None) or {}
    stated = str(headers.get("Retry-After", ""))
    if stated.isascii() and stated.isdecimal():
        return float(stated)
    delays = [detail.retry_delay for detail in error.details if hasattr(detail, "retry_delay")]
    return float(delays[0].seconds + delays[0].nanos / 1e9) if delays else None
