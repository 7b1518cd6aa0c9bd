"""Runs the tasks of a provider's adapter concurrently within one time limit, and publishes their readings.

The known prices of a failed task stay in use; other tasks and other providers are published all the same. Knows no
cloud; imports an adapter, and with it an SDK, only for a provider that is refreshed.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from dataclasses import field
from datetime import date
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Generic, Protocol, TypeVar

from pricing.adapters.protocol import (
    CoveredScope,
    FetchRequest,
    PriceReading,
    ProviderAdapter,
    RejectedRow,
    SkippedRows,
)
from pricing.adapters.retries import RetryBudget
from pricing.catalog import data_folder
from pricing.catalog.snapshot_tables import read_accelerator_names
from pricing.errors import InvalidPlugin, ProviderFailure
from pricing.frozen_values import dataclass
from pricing.offering import Offering
from pricing.plugins import check_plugin
from pricing.price import Price
from pricing.providers import find_plug_in_packages
from pricing.sale import SaleTerm
from pricing.snapshots.publication import PublishedSnapshot, publish_under_lock, read_last_good
from pricing.snapshots.quality_gate import FetchedRows, PriceKey

MADE_BY = "planner prices refresh"
ADAPTER_KIND = "provider adapter"
GRACE_S = 5.0
"""How long after the time limit a task may still come to its end: its calls end with the limit, the rest is parsing."""
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
G = TypeVar("G", bound=Sized)


@dataclass(frozen=True, slots=True)
class RefreshProgress:
    """`done` of `total` tasks of `provider` have ended; `task` is the last, with `rows` or with a failure."""

    provider: str
    task: str
    done: int
    total: int
    rows: int = 0
    failed: ProviderFailure | None = None


@dataclass(frozen=True, slots=True)
class TaskFailure:
    """A failed task, and why it failed; the known prices of its part stay in use."""

    task: str
    failed: ProviderFailure


@dataclass(frozen=True, slots=True)
class RefreshOutcome:
    """The outcome of a refresh of one provider. `landed` is None if no snapshot could be written."""

    provider: str
    landed: PublishedSnapshot | None
    troubles: tuple[TaskFailure, ...]


class NamedTask(Protocol[T_co]):
    """A FetchTask or a QuotaTask."""

    @property
    def name(self) -> str: ...

    @property
    def read(self) -> Callable[[], Iterator[T_co]]: ...


def load_adapter(provider: str) -> ProviderAdapter | None:
    """The `fetch` module of an embedded provider or a plug-in; None if it has none. Imports no SDK.

    Raises InvalidPlugin for a module that lacks a part of ProviderAdapter, or that needs a module not installed.
    """
    package = dict(find_plug_in_packages()).get(provider, f"pricing.providers.{provider}")
    name = f"{package}.fetch"
    try:
        if find_spec(name) is None:
            return None
        module = importlib.import_module(name)
    except ModuleNotFoundError as missing:
        # Only the package itself may be absent (a user's own cloud has tables and no code); a module that the package
        # imports and that is not installed is a defect of the plug-in, which must not pass for "no adapter".
        if missing.name and f"{package}.".startswith(f"{missing.name}."):
            return None
        problem = f"it imports {missing.name}, which is not installed"
        raise InvalidPlugin(ADAPTER_KIND, name, "", (problem,)) from missing
    adapter: ProviderAdapter = check_plugin(module, ProviderAdapter, ADAPTER_KIND)
    return adapter


def build_fetch_request(
    provider: str,
    data: Path,
    patience: RetryBudget,
    today: date,
    *,
    regions: tuple[str, ...] = (),
    endpoints: Mapping[str, str] | None = None,
) -> FetchRequest:
    """The request to a provider's adapter, with the offerings of the snapshot in use."""
    last = read_last_good(provider, data)
    known = {o.instance_type: o for o in last.content.offerings}
    return FetchRequest(regions, today, read_accelerator_names(last.layout), known, endpoints or {}, patience)


