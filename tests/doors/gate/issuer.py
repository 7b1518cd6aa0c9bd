"""An OpenID Connect provider on the loopback: discovery, keys and tokens that it signs."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

AUDIENCE = "https://planner.example.com"


class Issuer:
    """`keys` are those that it publishes; `fetches` counts requests for them."""

    def __init__(self, url: str) -> None:
        self.url, self.fetches, self.is_down = url, 0, False
        self.keys: dict[str, rsa.RSAPrivateKey] = {}
        self.rotate("first")

    def rotate(self, key_id: str) -> None:
        """Replace all keys by a new one."""
        self.keys = {key_id: rsa.generate_private_key(public_exponent=65537, key_size=2048)}

    def documents(self) -> dict[str, Any]:
        public = [
            json.loads(RSAAlgorithm.to_jwk(key.public_key())) | {"kid": key_id, "use": "sig", "alg": "RS256"}
            for key_id, key in self.keys.items()
        ]
        return {
            "/.well-known/openid-configuration": {"issuer": self.url, "jwks_uri": f"{self.url}/keys"},
            "/keys": {"keys": public},
        }

    def claims(self, **changes: Any) -> dict[str, Any]:
        """The claims of a good token; a change to None leaves one out."""
        now = int(time.time())
        good = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "ada",
            "exp": now + 300,
            "iat": now,
            "planner_project": "research",
            "scope": "openid planner:plan planner:read",
        }
        return {name: value for name, value in (good | changes).items() if value is not None}

    def token(self, **changes: Any) -> str:
        """A token that it signs with its newest key."""
        key_id, key = list(self.keys.items())[-1]
        return jwt.encode(self.claims(**changes), key, "RS256", headers={"kid": key_id})


@contextmanager
def issuing() -> Iterator[Issuer]:
    """A provider that answers until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            issuer.fetches += self.path == "/keys"
            document = None if issuer.is_down else issuer.documents().get(self.path)
            body = json.dumps(document).encode()
            self.send_response(503 if document is None else 200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        issuer = Issuer(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield issuer
        finally:
            server.shutdown()
            thread.join()
