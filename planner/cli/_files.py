"""A file that a command is given, and the files that it names in turn: bytes in, faults with their place."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from planner.cli._measured import measured
from planner.cli._quota import named
from planner.clock import today
from planner.errors import Complaint, InvalidRequest

STANDARD_INPUT = "-"


def bytes_of(file: str, complaints: Sequence[Complaint] = ()) -> bytes:
    """What a file, or standard input for -, holds. InvalidRequest with `complaints` before it where it cannot be
    read."""
    if file == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise InvalidRequest((*complaints, unreadable(file, error))) from None


def unreadable(place: str, error: OSError) -> Complaint:
    return Complaint("", place, f"cannot be read: {error.strerror or error}")


def written_out(
    document: Mapping[str, Any], settings: Mapping[str, Any], file: str
) -> tuple[dict[str, Any], list[Complaint]]:
    """The document of `file` dated today unless it says otherwise, with `settings` over it and what stands in the
    quota and measurement files that it names."""
    whole, missing = named({"as_of": today().isoformat(), **document, **settings}, file)
    whole, unread = measured(whole, file)
    return whole, [*missing, *unread]