def refresh_provider(
    provider: str,
    data: Path,
    patience: RetryBudget,
    today: date,
    report: Callable[[RefreshProgress], None],
    *,
    regions: tuple[str, ...] = (),
    endpoints: Mapping[str, str] | None = None,
    accept: Mapping[str, str] | None = None,
) -> RefreshOutcome:
    """Reads, checks and publishes the prices of one provider. Failures are in the outcome, not raised.

    An interruption stops every task, publishes no snapshot and is raised.
    """
    adapter = load_adapter(provider)
    if adapter is None:
        text = "this provider has no adapter: import its prices from a file"
        return RefreshOutcome(provider, None, (TaskFailure("", ProviderFailure("no_sdk", text)),))
    failures: list[TaskFailure] = []
    try:
        with data_folder.lock_provider(provider, data):
            report(RefreshProgress(provider, "listing the parts to read", 0, 0))
            request = build_fetch_request(provider, data, patience, today, regions=regions, endpoints=endpoints)
            total = ReadingBatch()
            tasks = list_tasks(provider, partial(adapter.tasks, request), patience)
            for task, batch in run_tasks(provider, tasks, adapter.AT_ONCE, patience, report, ReadingBatch.of):
                if isinstance(batch, ProviderFailure):
                    failures.append(TaskFailure(task, batch))
                else:
                    total.merge(batch)
            if not total.prices and not total.offerings:
                if failures:
                    return RefreshOutcome(provider, None, tuple(failures))
                raise ProviderFailure("changed_format", "no price was read at all")
            fetched = total.fetched(adapter.sources(today))
            landed = publish_under_lock(provider, fetched, data, made_by=MADE_BY, day=today, accept=accept or {})
    except ProviderFailure as failed:
        return RefreshOutcome(provider, None, (*failures, TaskFailure("", failed)))
    return RefreshOutcome(provider, landed, tuple(failures))


def list_tasks(
    provider: str, tasks: Callable[[], Iterable[NamedTask[T]]], patience: RetryBudget
) -> tuple[NamedTask[T], ...]:
    """The tasks of an adapter, which may ask its cloud for them; raises ProviderFailure."""
    listing = _Listing("the parts to read", lambda: iter(tasks()))
    ((_, listed),) = run_tasks(provider, (listing,), 1, patience, lambda _: None, tuple)
    if isinstance(listed, ProviderFailure):
        raise listed
    return listed


@dataclass(frozen=True, slots=True)
class _Listing(Generic[T_co]):
    """The listing of tasks as a task of its own, so that it has their limit of time."""

    name: str
    read: Callable[[], Iterator[T_co]]


def run_tasks(
    provider: str,
    tasks: Iterable[NamedTask[T]],
    at_once: int,
    patience: RetryBudget,
    report: Callable[[RefreshProgress], None],
    gather: Callable[[Iterator[T]], G],
) -> Iterator[tuple[str, G | ProviderFailure]]:
    """The name of each task, in the order in which they end, with its failure or its readings.

    `gather` (list, ReadingBatch.of) collects the readings inside the thread of the task. A call's own limit of time is
    one for the next bytes, which an answer in drops never reaches: tasks that have not ended after the time limit are
    given up. Their threads are daemons, so that no exit waits for them.
    """
    waiting, running = SimpleQueue[NamedTask[T]](), Counter[str]()
    ended = SimpleQueue[tuple[str, G | ProviderFailure]]()
    for task in tasks:
        waiting.put(task)
        running[task.name] += 1
    total = running.total()
    for number in range(min(max(1, at_once), total)):
        name = f"refresh-{provider}-{number}"
        Thread(target=_run_waiting, args=(waiting, ended, gather, patience), name=name, daemon=True).start()
    try:
        for done in range(1, total + 1):
            name, outcome = _next_outcome(ended, running, patience)
            running -= Counter((name,))
            failed = outcome if isinstance(outcome, ProviderFailure) else None
            rows = 0 if isinstance(outcome, ProviderFailure) else len(outcome)
            report(RefreshProgress(provider, name, done, total, rows, failed))
            yield name, outcome
    except BaseException:
        patience.stop.set()
        raise


