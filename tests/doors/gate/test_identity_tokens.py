"""Tokens of an OpenID Connect provider: which are taken, for whom, and how keys are rotated. A real issuer signs."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import time

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from planner.service.callers import Caller
from planner.service.gate import signing_keys
from planner.service.gate.identity_tokens import IdentityTokens, InvalidTokenError
from planner.service.gate.settings import AccessSettings
from planner.service.gate.signing_keys import UnreachableProviderError
from tests.doors.gate.issuer import AUDIENCE, issuing


def settings(issuer_url, **others):
    return AccessSettings(oidc_issuer=issuer_url, oidc_audience=AUDIENCE, **others)


@pytest.fixture
def issuer():
    with issuing() as running:
        yield running


@pytest.fixture
def tokens(issuer):
    return IdentityTokens(settings(issuer.url))


def identify(tokens, token):
    return asyncio.run(tokens.identify(token))


def test_a_token_names_its_caller(issuer, tokens):
    assert identify(tokens, issuer.token()) == Caller("research", "ada", frozenset({"plan", "read"}))


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"aud": "https://other.example.com"}, "another audience"),
        ({"aud": None}, "not valid"),
        ({"iss": "https://other.example.com"}, "not valid"),
        ({"iss": None}, "not valid"),
        ({"exp": 1_700_000_000}, "expired"),
        ({"exp": None}, "not valid"),
        ({"nbf": 4_000_000_000}, "not valid"),
        ({"planner_project": None}, "no project .*: its claim planner_project"),
        ({"planner_project": 7}, "no project"),
        ({"planner_project": "p" * 65}, "no project of at most 64 characters"),
        ({"sub": ""}, "no name"),
    ],
)
def test_a_token_that_claims_something_else_is_not_taken(issuer, tokens, changes, reason):
    with pytest.raises(InvalidTokenError, match=reason):
        identify(tokens, issuer.token(**changes))


def encode(part):
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


@pytest.mark.parametrize("algorithm", ["none", "None", "nOnE", "HS256", "RS1", ""])
def test_a_token_cannot_choose_a_weak_algorithm(issuer, tokens, algorithm):
    unsigned = f"{encode({'alg': algorithm, 'kid': 'first'})}.{encode(issuer.claims())}."
    with pytest.raises(InvalidTokenError, match=r"signed with one of|not a JSON Web Token"):
        identify(tokens, unsigned)


def test_the_public_key_is_no_shared_secret(issuer, tokens):
    """The attack that gave `algorithms` its name: HS256 with the public key, which everybody can read."""
    public = issuer.keys["first"].public_key()
    pem = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    signed = f"{encode({'alg': 'HS256', 'kid': 'first'})}.{encode(issuer.claims())}"
    signature = base64.urlsafe_b64encode(hmac.digest(pem, signed.encode(), "sha256")).rstrip(b"=").decode()
    with pytest.raises(InvalidTokenError, match="signed with one of"):
        identify(tokens, f"{signed}.{signature}")


def test_a_signature_of_somebody_else_is_not_taken(issuer, tokens):
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    with pytest.raises(InvalidTokenError, match="not valid"):
        identify(tokens, jwt.encode(issuer.claims(), other, "RS256", headers={"kid": "first"}))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("text", ["", "x", "a.b.c", "....", "gpk_abc", "\u00e9.x.y"])
def test_what_is_no_token_is_not_taken(tokens, text):
    with pytest.raises(InvalidTokenError):
        identify(tokens, text)


def test_a_changed_claim_breaks_the_signature(issuer, tokens):
    head, _, signature = issuer.token().split(".")
    with pytest.raises(InvalidTokenError, match="not valid"):
        identify(tokens, f"{head}.{encode(issuer.claims(planner_project='finance'))}.{signature}")


def test_keys_are_fetched_once_and_again_for_a_new_one(issuer, tokens, monkeypatch):
    async def story():
        for _ in range(5):
            await tokens.identify(issuer.token())
        assert issuer.fetches == 1
        old = issuer.token()
        issuer.rotate("second")
        with pytest.raises(InvalidTokenError, match="no such signing key"):
            await tokens.identify(issuer.token())  # sooner after the first fetch than fetches may be
        assert issuer.fetches == 1
        monkeypatch.setattr(signing_keys, "FETCH_FLOOR_SECONDS", 0)
        assert (await tokens.identify(issuer.token())).name == "ada"
        assert issuer.fetches == 2
        with pytest.raises(InvalidTokenError, match="no such signing key"):
            await tokens.identify(old)

    asyncio.run(story())


def test_invented_key_ids_do_not_become_requests_to_the_provider(issuer, tokens):
    async def story():
        for number in range(50):
            with pytest.raises(InvalidTokenError):
                await tokens.identify(jwt.encode({}, issuer.keys["first"], "RS256", headers={"kid": f"k{number}"}))

    asyncio.run(story())
    assert issuer.fetches == 1


def test_known_keys_serve_while_the_provider_is_down(issuer, tokens, monkeypatch, caplog):
    monkeypatch.setattr(signing_keys, "FETCH_FLOOR_SECONDS", 0)

    async def story():
        await tokens.identify(issuer.token())
        issuer.is_down = True
        monkeypatch.setattr(signing_keys, "MAX_AGE_SECONDS", 0)
        assert (await tokens.identify(issuer.token())).name == "ada"
        while "cannot be read" not in caplog.text:
            await asyncio.sleep(0.01)
        monkeypatch.setattr(signing_keys, "STALE_SECONDS", 0)
        with pytest.raises(UnreachableProviderError):
            await tokens.identify(issuer.token())

    asyncio.run(story())
    assert "keys of the identity provider cannot be read: HTTPError" in caplog.text


def test_a_provider_that_never_answered_is_told_apart_from_a_bad_token(issuer, tokens):
    issuer.is_down = True
    with pytest.raises(UnreachableProviderError):
        identify(tokens, issuer.token())


def test_claims_are_read_as_configured(issuer):
    configured = settings(
        issuer.url,
        oidc_project_claim="department",
        oidc_scope_claim="groups",
        oidc_name_claim="email",
        oidc_grants=("gpu-planners=plan", "gpu-viewers=read"),
    )
    token = issuer.token(department="hr", email="a@example.com", groups=["gpu-planners", 3, "others"])
    assert identify(IdentityTokens(configured), token) == Caller("hr", "a@example.com", frozenset({"plan"}))


@pytest.mark.parametrize(
    "issuer_url", ["http://login.example.com", "ftp://127.0.0.1", "login.example.com", "file:///x"]
)
def test_a_provider_without_tls_is_refused(issuer_url):
    with pytest.raises(ValueError, match="not an https URL"):
        IdentityTokens(settings(issuer_url))


def test_a_provider_without_an_audience_is_refused():
    with pytest.raises(ValueError, match="--oidc-audience"):
        IdentityTokens(AccessSettings(oidc_issuer="https://login.example.com"))


def test_the_leeway_is_half_a_minute(issuer, tokens):
    now = int(time.time())
    assert identify(tokens, issuer.token(exp=now - 10)).name == "ada"
    with pytest.raises(InvalidTokenError, match="expired"):
        identify(tokens, issuer.token(exp=now - 60))
