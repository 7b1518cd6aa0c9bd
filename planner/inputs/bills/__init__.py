"""A billing export -> what accelerators were used, what they cost, and what was paid for and not used.

Finds exports and their columns in `exports/` (one module each), reads any of them in one pass with bounded memory, and
names accelerators by the catalogue. Knows no prices: what something could cost instead is planned elsewhere.
"""

from __future__ import annotations

from pathlib import Path

from planner.inputs.bills.accelerator_matching import AcceleratorMatcher
from planner.inputs.bills.bill import Bill
from planner.inputs.bills.duckdb_scan import scan
from planner.inputs.bills.export_detection import NotABill, is_parquet, open_table
from planner.inputs.bills.line_classification import build_bill
from planner.inputs.sandbox import Progress, SandboxFailure, SandboxLimits, run_isolated
from planner.request.errors import InternalError
from pricing.catalog.price_catalog import Catalog

__all__ = ["Bill", "NotABill", "Progress", "is_bill", "read"]

MEMORY_BYTES = 6 * 2**30
"""Of addresses, several times what the engine may fill: a bound for what is no bill at all."""


def is_bill(path: Path) -> bool:
    """Whether the head of a file is that of a known billing export or of Parquet; False for what cannot be read."""
    try:
        return is_parquet(path) or bool(open_table(path))
    except (NotABill, OSError):
        return False


def read(
    path: Path, catalog: Catalog, *, name: str = "", progress: Progress | None = None, seconds: float | None = None
) -> Bill:
    """The bill in a file. `name` is what to call it; `progress` is called with the fraction that is read.

    Reads in a process of its own, for at most `seconds` where given. Raises NotABill with the reason for a file that
    is none, OSError for one that cannot be read.
    """
    try:
        bill = run_isolated(
            _read_bill, path, catalog, name or path.name, bounds=SandboxLimits(MEMORY_BYTES, seconds), progress=progress
        )
    except SandboxFailure as reason:
        raise NotABill(str(reason)) from None
    if progress is not None:
        progress(1.0)
    if faults := bill.differences():
        raise InternalError(f"{bill.name} does not add up: {'; '.join(faults)}")
    return bill


def _read_bill(path: Path, catalog: Catalog, name: str, *, progress: Progress | None = None) -> Bill:
    table, finder = open_table(path), AcceleratorMatcher(catalog)
    return build_bill(table, scan(table, finder.pattern, progress), finder, name)
