"""Refuses requests for host names that are not ours.

A page of another site can make its own name resolve to this machine (DNS rebinding); the browser then takes the
service for that site and lets the page read its answers. The Host header still has the other site's name. An IP
address in it is safe: an address does not resolve to something else.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from planner.service.problems import problem_response

PROBES = frozenset({"/healthz", "/readyz"})
"""Load balancers probe these under any name; they say nothing but a state."""
PORT = re.compile(r":\d*$")


class TrustedHosts:
    """Middleware that answers 421 to a request for another name, 400 to one for none."""

    def __init__(self, app: ASGIApp, allowed: Sequence[str] = ()) -> None:
        self._app = app
        self._allowed = tuple(name.lower() for name in allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in PROBES:
            await self._app(scope, receive, send)
            return
        stated = Headers(scope=scope).getlist("host")
        if len(stated) != 1 or not stated[0]:
            refusal = problem_response(400, "no-host", "No host", "The request needs one Host header.")
            await refusal(scope, receive, send)
        elif is_trusted_host(stated[0], self._allowed):
            await self._app(scope, receive, send)
        else:
            detail = "The service does not answer to this host name; its operator can add it with --allow-host."
            await problem_response(421, "wrong-host", "Wrong host", detail)(scope, receive, send)


def is_trusted_host(host: str, allowed: Sequence[str]) -> bool:
    """Whether a Host header names this machine: localhost, an IP address, or one of `allowed` (in lower case)."""
    name = host_name(host)
    return (
        name == "localhost"
        or name.endswith(".localhost")
        or _is_address(name)
        or any(_matches_name(name, pattern) for pattern in allowed)
    )


def host_name(host: str) -> str:
    """The name or address in a Host header, without its port, in lower case and without a final dot."""
    name = PORT.sub("", host.lower())
    return name[1:-1] if name.startswith("[") and name.endswith("]") else name.removesuffix(".")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _matches_name(name: str, pattern: str) -> bool:
    if pattern.startswith("*."):
        return name.endswith(pattern[1:])
    return pattern in ("*", name)
