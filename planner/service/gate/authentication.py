"""Asks every request who sends it: a key or a token as `Authorization: Bearer` (RFC 6750)."""

from __future__ import annotations

import time
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from planner.service import callers
from planner.service.callers import LOCAL_CALLER, Caller
from planner.service.gate.identity_tokens import IdentityTokens, InvalidTokenError
from planner.service.gate.signing_keys import UnreachableProviderError
from planner.service.page_files import PAGE_FOLDER, PAGE_PATH
from planner.service.problems import problem_response
from planner.service.store import ServiceStore
from planner.service.store.api_keys import KEY_FORM, ApiKey

OPEN_PATHS = frozenset({"/healthz", "/readyz", "/openapi.json", PAGE_PATH})
"""They hold nothing of anybody."""
SHARED_FOLDER = "/v1/shared/"
"""The secret of a link follows, which opens one review."""
ADMIN_PATHS = frozenset({"/metrics"})
READING = frozenset({"GET", "HEAD", "OPTIONS"})
KEY_SECONDS = 5
"""How long a key that was looked up is taken without a look: a revoked one ends so much later."""
KEYS_MAX = 1000


def required_scope(method: str, path: str) -> callers.Scope | None:
    """The scope that a request needs, None for what is open to everybody."""
    if path in OPEN_PATHS or path.startswith((PAGE_FOLDER, SHARED_FOLDER)):
        return None
    if path in ADMIN_PATHS:
        return "admin"
    return "read" if method in READING else "plan"


class Authentication:
    """Middleware that finds the caller of a request, or answers 401 or 403.

    Where none is required, a request without one is of the local caller; one that it states must be valid all the same.
    """

    def __init__(
        self, app: ASGIApp, store: Callable[[], ServiceStore], tokens: IdentityTokens | None, *, required: bool
    ) -> None:
        self._app, self._store, self._tokens, self._required = app, store, tokens, required
        self._known: dict[str, tuple[float, ApiKey]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        needed = required_scope(scope["method"], scope["path"]) if scope["type"] == "http" else None
        if needed is None:
            await self._app(scope, receive, send)
            return
        stated = Headers(scope=scope).getlist("authorization")
        try:
            caller = await self._identify_caller(stated)
        except InvalidTokenError as error:
            await _answer_unauthorized(str(error), stated=bool(stated))(scope, receive, send)
            return
        except UnreachableProviderError:
            detail = "The identity provider does not answer, and its keys are not known yet; try again."
            await problem_response(503, "identity-provider", "Unavailable", detail)(scope, receive, send)
            return
        scope.setdefault("state", {})["caller"] = caller
        if needed in caller.scopes:
            await self._app(scope, receive, send)
        else:
            await _answer_forbidden(needed)(scope, receive, send)

    async def _identify_caller(self, stated: list[str]) -> Caller:
        if not stated:
            if self._required:
                raise InvalidTokenError("The service needs an API key or a token: Authorization: Bearer ...")
            return LOCAL_CALLER
        scheme, _, credential = stated[0].partition(" ")
        if len(stated) > 1 or scheme.lower() != "bearer":
            raise InvalidTokenError("The service takes one Authorization header of the form: Bearer KEY")
        credential = credential.strip()
        if KEY_FORM.fullmatch(credential):
            return (await self._find_valid_key(credential)).caller
        if self._tokens is None:
            raise InvalidTokenError("This is not an API key of this service.")
        return await self._tokens.identify(credential)

    async def _find_valid_key(self, text: str) -> ApiKey:
        looked_up, key = self._known.get(text, (-float("inf"), None))
        if key is None or time.monotonic() - looked_up > KEY_SECONDS:
            key = await run_in_threadpool(self._store().keys.find, text)
            self._known.pop(text, None)
            if key is None:
                raise InvalidTokenError("The API key is unknown, expired or revoked.")
            if len(self._known) >= KEYS_MAX:
                self._known.pop(next(iter(self._known)))
            self._known[text] = (time.monotonic(), key)
        if not key.is_valid(time.time()):
            raise InvalidTokenError("The API key is unknown, expired or revoked.")
        return key


def _answer_unauthorized(detail: str, *, stated: bool) -> Response:
    response = problem_response(401, "unauthorized", "Not authenticated", detail)
    error = ', error="invalid_token"' if stated else ""
    response.headers["www-authenticate"] = f'Bearer realm="gpu-planner"{error}'
    return response


def _answer_forbidden(needed: str) -> Response:
    response = problem_response(403, "forbidden", "Not allowed", f"The key or token lacks the scope {needed}.")
    response.headers["www-authenticate"] = f'Bearer realm="gpu-planner", error="insufficient_scope", scope="{needed}"'
    return response
