"""The request file of a command and the files that it refers to; problems carry their place."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from planner.cli._input_problems import option_flag, unreadable_file
from planner.cli._measurement_files import expand_measurements
from planner.cli._quota_tables import expand_quotas
from planner.request.errors import InputProblem, InvalidRequest

STANDARD_INPUT = "-"


def read_bytes(file: str, complaints: Sequence[InputProblem] = ()) -> bytes:
    """The bytes of a file, or of standard input for -. InvalidRequest with `complaints` if it cannot be read."""
    if file == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise InvalidRequest((*complaints, unreadable_file(file, error))) from None


def expand_document(
    document: Mapping[str, Any], settings: Mapping[str, Any], file: str
) -> tuple[dict[str, Any], list[InputProblem]]:
    """The document of `file` merged with `settings` and with the quota and measurement files that it refers to."""
    from planner.application import merge_settings

    merged, conflicts = merge_settings(document, settings, option_flag)
    merged, missing = expand_quotas(merged, file)
    merged, unread = expand_measurements(merged, file)
    return merged, [*conflicts, *missing, *unread]
