"""Runs a provider's adapter: its tasks side by side, inside one time limit, and lands what they read.

What one task could not read stays as it was known; the other tasks and the other providers land all the same. Knows
no cloud; imports an adapter, and with it an SDK, only when that provider is refreshed.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from pricing import local
from pricing.adapter import Adapter, Ask, Covered, Left, Reading, Refused
from pricing.catalog import EMBEDDED
from pricing.errors import Failed
from pricing.gate import Fetched, Key
from pricing.landing import Landed, land_locked
from pricing.offering import Offering
from pricing.patience import Patience
from pricing.price import Price
from pricing.providers import Layout, plug_in_packages
from pricing.snapshot import names_of, read

MADE_BY = "planner prices refresh"
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
G = TypeVar("G", bound=Sized)


@dataclass(frozen=True, slots=True)
class Step:
    """Progress: `done` of `total` tasks of `provider`; `task` has just ended with `rows`, or `failed`."""

    provider: str
    task: str
    done: int
    total: int
    rows: int = 0
    failed: Failed | None = None


@dataclass(frozen=True, slots=True)
class Trouble:
    """A task that could not be read, and why; what was known of its part stays."""

    task: str
    failed: Failed


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a refresh of one provider came to. `landed` is None where nothing could be written."""

    provider: str
    landed: Landed | None
    troubles: tuple[Trouble, ...]


class Named(Protocol[T_co]):
    """A Task or a QuotaTask."""

    @property
    def name(self) -> str: ...

    @property
    def read(self) -> Callable[[], Iterator[T_co]]: ...


def adapter_of(provider: str) -> Adapter | None:
    """The `fetch` module of an embedded provider or a plug-in; None where it has none. Imports no SDK."""
    packages = dict(plug_in_packages())
    name = f"{packages.get(provider, f'pricing.providers.{provider}')}.fetch"
    with suppress(ModuleNotFoundError):
        if find_spec(name) is not None:
            return cast(Adapter, importlib.import_module(name))
    return None


def ask_of(
    provider: str,
    data: Path,
    patience: Patience,
    today: date,
    *,
    regions: tuple[str, ...] = (),
    endpoints: Mapping[str, str] | None = None,
) -> Ask:
    """What to ask of a provider, with what the snapshot in use knows of it."""
    layout = local.layout(EMBEDDED, data)
    own = Layout(layout.data, ((provider, dict(layout.folders)[provider]),))
    known = {o.instance_type: o for o in read(own).offerings}
    return Ask(regions, today, names_of(own), known, endpoints or {}, patience)


def refresh(
    provider: str,
    data: Path,
    patience: Patience,
    today: date,
    say: Callable[[Step], None],
    *,
    regions: tuple[str, ...] = (),
    endpoints: Mapping[str, str] | None = None,
    accept: Mapping[str, str] | None = None,
) -> Outcome:
    """Reads, judges and lands one provider. Never raises Failed: what failed is in the outcome.

    An interruption stops every task, lands nothing and passes on.
    """
    adapter = adapter_of(provider)
    if adapter is None:
        text = "this provider has no adapter: import its prices from a file"
        return Outcome(provider, None, (Trouble("", Failed("no_sdk", text)),))
    troubles: list[Trouble] = []
    try:
        with local.locked(provider, data):
            say(Step(provider, "finding out what there is to read", 0, 0))
            ask = ask_of(provider, data, patience, today, regions=regions, endpoints=endpoints)
            pile = Pile()
            for task, found in run(provider, adapter.tasks(ask), adapter.AT_ONCE, patience, say, Pile.of):
                if isinstance(found, Failed):
                    troubles.append(Trouble(task, found))
                else:
                    pile.merge(found)
            if not pile.prices and not pile.offerings:
                raise Failed(troubles[0].failed.kind if troubles else "changed_format", "no price was read at all")
            fetched = pile.fetched(adapter.sources(today))
            landed = land_locked(provider, fetched, data, made_by=MADE_BY, day=today, accept=accept or {})
    except Failed as failed:
        return Outcome(provider, None, (*troubles, Trouble("", failed)))
    return Outcome(provider, landed, tuple(troubles))


def run(
    provider: str,
    tasks: Iterable[Named[T]],
    at_once: int,
    patience: Patience,
    say: Callable[[Step], None],
    gather: Callable[[Iterator[T]], G],
) -> Iterator[tuple[str, G | Failed]]:
    """Each task's name with what `gather` (list, Pile.of) makes of all that it read, or why it failed, in the order
    in which they end."""
    waiting = list(tasks)
    total, done = len(waiting), 0
    with ThreadPoolExecutor(max(1, at_once), thread_name_prefix=f"refresh-{provider}") as pool:
        running: dict[Future[G | Failed], str] = {pool.submit(_read, t, gather): t.name for t in waiting}
        try:
            while running:
                ended, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in sorted(ended, key=lambda f: running[f]):
                    name, found, done = running.pop(future), future.result(), done + 1
                    failed = found if isinstance(found, Failed) else None
                    say(Step(provider, name, done, total, 0 if isinstance(found, Failed) else len(found), failed))
                    yield name, found
        except BaseException:
            patience.stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _read(task: Named[T], gather: Callable[[Iterator[T]], G]) -> G | Failed:
    try:
        return gather(task.read())
    except Failed as failed:
        return failed
    except Exception as error:  # noqa: BLE001 - an answer that the adapter did not expect costs no other task
        return Failed("changed_format", f"{task.name}: {type(error).__name__}: {error}")


@dataclass(slots=True)
class Pile:
    """What the tasks have read so far. A price that two rows state differently is refused, and none of them taken."""

    offerings: dict[str, Offering] = field(default_factory=dict)
    prices: dict[Key, Price] = field(default_factory=dict)
    covered: set[Covered] = field(default_factory=set)
    refused: list[Refused] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)
    twice: set[Key] = field(default_factory=set)

    @classmethod
    def of(cls, readings: Iterable[Reading]) -> Pile:
        """All readings of one task, taken as they come: rows that are left out are counted, not kept."""
        pile = cls()
        pile.add(readings)
        return pile

    def __len__(self) -> int:
        return len(self.offerings) + len(self.prices)

    def merge(self, other: Pile) -> None:
        """The other's readings too."""
        self.add((*other.offerings.values(), *other.prices.values(), *other.covered, *other.refused))
        self.left.update(other.left)
        self.twice |= other.twice

    def add(self, readings: Iterable[Reading]) -> None:
        takers: dict[type, Callable[[Any], None]] = {
            Offering: self._offering,
            Price: self._price,
            Covered: self.covered.add,
            Refused: self.refused.append,
            Left: lambda left: self.left.update({left.reason: left.rows}),
        }
        for reading in readings:
            takers[type(reading)](reading)

    def fetched(self, sources: Iterable[Any]) -> Fetched:
        prices = {key: price for key, price in self.prices.items() if key not in self.twice}
        covered = frozenset(self.covered)
        return Fetched(self.offerings, prices, covered, tuple(self.refused), self.left, tuple(sources))

    def _offering(self, offering: Offering) -> None:
        self.offerings[offering.instance_type] = offering

    def _price(self, price: Price) -> None:
        first = self.prices.setdefault(price.key, price)
        if first.price_per_hour != price.price_per_hour:
            self.twice.add(price.key)
            text = f"two rows state {first.price_per_hour:g} and {price.price_per_hour:g}"
            self.refused.append(Refused(" ".join(price.key), text, price.key))
