"""The errors of prices and names.

PricingError
├── UnknownName        a provider, region, type or accelerator that is not in the catalogue
├── InvalidSnapshot    catalogue files that cannot be read or break a rule of the gate
├── MissingExchangeRate no exchange rate between two currencies on or before a date
├── InvalidQuery       a search with invalid filters; carries every problem
├── InvalidPlugin      a plug-in that lacks a part of its protocol; carries every problem
└── ProviderFailure    a cloud could not be read; carries the kind of failure and details
"""

from __future__ import annotations

from datetime import date
from typing import Literal

from pricing.frozen_values import dataclass

FailureKind = Literal[
    "no_sdk", "no_credentials", "denied", "throttled", "timed_out", "unreachable", "server_error", "changed_format",
    "busy", "interrupted", "not_written",
]  # fmt: skip
TRANSIENT_FAILURES = frozenset({"throttled", "unreachable", "server_error"})


class PricingError(Exception):
    """The base of all errors of this package; they carry fields, and their callers write the messages."""


class UnknownName(PricingError):
    """`name` is not a known `kind` ("accelerator", "region" ...); `nearest` holds close names, best first."""

    def __init__(self, kind: str, name: str, nearest: tuple[str, ...] = ()) -> None:
        self.kind, self.name, self.nearest = kind, name, nearest
        hint = f"; nearest: {', '.join(nearest)}" if nearest else ""
        super().__init__(f"unknown {kind} {name!r}{hint}")


@dataclass(frozen=True, slots=True)
class QueryProblem:
    """One invalid filter of a search: its place, the value, and the expected value."""

    place: str
    message: str
    value: str = ""
    expected: str = ""


class InvalidQuery(PricingError):
    """An invalid search with all its `problems`."""

    def __init__(self, problems: tuple[QueryProblem, ...]) -> None:
        self.problems = problems
        super().__init__("; ".join(f"{problem.place}: {problem.message}" for problem in problems))


class InvalidSnapshot(PricingError):
    """Catalogue files that break a rule; `faults` names every one with its file and line."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        self.faults = faults
        super().__init__("; ".join(faults))


class MissingExchangeRate(PricingError):
    """No exchange rate from `source` to `target` is known on or before `day`."""

    def __init__(self, source: str, target: str, day: date) -> None:
        self.source, self.target, self.day = source, target, day
        super().__init__(f"no exchange rate from {source} to {target} on or before {day}")


class InvalidPlugin(PricingError):
    """A plug-in that does not follow its protocol: its `kind`, `name` and `file`, and every one of its `problems`."""

    def __init__(self, kind: str, name: str, file: str, problems: tuple[str, ...]) -> None:
        self.kind, self.name, self.file, self.problems = kind, name, file, problems
        where = f" ({file})" if file else ""
        super().__init__(f"{name}{where} is no {kind}: {'; '.join(problems)}")


class ProviderFailure(PricingError):
    """A cloud could not be read: `kind` gives the reason, `detail` its answer (never a secret).

    `retry_after_s` is the wait that the server requires. A `transient` failure may succeed on a retry.
    """

    def __init__(self, kind: FailureKind, detail: str, retry_after_s: float | None = None) -> None:
        self.kind, self.detail, self.retry_after_s = kind, detail, retry_after_s
        super().__init__(f"{kind.replace('_', ' ')}: {detail}")

    @property
    def transient(self) -> bool:
        return self.kind in TRANSIENT_FAILURES
