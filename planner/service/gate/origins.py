"""Refuses requests that a page of another site makes in a browser.

A browser sends some cross-site requests without asking first: a form, or a POST of text/plain, which is a file here.
It says so, in Sec-Fetch-Site or, in older browsers, in Origin; a page cannot set either. Programs send neither.
Another port of this machine is another origin, though browsers call it the same site.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from planner.service.problems import problem_response

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
OWN_SITE = frozenset({"same-origin", "none"})
"""`none`: typed, or opened from a bookmark."""


class OwnOrigin:
    """Middleware that answers 403 to requests from pages of other origins; following a link here is allowed."""

    def __init__(self, app: ASGIApp, allowed: Sequence[str] = ()) -> None:
        self._app = app
        self._allowed = frozenset(origin.lower().rstrip("/") for origin in allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._is_allowed(scope["method"], Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        detail = "A page of another site made this request; its operator can allow that site with --allow-origin."
        await problem_response(403, "cross-site", "Cross-site request", detail)(scope, receive, send)

    def _is_allowed(self, method: str, headers: Headers) -> bool:
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None and origin.lower() in self._allowed:
            return True
        if site is not None:
            follows_link = method in SAFE_METHODS and headers.get("sec-fetch-mode") == "navigate"
            return site.lower() in OWN_SITE or follows_link
        return origin is None or method in SAFE_METHODS or _names_host(origin, headers.get("host", ""))


def _names_host(origin: str, host: str) -> bool:
    """Whether an origin is that of the Host header. The scheme does not count: a proxy may speak TLS for us."""
    return urlsplit(origin).netloc.lower() == host.lower()
