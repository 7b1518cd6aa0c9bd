"""Callers by tokens of an OpenID Connect provider: JSON Web Tokens that it has signed (RFC 7519, RFC 9068)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jwt

from planner.service.callers import NAME_LENGTH, PROJECT_LENGTH, SCOPES, Caller, Scope
from planner.service.gate.settings import AccessSettings
from planner.service.gate.signing_keys import SigningKeys

ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA")
"""With a public key only: a token can choose none of those in which the key is a secret, nor none at all."""
LEEWAY_SECONDS = 30
"""By how much the clocks of provider and service may differ."""


class InvalidTokenError(Exception):
    """A token that is not taken; the message is for its sender."""


class IdentityTokens:
    """Verifies tokens. Raises ValueError for settings that cannot be right."""

    def __init__(self, settings: AccessSettings) -> None:
        if not settings.oidc_audience:
            raise ValueError("--oidc-issuer needs --oidc-audience: tokens for other services would be taken, too")
        self._settings = settings
        self._keys = SigningKeys(settings.oidc_issuer)
        self._grants = _parse_grants(settings.oidc_grants)

    async def identify(self, token: str) -> Caller:
        """The caller that a token names. Raises InvalidTokenError, or UnreachableProviderError."""
        try:
            header = jwt.get_unverified_header(token)
        except jwt.InvalidTokenError:
            raise InvalidTokenError("The token is not a JSON Web Token.") from None
        if header.get("alg") not in ALGORITHMS:
            raise InvalidTokenError(f"The token must be signed with one of {', '.join(ALGORITHMS)}.")
        key = await self._keys.find(str(header.get("kid", "")))
        if key is None:
            raise InvalidTokenError("The provider has no such signing key.")
        return self._read_claims(self._verify_signature(token, key))

    def _verify_signature(self, token: str, key: jwt.PyJWK) -> Mapping[str, Any]:
        try:
            claims: Mapping[str, Any] = jwt.decode(
                token,
                key,
                algorithms=list(ALGORITHMS),
                issuer=self._settings.oidc_issuer,
                audience=self._settings.oidc_audience,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.ExpiredSignatureError:
            raise InvalidTokenError("The token has expired.") from None
        except jwt.InvalidAudienceError:
            raise InvalidTokenError("The token is for another audience.") from None
        except jwt.PyJWTError:
            raise InvalidTokenError("The token is not valid.") from None
        return claims

    def _read_claims(self, claims: Mapping[str, Any]) -> Caller:
        project = self._read_name(claims, "project", self._settings.oidc_project_claim, PROJECT_LENGTH)
        name = self._read_name(claims, "name", self._settings.oidc_name_claim, NAME_LENGTH)
        stated = claims.get(self._settings.oidc_scope_claim, ())
        words = stated.split() if isinstance(stated, str) else _text_items(stated)
        return Caller(project, name, frozenset(self._grants[word] for word in words if word in self._grants))

    @staticmethod
    def _read_name(claims: Mapping[str, Any], meaning: str, claim: str, length: int) -> str:
        value = claims.get(claim)
        if not isinstance(value, str) or not 0 < len(value) <= length:  # cut short, two could become one
            raise InvalidTokenError(f"The token has no {meaning} of at most {length} characters: its claim {claim}.")
        return value


def _text_items(stated: Any) -> list[str]:
    return [word for word in stated if isinstance(word, str)] if isinstance(stated, list) else []


def _parse_grants(texts: Sequence[str]) -> dict[str, Scope]:
    scopes: dict[str, Scope] = {scope: scope for scope in SCOPES}
    grants = {}
    for text in texts:
        value, _, scope = text.rpartition("=")
        if not value or scope not in scopes:
            raise ValueError(f"--oidc-grants: {text!r} is not VALUE={'|'.join(scopes)}")
        grants[value] = scopes[scope]
    return grants
