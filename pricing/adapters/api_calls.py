"""Shared by all adapters: the name of a call in messages, allowed addresses, and results read once for many tasks.

Knows no SDK.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar
from urllib.parse import urlsplit

from pricing.errors import ProviderFailure
from pricing.frozen_values import dataclass

T = TypeVar("T")

CALL_S = 30.0
"""The longest wait of one call to connect, or for the next bytes."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
LONGEST_DETAIL = 300
"""The characters of a cloud's own message that are quoted."""


@dataclass(frozen=True, slots=True)
class ApiCall:
    """The name of a call in messages: ec2 describe_instance_types of us-east-1."""

    service: str
    method: str
    of: str

    def __str__(self) -> str:
        return f"{self.service} {self.method} of {self.of}"


class SharedResult(Generic[T]):
    """A result that several tasks need. The first caller reads it; a failure is raised to every caller."""

    def __init__(self, read: Callable[[], T]) -> None:
        self._read, self._lock = read, Lock()
        self._value: T | None = None
        self._failed: ProviderFailure | None = None

    def get(self) -> T:
        with self._lock:
            if self._failed is not None:
                raise self._failed
            if self._value is None:
                try:
                    self._value = self._read()
                except ProviderFailure as failed:
                    self._failed = failed
                    raise
            return self._value

    def get_or_none(self) -> T | None:
        """None if it cannot be read; failures that end the whole refresh are raised."""
        try:
            return self.get()
        except ProviderFailure as failed:
            if failed.kind in {"interrupted", "timed_out", "no_sdk"}:
                raise
            return None


def uses_plain_http(service: str, address: str | None) -> bool:
    """Whether an address is plain HTTP, where no credential is sent; raises ProviderFailure for another machine."""
    parts = urlsplit(address or "")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise ProviderFailure(
            "denied", f"{service}: plain http is only allowed to this machine, not to {parts.hostname}"
        )
    return parts.scheme == "http"


def summarize_error(error: object) -> str:
    """The text of an exception, shortened to one line."""
    return " ".join(str(error).split())[:LONGEST_DETAIL]
