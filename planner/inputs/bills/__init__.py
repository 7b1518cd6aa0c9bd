"""Billing exports: the accelerators used, their cost, and the part that was paid for but not used.

Each kind of export is one module of `exports/`. A file is read in one pass with bounded memory, and accelerators are
matched with the catalogue.
"""

from __future__ import annotations

from pathlib import Path

from planner.inputs.bills.bill import Bill
from planner.inputs.bills.export_detection import NotABill, is_parquet, open_parts
from planner.inputs.sandbox import Progress, SandboxFailure, SandboxLimits, run_isolated
from planner.request.errors import InternalError
from pricing.catalog.price_catalog import Catalog

__all__ = ["Bill", "NotABill", "Progress", "is_bill", "read"]

MEMORY_BYTES = 6 * 2**30
"""Address space, several times the memory limit of the engine: a limit for files that are not bills."""


def is_bill(path: Path) -> bool:
    """Whether the head of a file is that of a known billing export or of Parquet, or a manifest of one; every folder is
    taken for one. False for an unreadable file."""
    try:
        return path.is_dir() or is_parquet(path) or bool(open_parts(path))
    except (NotABill, OSError):
        return False


def read(
    path: Path, catalog: Catalog, *, name: str = "", progress: Progress | None = None, seconds: float | None = None
) -> Bill:
    """The bill in a file. `name` is its name in messages; `progress` is called with the fraction read so far.

    Reads in a separate process, for at most `seconds`. Raises NotABill with the reason, OSError for an unreadable file.
    """
    try:
        bill = run_isolated(
            _read_bill, path, catalog, name or path.name, bounds=SandboxLimits(MEMORY_BYTES, seconds), progress=progress
        )
    except SandboxFailure as reason:
        raise NotABill(str(reason)) from None
    if progress is not None:
        progress(1.0)
    if differences := bill.differences():
        raise InternalError(f"{bill.name} does not add up: {'; '.join(differences)}")
    return bill


def _read_bill(path: Path, catalog: Catalog, name: str, *, progress: Progress | None = None) -> Bill:
    from planner.inputs.bills.accelerator_matching import AcceleratorMatcher
    from planner.inputs.bills.duckdb_scan import scan
    from planner.inputs.bills.line_classification import build_bill

    tables, finder = open_parts(path), AcceleratorMatcher(catalog)
    return build_bill(tables, scan(tables, finder.pattern, progress), finder, name)
