"""The billing exports that can be read: one module each, found by walking this folder.

An export is a public module with TITLE, `recognised(columns)` (by which columns it is this one, "" where it is not)
and `fields(columns)`: where each figure stands, as SQL over columns of text. It knows no accelerator and no engine.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from planner.inputs.bills.export_columns import Columns

CHARGES = ("usage", "unused", "fee", "upfront", "discount", "credit", "refund", "tax", "support", "adjustment")
"""What a row is charged for. unused: a commitment that nothing used; fee: what is paid for a commitment or another
thing as it runs, upfront: once for all of it; discount: off the price of the usage that the row names."""


@dataclass(frozen=True, slots=True)
class Fields:
    """SQL expressions over the columns of a file; those of amounts and hours are numbers, all others text.

    `charge` gives one of CHARGES. `unit` is what `quantity` and `unused` (of a commitment) count. `cost` is the amount
    that must be there; `billed` and `effective` come from it. `end` is when a charge period is over, with its hour.
    `one_view`: the file has one cost column, which is cash or amortised by what else is in it. `credit` is part of the
    row and shown apart. `details` are a commitment's, as JSON. `texts` name what was used, the surest first.
    """

    provider: str
    charge: str
    start: str
    cost: str
    billed: str
    effective: str
    currency: str
    texts: tuple[str, ...]
    quantity: str = "NULL::DOUBLE"
    unused: str = "NULL::DOUBLE"
    unit: str = "NULL::VARCHAR"
    end: str = "NULL::VARCHAR"
    option: str = "NULL::VARCHAR"
    commitment: str = "NULL::VARCHAR"
    details: str = "NULL::VARCHAR"
    account: str = "NULL::VARCHAR"
    region: str = "NULL::VARCHAR"
    credit: str = "0::DOUBLE"
    tags: str = "NULL::VARCHAR"
    one_view: bool = False


@dataclass(frozen=True, slots=True)
class BillingExport:
    """One kind of billing export."""

    name: str
    title: str
    recognised: Callable[[Columns], str]
    fields: Callable[[Columns], Fields]


@cache
def find_exports() -> tuple[BillingExport, ...]:
    """Every export that can be read, by name."""
    names = sorted(found.name for found in pkgutil.iter_modules(__path__) if not found.name.startswith("_"))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return tuple(
        BillingExport(name, module.TITLE, module.recognised, module.fields)
        for name, module in zip(names, modules, strict=True)
    )


def recognise_export(columns: Columns) -> tuple[BillingExport, str] | None:
    """Which export has these columns, and what tells; None for another table."""
    found = ((each, each.recognised(columns)) for each in find_exports())
    return next(((each, told) for each, told in found if told), None)
