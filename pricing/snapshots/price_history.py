"""The price history of instance types, from all stored snapshots of a provider and its superseded prices.

A provider folder may hold history.csv: prices that were true before those of prices.csv, each `since` the day it was
first observed. Reads files and checks no price: a price in a snapshot counts as that of its day.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import groupby
from pathlib import Path

from pricing.catalog.data_folder import StoredSnapshot
from pricing.catalog.snapshot_tables import PRICE_COLUMNS
from pricing.csv_tables import TableRow, read_rows
from pricing.errors import InvalidSnapshot
from pricing.frozen_values import dataclass
from pricing.regions import strip_source_date

HISTORY_FILE = "history.csv"
HISTORY_COLUMNS = (
    "region", "instance_type", "purchase_option", "price_per_hour", "currency", "since", "source_id", "note",
)  # fmt: skip
SUPERSEDED = "superseded"
"""The snapshot id of a price that only history.csv has."""


@dataclass(frozen=True, slots=True)
class PriceObservation:
    """A price on the `day` that a source gives it; `snapshot` is the id of its snapshot, or SUPERSEDED."""

    key: tuple[str, str, str, str]
    day: str
    price_per_hour: float
    currency: str
    source_id: str
    snapshot: str


@dataclass(frozen=True, slots=True)
class PricePeriod:
    """An unchanged price, observed from `first` to `last` (ISO dates, inclusive; it may have been valid for longer).

    `percent` is the change from the previous period; None for the first, or if the currency changed.
    """

    provider: str
    region: str
    instance_type: str
    purchase_option: str
    first: str
    last: str
    price_per_hour: float
    currency: str
    percent: float | None
    sources: tuple[str, ...]
    snapshots: tuple[str, ...]


def read_observations(
    stored_snapshots: Iterable[StoredSnapshot], instance_types: Collection[str]
) -> tuple[PriceObservation, ...]:
    """Every price of these types in the snapshots and in the history of the oldest, in the order of the snapshots.

    Raises InvalidSnapshot with every fault.
    """
    faults: list[str] = []
    observations: list[PriceObservation] = []
    for each in stored_snapshots:
        old = _read_type_rows(each.path / HISTORY_FILE, HISTORY_COLUMNS, instance_types, faults)
        new = _read_type_rows(each.path / "prices.csv", PRICE_COLUMNS, instance_types, faults)
        observations += [_parse_observation(each.provider, row, "since", SUPERSEDED) for row in old]
        observations += [_parse_observation(each.provider, row, "as_of", each.id) for row in new]
    if faults:
        raise InvalidSnapshot(tuple(faults))
    return tuple(observations)


def build_price_periods(observations: Iterable[PriceObservation]) -> tuple[PricePeriod, ...]:
    """The dated series of every price, by key and then by day; on one day, in the order of the snapshots.

    A price that did not change from one day to the next is one line.
    """
    by_key = sorted(observations, key=lambda s: (s.key, s.day))  # stable: the order of snapshots decides on one day
    return tuple(line for key, rows in groupby(by_key, lambda s: s.key) for line in _build_periods(key, rows))


def _build_periods(key: tuple[str, str, str, str], rows: Iterable[PriceObservation]) -> Iterator[PricePeriod]:
    before: PriceObservation | None = None
    for (price, currency), grouped in groupby(rows, lambda s: (s.price_per_hour, s.currency)):
        same = list(grouped)
        comparable = before is not None and before.currency == currency
        provider, region, instance_type, option = key
        yield PricePeriod(
            provider=provider,
            region=region,
            instance_type=instance_type,
            purchase_option=option,
            first=same[0].day,
            last=same[-1].day,
            price_per_hour=price,
            currency=currency,
            percent=(price / before.price_per_hour - 1) * 100 if before and comparable else None,
            sources=tuple(dict.fromkeys(strip_source_date(s.source_id) for s in same)),
            snapshots=tuple(dict.fromkeys(s.snapshot for s in same)),
        )
        before = same[-1]


def _read_type_rows(
    path: Path, columns: tuple[str, ...], instance_types: Collection[str], faults: list[str]
) -> Iterator[TableRow]:
    rows = read_rows(path, columns, faults, optional=path.name == HISTORY_FILE)
    return (row for row in rows if row.values["instance_type"] in instance_types)


def _parse_observation(provider: str, row: TableRow, dated: str, snapshot: str) -> PriceObservation:
    return PriceObservation(
        key=(provider, row.text("region"), row.text("instance_type"), row.text("purchase_option")),
        day=row.day(dated).isoformat(),
        price_per_hour=row.positive("price_per_hour"),
        currency=row.text("currency"),
        source_id=row.text("source_id"),
        snapshot=snapshot,
    )
