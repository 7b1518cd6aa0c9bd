"""Between a refresh and a cloud: what a provider's `fetch.py` is asked, and what it reads. Knows no SDK.

`pricing/providers/<name>/fetch.py` offers what `Adapter` says. It turns the answers of its cloud into our values and
nothing else: what may enter the catalogue is judged by `pricing.snapshots.quality_gate`, where it is written by
`pricing.refresh.price_refresh`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from pricing.accelerator import AcceleratorNames
from pricing.adapters.retries import RetryBudget
from pricing.offering import Offering
from pricing.price import Price, PurchaseKind
from pricing.quota import Quota
from pricing.regions import Source


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """What to read, and what is known already.

    `regions` are the only ones to read; empty means all. `known` holds the provider's offerings by instance type, as
    in the last snapshot: an adapter takes the accelerator of a known type from there and resolves that of a new one
    through `names`, never by likeness. `endpoints` gives, by the adapter's own service names, another address to
    call. Every call goes through `patience`.
    """

    regions: tuple[str, ...]
    today: date
    names: AcceleratorNames
    known: Mapping[str, Offering]
    endpoints: Mapping[str, str]
    patience: RetryBudget


@dataclass(frozen=True, slots=True)
class CoveredScope:
    """All prices of `kind` in `region` were read to the end, so what was known before and is not among them is gone.

    `family` limits that to one family of the catalogue; empty is all of them.
    """

    region: str
    kind: PurchaseKind
    family: str = ""


@dataclass(frozen=True, slots=True)
class SkippedRows:
    """Rows that are no business of ours, left out by a rule: Windows, dedicated hosts, types without accelerators."""

    reason: str
    rows: int = 1


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that should be ours and cannot be taken as it is: `subject` names it, `reason` says what is wrong.

    It goes to quarantine with both: an unknown accelerator, unit or currency, a missing field, a price of zero. `key`
    is that of the price it would have been (Price.key), where that can be told: what was known of it then stays.
    """

    subject: str
    reason: str
    key: tuple[str, str, str, str] | None = None


PriceReading = Offering | Price | CoveredScope | SkippedRows | RejectedRow


@dataclass(frozen=True, slots=True)
class FetchTask:
    """A piece of a refresh that succeeds or fails by itself: `name` tells it in progress and faults.

    `read` yields readings and may run in a thread beside others. It raises `errors.Failed`; then all that it had
    yielded is dropped, and what was known of its part stays.
    """

    name: str
    read: Callable[[], Iterator[PriceReading]]


@dataclass(frozen=True, slots=True)
class QuotaTask:
    """The same for `planner quota`."""

    name: str
    read: Callable[[], Iterator[Quota | SkippedRows | RejectedRow]]


class ProviderAdapter(Protocol):
    """What each `fetch.py` offers. `tasks` and `quota_tasks` may call the cloud to find out what there is to read.

    `EXTRA` is the optional dependency that brings the SDK (pip install 'gpu-planner[aws]'); SDKs are imported inside
    functions, never at the top. `SERVICES` are the names that --endpoint takes; `AT_ONCE` how many tasks may run
    together within the limits of the API; `sources` gives every source that its rows may name, read on `day`.
    """

    EXTRA: str
    SERVICES: tuple[str, ...]
    AT_ONCE: int

    def sources(self, day: date) -> tuple[Source, ...]: ...

    def tasks(self, request: FetchRequest) -> Iterable[FetchTask]: ...

    def quota_tasks(self, request: FetchRequest) -> Iterable[QuotaTask]: ...
