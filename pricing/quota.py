"""A quota: how much of something an account may run at once, and the table that holds many. Knows no cloud and no plan.

`planner quota` writes such a table, a user without permission to read quotas may write one by hand; a request carries
its rows as data.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, fields
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, get_args

from pricing.csv_tables import TableRow, format_sorted_table, read_rows
from pricing.errors import InvalidSnapshot
from pricing.frozen_values import dataclass
from pricing.price import purchase_kinds

QuotaUnit = Literal["vcpu", "accelerator", "node"]
UNIT_WORDS: dict[str, str] = {"vcpu": "vCPUs", "accelerator": "accelerators", "node": "nodes"}


@dataclass(frozen=True, slots=True)
class Quota:
    """One limit of one account in one region.

    `code` is the provider's code for quota increases (L-417A185B, standardNCADSA100v4Family,
    PREEMPTIBLE_NVIDIA_H100_GPUS), `title` the name for readers. It counts the `unit`s of every running node whose
    instance type matches one of `types` (patterns, space separated) and that is rented under one of `kinds` (space
    separated, as Price.kind: a node under a commitment runs on demand). `used` is None if unknown.
    """

    provider: str
    region: str
    code: str
    title: str
    unit: QuotaUnit
    limit: float
    used: float | None
    types: str
    kinds: str
    as_of: date
    source_id: str

    @property
    def key(self) -> tuple[str, str, str]:
        return (self.provider, self.region, self.code)

    def counts(self, instance_type: str, kind: str) -> bool:
        """Whether nodes of that type, under that kind of purchase option, count against this quota."""
        return kind in self.kinds.split() and any(fnmatchcase(instance_type, p) for p in self.types.split())


COLUMNS = tuple(field.name for field in fields(Quota))
KEY = ("provider", "region", "code")


def unknown_kinds(kinds: str) -> list[str]:
    """The words of `kinds` that are no kind of purchase option."""
    return [word for word in kinds.split() if word not in purchase_kinds()]


def read_quota_table(path: Path) -> tuple[Quota, ...]:
    """The quotas in a CSV table; raises InvalidSnapshot with every fault, each with its file and line."""
    faults: list[str] = []
    quotas_by_key: dict[tuple[str, str, str], Quota] = {}
    first_places: dict[tuple[str, str, str], str] = {}
    for row in read_rows(path, COLUMNS, faults):
        quota = _parse_quota(row)
        if quota is None:
            continue
        first = first_places.setdefault(quota.key, row.place)
        if first != row.place:
            row.fault(f"the same provider, region and code as {first}")
        quotas_by_key[quota.key] = quota
    if faults:
        raise InvalidSnapshot(tuple(faults))
    return tuple(quotas_by_key.values())


def _parse_quota(row: TableRow) -> Quota | None:
    kinds = row.text("kinds")
    if unknown := unknown_kinds(kinds):
        row.fault(f"kinds holds {', '.join(unknown)}, expected words of {', '.join(purchase_kinds())}")
    limit = row.number("limit")
    if not row.values["limit"]:
        row.fault("limit is empty; leave the row out where it is not known")
    return row.build(
        Quota,
        **{column: row.text(column) for column in ("provider", "region", "code", "title", "types", "source_id")},
        unit=row.one_of("unit", get_args(QuotaUnit)),
        limit=limit,
        used=row.number("used"),
        kinds=kinds,
        as_of=row.day("as_of"),
    )


def format_quota_table(quotas: Iterable[Quota]) -> bytes:
    """The table that `read_quota_table` reads, sorted by provider, region and code: equal quotas, equal bytes."""
    return format_sorted_table(COLUMNS, (asdict(quota) for quota in quotas), key=KEY)
