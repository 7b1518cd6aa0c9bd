"""Records what identified callers do with plans; where no key is required there is nobody to name."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from planner.service.callers import LOCAL_CALLER, Caller
from planner.service.store import ServiceStore
from planner.service.store.audit import AuditAction

ACTIONS: dict[str, AuditAction] = {"POST": "plan", "GET": "read", "DELETE": "delete"}
PAGE_FORMAT = "review"
"""The report that the page shows; others are taken along."""
log = logging.getLogger("planner.service")


class AuditRecorder:
    """Middleware that records each plan asked for, read, downloaded or deleted, before the answer goes out."""

    def __init__(self, app: ASGIApp, store: Callable[[], ServiceStore]) -> None:
        self._app, self._store = app, store

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller = scope.get("state", {}).get("caller", LOCAL_CALLER)
        if caller == LOCAL_CALLER:
            await self._app(scope, receive, send)
            return

        async def send_recorded(message: Message) -> None:
            if message["type"] == "http.response.start" and (act := audited_act(scope, message)):
                await self._record_act(caller, act, scope["state"]["request_id"])
            await send(message)

        await self._app(scope, receive, send_recorded)

    async def _record_act(self, caller: Caller, act: tuple[AuditAction, str], request_id: str) -> None:
        action, subject = act
        try:
            await run_in_threadpool(self._store().audit.add, caller, action, subject, request_id)
        except SQLAlchemyError:
            log.exception("an act could not be recorded: %s of request %s", action, request_id)


def audited_act(scope: Scope, start: Message) -> tuple[AuditAction, str] | None:
    """The act and its subject where a route of plans has answered well; None for all else, such as a look at a
    state."""
    route: str = getattr(scope.get("route"), "path", "")
    action = ACTIONS.get(scope["method"])
    if action is None or "plan" not in route or start["status"] >= 400:
        return None
    if action == "read":
        if start["status"] != 200 or route.endswith("/events"):
            return None
        taken = (
            route.endswith("/terraform") or scope.get("path_params", {}).get("format_name", PAGE_FORMAT) != PAGE_FORMAT
        )
        action = "download" if taken else "read"
    return action, _name_subject(scope, start)


def _name_subject(scope: Scope, start: Message) -> str:
    """The id in the path, or where the answer says that it is."""
    path_parameters: dict[str, Any] = scope.get("path_params", {})
    headers = Headers(raw=start["headers"])
    stated = path_parameters.get("plan_id") or headers.get("location", "").rpartition("/")[2]
    return str(stated or headers.get("etag", "").strip('"').removesuffix("-gzip"))
