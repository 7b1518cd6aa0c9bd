"""The part of the OpenAPI document that says how callers identify themselves, and what each operation needs."""

from __future__ import annotations

from typing import Any

from planner.service.gate.authentication import required_scope
from planner.service.problems import MEDIA_TYPE

KEY, TOKEN = "apiKey", "identityToken"
SCHEMES = {
    KEY: {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key that the operator has made with `planner key create`: gpk_...",
    },
    TOKEN: {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "A token of the OpenID Connect provider that the service trusts.",
    },
}
REFUSALS = {
    "401": "no valid API key or token, where the service requires one",
    "403": "the key or token lacks the scope, or a page of another site made the request",
    "429": "the limit of the caller is used up; Retry-After and RateLimit say when to try again",
}


def describe_security(document: dict[str, Any]) -> None:
    """Add the schemes, and to each operation the scope that it needs and its refusals, in place.

    A service of one machine needs neither, so each operation may go without: the empty requirement.
    """
    document["components"]["securitySchemes"] = SCHEMES
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            scope = required_scope(method.upper(), path)
            operation["security"] = [] if scope is None else [{KEY: [scope]}, {TOKEN: [scope]}, {}]
            if scope is not None:
                operation["responses"] |= {
                    status: _describe_refusal(why)
                    for status, why in REFUSALS.items()
                    if status not in operation["responses"]
                }


def _describe_refusal(why: str) -> dict[str, Any]:
    return {"description": why, "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
