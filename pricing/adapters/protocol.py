"""The interface between a refresh and a cloud: requests to a provider's `fetch.py`, and its readings. Knows no SDK.

`pricing/providers/<name>/fetch.py` implements `ProviderAdapter`. It only translates the answers of its cloud:
`pricing.snapshots.quality_gate` decides which readings enter the catalogue, `pricing.refresh.price_refresh` runs the
tasks, `pricing.snapshots.publication` writes the snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from typing import Protocol

from pricing.accelerator import AcceleratorNames
from pricing.adapters.retries import RetryBudget
from pricing.frozen_values import dataclass
from pricing.offering import Offering
from pricing.price import Price, PurchaseKind
from pricing.quota import Quota
from pricing.regions import Source
from pricing.sale import SaleTerm


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """The scope of a refresh, and the known offerings.

    `regions` limits it; empty means all. `known` has the provider's offerings by instance type, as in the current
    snapshot: an adapter uses the accelerator of a known type from there and resolves that of a new type through
    `names`, never by similarity. `endpoints` replaces addresses, by the adapter's own service names. Every call goes
    through `patience`.
    """

    regions: tuple[str, ...]
    today: date
    names: AcceleratorNames
    known: Mapping[str, Offering]
    endpoints: Mapping[str, str]
    patience: RetryBudget


@dataclass(frozen=True, slots=True)
class CoveredScope:
    """All prices of `kind` in `region` were read to the end: a known price that is not among them has vanished.

    `family` limits that to one family of the catalogue; empty means all.
    """

    region: str
    kind: PurchaseKind
    family: str = ""


@dataclass(frozen=True, slots=True)
class UnidentifiedAccelerator:
    """Why the accelerator of a row is not identified."""

    reason: str


@dataclass(frozen=True, slots=True)
class SkippedRows:
    """Rows that the catalogue excludes by a rule: Windows, dedicated hosts, types without accelerators."""

    reason: str
    rows: int = 1


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row inside the scope that cannot be used: `subject` names it, `reason` gives the problem.

    It goes to quarantine with both: an unknown accelerator, unit or currency, a missing field, a price of zero. `key`
    is the Price.key that it would have had, if that can be derived: the known price of that key then stays in use.
    """

    subject: str
    reason: str
    key: tuple[str, str, str, str] | None = None


PriceReading = Offering | Price | SaleTerm | CoveredScope | SkippedRows | RejectedRow
"""A SaleTerm is what the cloud itself tells of the sale or the end of a type in a region: `build_told_term`."""


@dataclass(frozen=True, slots=True)
class FetchTask:
    """An independent part of a refresh; `name` identifies it in progress and errors.

    `read` yields readings and may run in a thread. If it raises ProviderFailure, all its readings are dropped, and the
    known prices of its part stay in use.
    """

    name: str
    read: Callable[[], Iterator[PriceReading]]


@dataclass(frozen=True, slots=True)
class QuotaTask:
    """An independent part of `planner quota`."""

    name: str
    read: Callable[[], Iterator[Quota | SkippedRows | RejectedRow]]


class ProviderAdapter(Protocol):
    """The functions and constants of each `fetch.py`. `tasks` and `quota_tasks` may call the cloud to list the parts.

    `EXTRA` is the optional dependency with the SDK (pip install 'gpu-planner[aws]'); SDKs are imported inside
    functions, never at the top. `SERVICES` are the names for --endpoint; `AT_ONCE` is the number of tasks that may run
    together within the limits of the API; `sources` gives every source that its rows may name, read on `day`.
    """

    EXTRA: str
    SERVICES: tuple[str, ...]
    AT_ONCE: int

    def sources(self, day: date) -> tuple[Source, ...]: ...

    def tasks(self, request: FetchRequest) -> Iterable[FetchTask]: ...

    def quota_tasks(self, request: FetchRequest) -> Iterable[QuotaTask]: ...
