"""The kinds of billing exports: one module each, found by walking this folder, with the names of `ExportModule`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Protocol

from planner.inputs.bills.export_columns import Columns
from pricing.frozen_values import dataclass
from pricing.plugins import check_plugin

CHARGES = ("usage", "unused", "fee", "upfront", "discount", "credit", "refund", "tax", "support", "adjustment")
"""The kinds of charges. unused: the unused part of a commitment; fee: a recurring payment, for a commitment or another
product; upfront: a single payment for the entire term; discount: a reduction of the price of the row's usage."""


@dataclass(frozen=True, slots=True)
class Fields:
    """SQL expressions over the columns of a file: numbers for amounts and hours, text for all others.

    `charge` gives one of CHARGES. `unit` is that of `quantity` and `unused` (of a commitment). `cost` is the required
    amount, from which `billed` and `effective` are derived. `end` is the end of a charge period, with its hour.
    `one_view`: the file has one cost column, either cash or amortised. `credit` is part of the row and reported
    separately. `details` are the attributes of a commitment, as JSON. `texts` name the used product, the most reliable
    first. `line` is the id of the line, empty where an export has none.
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
    line: str = ""


class ExportModule(Protocol):
    """The names of a module of this folder, checked when it is loaded."""

    TITLE: str

    def recognised(self, columns: Columns) -> str | None:
        """The columns that identify this export, for people; None for any other table."""
        ...

    def fields(self, columns: Columns) -> Fields: ...


@cache
def find_exports() -> tuple[ExportModule, ...]:
    """Every export that can be read, by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))
    modules = (importlib.import_module(f"{__name__}.{name}") for name in names)
    return tuple(check_plugin(module, ExportModule, "billing export") for module in modules)


def recognise_export(columns: Columns) -> tuple[ExportModule, str] | None:
    """The export with these columns, and the columns that identify it; None for any other table."""
    candidates = ((each, each.recognised(columns)) for each in find_exports())
    return next(((each, reason) for each, reason in candidates if reason), None)
