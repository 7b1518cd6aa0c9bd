"""What every answer has in common: HEAD beside GET, and digests by which a client knows a document that it has."""

from __future__ import annotations

import hashlib

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class ContentDigestMiddleware:
    """Answers HEAD as GET (the server leaves out the body), and gives each document of a GET a weak ETag of its
    content; 304 to a client that has it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        known = Headers(scope=scope).get("if-none-match", "")
        begun: list[Message] = []

        async def send_with_digest(message: Message) -> None:
            if message["type"] == "http.response.start":
                begun.append(message)
                return
            if begun:
                start = begun.pop()
                headers = MutableHeaders(raw=start["headers"])
                if start["status"] == 200 and "etag" not in headers and not message.get("more_body", False):
                    digest = hashlib.sha256(message.get("body", b"")).hexdigest()[:32]
                    headers["etag"] = f'W/"{digest}"'
                    if digest in known or known.strip() == "*":
                        start["status"] = 304
                        message = {**message, "body": b""}
                        for name in ("content-length", "content-type"):
                            del headers[name]
                await send(start)
            await send(message)

        # a GET keeps its scope, in which the router notes its route for the audit and the figures
        inner = scope if scope["method"] == "GET" else {**scope, "method": "GET"}
        await self._app(inner, receive, send_with_digest)
