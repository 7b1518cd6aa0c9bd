"""Billing exports: FOCUS, AWS CUR, Azure, Google Cloud and Oracle. The accelerators in use become the demand.

Demand is the mean of the last full months, by workload tag and accelerator; commitments in force are taken over.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from planner.inputs.parsed_file import ParsedFile
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions

SUFFIXES = (".parquet", ".jsonl", ".ndjson", ".gz")
IS_SURE = True
"""The columns identify a billing export whatever the file is called: a bill that ends in .csv is no sheet."""
IS_ISOLATED = True
IS_USAGE = True
HEAD_BYTES = 400_000


def claims(data: bytes) -> bool:
    """Whether the head of the bytes is that of a known billing export."""
    from planner.inputs.bills import is_bill

    if not data.strip():
        return False
    needs_all = data.startswith((b"PAR1", b"\x1f\x8b"))
    with tempfile.TemporaryDirectory(prefix="planner-bill-") as folder:
        path = Path(folder) / "head"
        path.write_bytes(data if needs_all else data[:HEAD_BYTES])
        return is_bill(path)


def read(data: bytes, name: str, options: SheetOptions = NO_SHEET_OPTIONS) -> ParsedFile:
    """The accelerators of a bill as a request, projected as the options say."""
    from planner.inputs.bills.usage_projection import build_request_from_bills
    from pricing.catalog.price_catalog import Catalog

    with tempfile.TemporaryDirectory(prefix="planner-bill-") as folder:
        path = Path(folder) / "bill"
        path.write_bytes(data)
        return build_request_from_bills(
            [path], options.catalog or Catalog.embedded(), options.projection, names=[name], seconds=options.seconds
        )
