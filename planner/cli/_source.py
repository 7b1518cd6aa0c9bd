"""The file that a command is given -> the request in it; what stands beside it are options."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from planner.billing import is_bill
from planner.cli._files import bytes_of
from planner.cli._usage import progress
from planner.errors import Complaint
from planner.intake import Choices, Read
from planner.received import Onward, read_bill, read_sent
from pricing.catalog import Catalog

SECONDS = 600.0
"""For a sheet at hand; a bill takes as long as it takes, and tells how far it is."""


def source_of(
    file: str, catalog: Catalog, choices: Choices, onward: Onward, complaints: Sequence[Complaint] = ()
) -> tuple[Read, list[Complaint]]:
    """The request in a file, read apart, and faults of the options that do not fit it. Raises as `bytes_of` does."""
    if is_bill(path := Path(file)):
        return read_bill(path, file, catalog, choices, onward, option, progress=progress(file))
    return read_sent(bytes_of(file, complaints), file, catalog, choices, onward, option, seconds=SECONDS)


def option(name: str) -> str:
    """How a setting is written on the command line."""
    return f"--{name.replace('_', '-')}"