def _next_outcome(
    ended: SimpleQueue[tuple[str, G | ProviderFailure]], running: Counter[str], patience: RetryBudget
) -> tuple[str, G | ProviderFailure]:
    """The task that ends next; one that still runs after the time limit counts as failed, and ends for nobody."""
    while True:
        try:
            name, outcome = ended.get(timeout=0 if patience.stop.is_set() else patience.left_s + GRACE_S)
        except Empty:
            patience.stop.set()
            text = f"its answer had no end after {patience.seconds:g} s in all"
            return min(running), ProviderFailure("timed_out", text)
        if running[name]:
            return name, outcome


def _run_waiting(
    waiting: SimpleQueue[NamedTask[T]],
    ended: SimpleQueue[tuple[str, G | ProviderFailure]],
    gather: Callable[[Iterator[T]], G],
    patience: RetryBudget,
) -> None:
    """The work of one thread: task after task, until none waits."""
    while True:
        try:
            task = waiting.get_nowait()
        except Empty:
            return
        if patience.stop.is_set():
            ended.put((task.name, ProviderFailure("interrupted", "stopped before it was read")))
        else:
            ended.put((task.name, _run_task(task, gather)))


def _run_task(task: NamedTask[T], gather: Callable[[Iterator[T]], G]) -> G | ProviderFailure:
    try:
        return gather(task.read())
    except ProviderFailure as failed:
        return failed
    except KeyError as missing:
        return ProviderFailure("changed_format", f"{task.name}: an answer without {missing}")
    except Exception as error:  # noqa: BLE001 - an unexpected answer fails this task only
        return ProviderFailure("changed_format", f"{task.name}: {type(error).__name__}: {error}")


@dataclass(slots=True)
class ReadingBatch:
    """The readings so far. A price that two rows state differently is rejected, and neither is used."""

    offerings: dict[str, Offering] = field(default_factory=dict)
    prices: dict[PriceKey, Price] = field(default_factory=dict)
    sold: dict[PriceKey, SaleTerm] = field(default_factory=dict)
    covered: set[CoveredScope] = field(default_factory=set)
    refused: list[RejectedRow] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)
    twice: set[PriceKey] = field(default_factory=set)

    @classmethod
    def of(cls, readings: Iterable[PriceReading]) -> ReadingBatch:
        """All readings of one task; skipped rows are only counted, since they are the bulk of a feed."""
        batch = cls()
        batch.add(readings)
        return batch

    def __len__(self) -> int:
        return len(self.offerings) + len(self.prices)

    def merge(self, other: ReadingBatch) -> None:
        """Adds the readings of another batch."""
        self.add(
            (*other.offerings.values(), *other.prices.values(), *other.sold.values(), *other.covered, *other.refused)
        )
        self.left.update(other.left)
        self.twice |= other.twice

    def add(self, readings: Iterable[PriceReading]) -> None:
        takers: dict[type, Callable[[Any], None]] = {
            Offering: self._add_offering,
            Price: self._add_price,
            SaleTerm: lambda term: self.sold.update({term.key: term}),
            CoveredScope: self.covered.add,
            RejectedRow: self.refused.append,
            SkippedRows: lambda left: self.left.update({left.reason: left.rows}),
        }
        for reading in readings:
            takers[type(reading)](reading)

    def fetched(self, sources: Iterable[Any]) -> FetchedRows:
        prices = {key: price for key, price in self.prices.items() if key not in self.twice}
        covered = frozenset(self.covered)
        sold = tuple(self.sold.values())
        return FetchedRows(self.offerings, prices, covered, tuple(self.refused), self.left, tuple(sources), sold)

    def _add_offering(self, offering: Offering) -> None:
        self.offerings[offering.instance_type] = offering

    def _add_price(self, price: Price) -> None:
        first = self.prices.setdefault(price.key, price)
        if first.price_per_hour != price.price_per_hour:
            self.twice.add(price.key)
            text = f"two rows state {first.price_per_hour:g} and {price.price_per_hour:g}"
            self.refused.append(RejectedRow(" ".join(price.key), text, price.key))
