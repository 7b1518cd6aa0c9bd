"""The public keys of an OpenID Connect provider, as its discovery document names them (RFC 7517)."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import time
from typing import Any
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import jwt

MAX_AGE_SECONDS = 600
"""Age after which keys are fetched again, so that one that the provider withdraws ends here too."""
FETCH_FLOOR_SECONDS = 10
"""Least time between two fetches: tokens with invented key ids must not become requests to the provider."""
STALE_SECONDS = 24 * 3600
"""Age up to which keys serve while the provider does not answer."""
TIMEOUT_SECONDS = 5
BYTES_MAX = 2**20
log = logging.getLogger("planner.service")


class UnreachableProviderError(Exception):
    """The provider has not answered, and no keys of it are known."""


class SigningKeys:
    """The keys of one issuer by their ids, fetched when needed. Raises ValueError for an issuer without TLS."""

    def __init__(self, issuer: str) -> None:
        check_provider_url(issuer)
        self._issuer = issuer
        self._by_id: dict[str, jwt.PyJWK] = {}
        self._fetched = self._tried = -float("inf")
        self._lock = asyncio.Lock()
        self._refresh: asyncio.Task[None] | None = None

    async def find(self, key_id: str) -> jwt.PyJWK | None:
        """The key of an id, None if the issuer has none. Raises UnreachableProviderError."""
        age = time.monotonic() - self._fetched
        if key_id in self._by_id and age < STALE_SECONDS:
            if age > MAX_AGE_SECONDS and (self._refresh is None or self._refresh.done()):
                self._refresh = asyncio.create_task(
                    self._fetch_keys()
                )  # a slow provider delays no caller that is known
            return self._by_id[key_id]
        await self._fetch_keys()
        if time.monotonic() - self._fetched > STALE_SECONDS:
            raise UnreachableProviderError
        return self._by_id.get(key_id)

    async def _fetch_keys(self) -> None:
        async with self._lock:  # whoever waits here finds what the first has fetched
            if time.monotonic() - self._tried < FETCH_FLOOR_SECONDS:
                return
            try:
                self._by_id = await asyncio.to_thread(_read_keys, self._issuer)
                self._fetched = time.monotonic()
            except (OSError, ValueError, jwt.PyJWTError) as error:
                log.warning("the keys of the identity provider cannot be read: %s", type(error).__name__)
            finally:
                self._tried = time.monotonic()


def check_provider_url(url: str) -> None:
    """Raises ValueError for a URL that is neither https nor on this machine: its keys could be anybody's."""
    parts = urlsplit(url)
    if parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(parts.hostname or "")):
        return
    raise ValueError(f"{url!r} is not an https URL")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _read_keys(issuer: str) -> dict[str, jwt.PyJWK]:
    document = _read_json(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    if document.get("issuer") != issuer:
        raise ValueError("the discovery document is of another issuer")
    keys = jwt.PyJWKSet.from_dict(_read_json(str(document.get("jwks_uri"))))
    return {key.key_id: key for key in keys.keys if key.key_id and key.public_key_use in (None, "sig")}


def _read_json(url: str) -> dict[str, Any]:
    check_provider_url(url)
    opener = build_opener(_NoRedirects)
    request = Request(url, headers={"accept": "application/json"})  # noqa: S310  (the scheme was checked)
    with opener.open(request, timeout=TIMEOUT_SECONDS) as answer:
        document = json.loads(answer.read(BYTES_MAX))
    if not isinstance(document, dict):
        raise ValueError("not a JSON object")
    return document


class _NoRedirects(HTTPRedirectHandler):
    """A redirect could lead from TLS, or to an address that only this machine reaches."""

    def redirect_request(self, *_: Any) -> None:
        return None
