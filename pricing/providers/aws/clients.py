"""The SDK's clients: credentials, addresses, time limits, pages, and the classification of errors.

Only this module imports boto3 or botocore; other modules interpret the answers. The SDK's own retries are off:
`RetryBudget` does all retries.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from threading import Lock
from typing import Any

from pricing.adapters.api_calls import CALL_S, ApiCall, summarize_error, uses_plain_http
from pricing.adapters.protocol import FetchRequest
from pricing.errors import FailureKind, ProviderFailure

NO_SDK = "pip install 'gpu-planner[aws]'"
HOME_REGION = "us-east-1"
"""Where services are called that have no endpoint in every region."""
SERVICES = ("ec2", "pricing", "savingsplans", "service-quotas")

SHORTEST_CALL_S = 0.1

THROTTLING_CODES = frozenset(
    [
        "Throttling",
        "ThrottlingException",
        "ThrottledException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "TooManyRequestsException",
        "SlowDown",
        "BandwidthLimitExceeded",
        "LimitExceededException",
    ]
)
"""Throttling codes of all services: docs.aws.amazon.com/general/latest/gr/api-retries.html and botocore's
own list of throttling codes."""
CREDENTIAL_CODES = frozenset(
    [
        "AuthFailure",
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidClientTokenId",
        "InvalidAccessKeyId",
        "RequestExpired",
        "UnrecognizedClientException",
        "SignatureDoesNotMatch",
        "MissingAuthenticationToken",
    ]
)
"""docs.aws.amazon.com/AWSEC2/latest/APIReference/CommonErrors.html: the caller is unknown, or expired."""


def pricing_location(zone: str, region: str) -> str:
    """The location that prices of a zone belong to: its region (us-east-1a); for a Local Zone, the zone itself."""
    return region if zone[:-1] == region else zone


class AwsClients:
    """Clients of one refresh. Each connects, and looks for credentials, on first use."""

    def __init__(self, request: FetchRequest) -> None:
        self._request = request
        self._lock = Lock()
        self._session: Any = None
        self._made: dict[tuple[str, str, float], Any] = {}

    def pages(
        self, service: str, method: str, region: str, part: str, of: str = "", **arguments: Any
    ) -> Iterator[list[Any]]:
        """The list `part` of every page, each a call of its own; NextToken (nextToken) is followed to the end."""
        call = ApiCall(service, method, of or region)
        token = "nextToken" if service == "savingsplans" else "NextToken"
        tokens = {""}
        while True:
            page = self._get_page(call, region, part, arguments)
            yield page[part]
            following = page.get(token) or ""
            if not following:
                return
            if following in tokens:
                raise ProviderFailure("changed_format", f"{call}: the same {token} came twice")
            tokens.add(following)
            arguments[token] = following

    def _get_page(self, call: ApiCall, region: str, part: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """One page, with retries. The SDK parses a truncated response into one without `part`, which is retried too."""

        def once() -> dict[str, Any]:
            answer: dict[str, Any] = getattr(self._get_client(call.service, region), call.method)(**arguments)
            if part not in answer:
                raise ProviderFailure("server_error", f"{call}: an answer without {part}: cut short or changed")
            return answer

        return self._request.patience.call(once, partial(classify_error, call))

    def _get_client(self, service: str, region: str) -> Any:
        """A client of the service. Threads may share clients, but not sessions, so the lock covers the creation."""
        limit_s = call_limit_s(self._request.patience.left_s)
        with self._lock:
            if (service, region, limit_s) not in self._made:
                self._made[service, region, limit_s] = self._make_client(service, region, limit_s)
            return self._made[service, region, limit_s]

    def _make_client(self, service: str, region: str, limit_s: float) -> Any:
        try:
            import boto3
            from botocore.config import Config
        except ImportError as error:
            raise ProviderFailure("no_sdk", NO_SDK) from error
        address = self._request.endpoints.get(service)
        self._session = self._session or boto3.Session()
        anonymous: dict[str, str] = {}
        if uses_plain_http(service, address):  # never sign with the user's keys over plain HTTP
            anonymous = {"aws_access_key_id": "loopback", "aws_secret_access_key": "loopback", "aws_session_token": ""}
        config = Config(
            retries={"total_max_attempts": 1},
            connect_timeout=limit_s,
            read_timeout=limit_s,
            user_agent_extra="gpu-planner",
        )
        return self._session.client(service, region_name=region, endpoint_url=address, config=config, **anonymous)


def call_limit_s(left_s: float) -> float:
    """The time limit of one call when `left_s` of the budget are left: 30, 15, 7.5 ... seconds.

    A botocore client has a fixed time limit. Halving steps keep the number of clients small.
    """
    limit_s = CALL_S
    while limit_s > max(left_s, SHORTEST_CALL_S):
        limit_s /= 2
    return limit_s


def classify_error(call: ApiCall, error: Exception) -> ProviderFailure:
    """The failure that an exception of botocore stands for."""
    from botocore import exceptions as aws

    if isinstance(error, aws.ClientError):
        return _classify_response(call, error)
    meanings: tuple[
        tuple[type[Exception] | tuple[type[Exception], ...], FailureKind], ...
    ] = (  # the first match counts
        ((aws.NoCredentialsError, aws.PartialCredentialsError, aws.CredentialRetrievalError), "no_credentials"),
        ((aws.TokenRetrievalError, aws.SSOError, aws.ProfileNotFound, aws.NoAuthTokenError), "no_credentials"),
        ((aws.HTTPClientError, aws.ConnectionError, aws.IncompleteReadError), "unreachable"),
        (aws.ResponseStreamingError, "unreachable"),
        ((aws.ParamValidationError, aws.UnknownServiceError, aws.DataNotFoundError), "changed_format"),
        (OSError, "unreachable"),
        (Exception, "server_error"),  # for example a truncated answer, or a page of HTML
    )
    kind = next(kind for of, kind in meanings if isinstance(error, of))
    return ProviderFailure(kind, f"{call}: {type(error).__name__}: {summarize_error(error)}")


def _classify_response(call: ApiCall, error: Any) -> ProviderFailure:
    """The failure for an error response of the service."""
    answer = error.response
    error_fields, meta = answer.get("Error", {}), answer.get("ResponseMetadata", {})
    code, status = str(error_fields.get("Code", "")), int(meta.get("HTTPStatusCode", 0))
    kind: FailureKind = "denied"
    if code in THROTTLING_CODES or status == 429:
        kind = "throttled"
    elif code in CREDENTIAL_CODES or status == 401:
        kind = "no_credentials"
    elif status >= 500:
        kind = "server_error"
    elif status == 400 and "denied" not in code.casefold() and "unauthorized" not in code.casefold():
        kind = "changed_format"
    wait = str(meta.get("HTTPHeaders", {}).get("retry-after", ""))
    after = float(wait) if wait.isascii() and wait.isdecimal() else None
    return ProviderFailure(kind, f"{call}: {code} {summarize_error(error_fields.get('Message', ''))}".rstrip(), after)
