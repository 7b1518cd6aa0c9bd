"""Who calls: the project whose jobs and plans a request may see, and what it may do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, get_args

from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    from fastapi import Request

DEFAULT_PROJECT = "default"
Scope = Literal["plan", "read", "admin"]
"""`plan`: make and delete plans; `read`: plans, prices, offers; `admin`: figures of the whole service."""
SCOPES: tuple[Scope, ...] = get_args(Scope)

PROJECT_LENGTH, NAME_LENGTH = 64, 128
"""Most characters of both."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever sent a request. Everything that is stored belongs to a project, and other projects do not see it."""

    project: str
    name: str
    scopes: frozenset[Scope] = frozenset()


LOCAL_CALLER = Caller(DEFAULT_PROJECT, "local", frozenset(SCOPES))
"""Everybody, where no key is required."""


def identify_caller(request: Request) -> Caller:
    """The caller of a request, as the gate has identified it."""
    caller: Caller = getattr(request.state, "caller", LOCAL_CALLER)
    return caller


def parse_scopes(words: Iterable[str]) -> frozenset[Scope]:
    """The scopes among words; other words are left out."""
    known = set(words)
    return frozenset(scope for scope in SCOPES if scope in known)
