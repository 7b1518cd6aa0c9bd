"""Reads the file of a command into a request, with the options for columns and bills."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from planner.application import BillForecastOptions, read_bill, read_document
from planner.cli._input_problems import option_flag
from planner.cli._request_files import read_bytes
from planner.cli._usage_report import progress_printer
from planner.inputs.bills import is_bill
from planner.inputs.parsed_file import ParsedFile
from planner.inputs.sheet_options import SheetOptions
from planner.request.errors import InputProblem
from pricing.catalog.price_catalog import Catalog

SECONDS = 600.0
"""Time limit for a sheet or document; a bill has none, but prints its progress."""


def read_source(
    file: str,
    catalog: Catalog,
    choices: SheetOptions,
    bills: BillForecastOptions,
    complaints: Sequence[InputProblem] = (),
) -> tuple[ParsedFile, list[InputProblem]]:
    """The request in a file, read in a sandbox, and problems of options that do not apply to it. Raises as
    `read_bytes`."""
    if is_bill(path := Path(file)):
        return read_bill(path, file, catalog, choices, bills, option_flag, progress=progress_printer(file))
    return read_document(read_bytes(file, complaints), file, catalog, choices, bills, option_flag, seconds=SECONDS)
