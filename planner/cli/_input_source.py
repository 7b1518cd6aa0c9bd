"""The file that a command is given -> the request in it; what stands beside it are options."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from planner.application import BillForecastOptions, read_bill, read_document
from planner.cli._request_files import read_bytes
from planner.cli._usage_report import progress_printer
from planner.inputs.bills import is_bill
from planner.inputs.parsed_file import ParsedFile
from planner.inputs.sheet_options import SheetOptions
from planner.request.errors import InputProblem
from pricing.catalog.price_catalog import Catalog

SECONDS = 600.0
"""For a sheet at hand; a bill takes as long as it takes, and tells how far it is."""


def read_source(
    file: str,
    catalog: Catalog,
    choices: SheetOptions,
    onward: BillForecastOptions,
    complaints: Sequence[InputProblem] = (),
) -> tuple[ParsedFile, list[InputProblem]]:
    """The request in a file, read apart, and faults of the options that do not fit it. Raises as `bytes_of` does."""
    if is_bill(path := Path(file)):
        return read_bill(path, file, catalog, choices, onward, option_flag, progress=progress_printer(file))
    return read_document(read_bytes(file, complaints), file, catalog, choices, onward, option_flag, seconds=SECONDS)


def option_flag(name: str) -> str:
    """How a setting is written on the command line."""
    return f"--{name.replace('_', '-')}"
