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

from pricing.adapter import Ask
from pricing.calls import CALL_S, Call, plain_http
from pricing.calls import words as told
from pricing.errors import Failed, Trouble

T = TypeVar("T")

SCOPE = "https://www.googleapis.com/auth/cloud-platform"  # what a principal may do is up to its roles; see the guide
ONE_AT_A_TIME = Lock()
NO_SDK = "pip install 'gpu-planner[gcp]'"


class Clients:
    """Clients of one refresh. Nothing is connected before it is asked for."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self.patience = ask.patience

    def catalog(self) -> Any:
        """billing_v1.CloudCatalogClient."""
        return self._client("cloudbilling", sdk("cloud.billing_v1").CloudCatalogClient)

    def compute(self, name: str) -> Any:
        """compute_v1's client of that name (MachineTypesClient ...)."""
        return self._client("compute", getattr(sdk("cloud.compute_v1"), name))

    def tpu(self) -> Any:
        """tpu_v2.TpuClient."""
        return self._client("tpu", sdk("cloud.tpu_v2").TpuClient)

    def project(self) -> str:
        """The project whose zones and quotas are read. Raises Failed where none is set."""
        named = os.environ.get("GOOGLE_CLOUD_PROJECT", "")
        if not named and self._anonymous("compute"):
            return "loopback"
        project = named or self._default()[1]
        if not project:
            raise Failed("no_credentials", "no project is set: name one in GOOGLE_CLOUD_PROJECT")
        return str(project)

    def call(self, call: Call, what: Callable[[float], T]) -> T:
        """`what(timeout_s)`, tried again as patience allows."""

        def once() -> T:
            return what(max(0.1, min(CALL_S, self.patience.left_s)))

        return self.patience.call(once, partial(judge, call))

    def pages(self, call: Call, method: Any, request: Any) -> Iterator[Any]:
        """Every page of a list, each a call of its own; `request` is moved on from page to page."""
        seen = {""}

        def page(timeout_s: float) -> Any:
            return next(iter(method(request=request, retry=None, timeout=timeout_s).pages))

        while True:
            answer = self.call(call, page)
            yield answer
            token = answer.next_page_token
            if not token:
                return
            if token in seen:
                raise Failed("changed_format", f"{call}: the same next_page_token came twice")
            seen.add(token)
            request.page_token = token

    def _anonymous(self, service: str) -> bool:
        return plain_http(service, self._ask.endpoints.get(service))

    def _client(self, service: str, make: Any) -> Any:
        address = self._ask.endpoints.get(service)
        if self._anonymous(service):
            nobody = sdk("auth.credentials").AnonymousCredentials()
            return make(credentials=nobody, transport="rest", client_options={"api_endpoint": address})
        host = urlsplit(address).netloc or address if address else None
        return make(credentials=self._default()[0], client_options={"api_endpoint": host} if host else None)

    def _default(self) -> tuple[Any, str | None]:
        auth = sdk("auth")
        call = Call("google-auth", "default", "this machine")
        credentials, project = self.call(call, lambda _: auth.default(scopes=[SCOPE]))
        return credentials, project


def sdk(module: str) -> Any:
    """google.MODULE, loaded now; Failed where the extra is not installed."""
    try:
        with ONE_AT_A_TIME:  # first imports of one package from two threads can end in a deadlock
            return import_module(f"google.{module}")
    except ImportError as error:
        raise Failed("no_sdk", NO_SDK) from error


def judge(call: Call, error: Exception) -> Failed:
    """What an exception of the SDK, of its transports or of google-auth means."""
    import google.auth.exceptions as auth
    from google.api_core import exceptions as api

    words = told(getattr(error, "message", "") or error)
    if isinstance(error, api.GoogleAPICallError):
        code = "" if error.code is None else f"{int(error.code)} "
        return Failed(_kind_of_answer(error, words), f"{call}: {code}{words}", _retry_after(error))
    name = type(error).__name__
    meanings: tuple[tuple[type[Exception], Trouble, str], ...] = (  # the first that fits
        (auth.TransportError, "unreachable", f"the token could not be fetched: {words}"),
        (auth.GoogleAuthError, "no_credentials", words),  # none found, expired, revoked
        (ValueError, "changed_format", f"{name}: {words}"),  # no JSON
        (OSError, "unreachable", name),  # all of requests' errors: refused, too late, cut in the middle of a body
        (Exception, "changed_format", f"{name}: {words}"),  # the body is not what the SDK expects
    )
    return next(Failed(kind, f"{call}: {what}") for of, kind, what in meanings if isinstance(error, of))


def _kind_of_answer(error: Any, words: str) -> Trouble:
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
