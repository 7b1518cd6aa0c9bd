"""A file that a command is given, and the files that it names in turn: bytes in, faults with their place."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from planner.cli._measurement_files import expand_measurements
from planner.cli._quota_tables import expand_quotas
from planner.request.errors import InputProblem, InvalidRequest
from pricing.clock import today

STANDARD_INPUT = "-"


def read_bytes(file: str, complaints: Sequence[InputProblem] = ()) -> bytes:
    """What a file, or standard input for -, holds. InvalidRequest with `complaints` before it where it cannot be
    read."""
    if file == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise InvalidRequest((*complaints, unreadable_file(file, error))) from None


def unreadable_file(place: str, error: OSError) -> InputProblem:
    return InputProblem("", place, f"cannot be read: {error.strerror or error}")


def expand_document(
    document: Mapping[str, Any], settings: Mapping[str, Any], file: str
) -> tuple[dict[str, Any], list[InputProblem]]:
    """The document of `file` dated today unless it says otherwise, with `settings` over it and what stands in the
    quota and measurement files that it names."""
    whole, missing = expand_quotas({"as_of": today().isoformat(), **document, **settings}, file)
    whole, unread = expand_measurements(whole, file)
    return whole, [*missing, *unread]
