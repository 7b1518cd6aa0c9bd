"""The file of a request and the files that it refers to; problems carry their place.

The command line and Python read these files, relative to the folder of the request: measurements (`measurements:
[{file: job.measured.json}]`), what describes a served model (service_files.py) and quotas. The service never opens a
path from a request.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from planner.inputs.file_reader import BYTES_MAX
from planner.inputs.merged_settings import Place
from planner.inputs.parsed_file import ParsedFile
from planner.library.file_problems import unreadable_file
from planner.request.errors import InputProblem, InvalidRequest
from pricing.csv_tables import short_path
from pricing.errors import InvalidSnapshot

STANDARD_INPUT = "-"
FILE_FIELD = "file"


def read_bytes(file: str, complaints: Sequence[InputProblem] = ()) -> bytes:
    """The bytes of a file, or of standard input for -. InvalidRequest with `complaints` if it cannot be read.

    Of a file that is too large no more is read than shows that it is.
    """
    try:
        if file == STANDARD_INPUT:
            return sys.stdin.buffer.read(BYTES_MAX + 1)
        with Path(file).open("rb") as opened:
            size = os.fstat(opened.fileno()).st_size
            if size <= BYTES_MAX:
                return opened.read(BYTES_MAX + 1)
    except OSError as error:
        raise InvalidRequest((*complaints, unreadable_file(file, error))) from None
    too_large = InputProblem("", file, f"the file has {size:,} bytes", "", f"at most {BYTES_MAX:,} bytes, or a bill")
    raise InvalidRequest((*complaints, too_large))


def expand_document(
    document: Mapping[str, Any],
    settings: Mapping[str, Any],
    file: str,
    source: ParsedFile | None = None,
    *,
    place: Place,
) -> tuple[dict[str, Any], list[InputProblem]]:
    """The document of `file` merged with `settings`, the defaults of its `source` and the files that it refers to.

    `place` formats the name of a setting as the caller wrote it.
    """
    from planner.inputs.merged_settings import merge_settings

    merged, conflicts = merge_settings(document, settings, place, source)
    merged, missing = expand_quotas(merged, file)
    merged, unread = _expand_workloads(merged, file)
    return merged, [*conflicts, *missing, *unread]


def _expand_workloads(document: Mapping[str, Any], file: str) -> tuple[dict[str, Any], list[InputProblem]]:
    """The document with the contents of the files of its workloads, and a problem for each that cannot be read.

    Fields next to `file` in the request override those of the file. `file` is the path of the request.
    """
    complaints: list[InputProblem] = []
    workloads = document.get("workloads")
    if not isinstance(workloads, list):
        return dict(document), complaints
    folder = Path(file).parent
    expanded = [
        _expand_workload(each, f"workloads[{index}]", folder, complaints) for index, each in enumerate(workloads)
    ]
    return {**document, "workloads": expanded}, complaints


def _expand_workload(workload: Any, path: str, folder: Path, complaints: list[InputProblem]) -> Any:
    if not isinstance(workload, dict):
        return workload
    if workload.get("network") or workload.get("serving"):
        from planner.library.service_files import expand_service

        workload = expand_service(workload, path, folder, complaints)
    if not isinstance(listed := workload.get("measurements"), list):
        return workload
    measurements = []
    for index, each in enumerate(listed):
        if not isinstance(each, dict) or not isinstance(each.get(FILE_FIELD), str):
            measurements.append(each)
        elif (read := _read_measurement(each, f"{path}.measurements[{index}]", folder, complaints)) is not None:
            measurements.append(read)
    return {**workload, "measurements": measurements}


def _read_measurement(
    stated: Mapping[str, Any], path: str, folder: Path, complaints: list[InputProblem]
) -> dict[str, Any] | None:
    from planner.measure import read_file

    place = folder / stated[FILE_FIELD]
    try:
        contents = read_file(place)
    except InvalidRequest as error:
        complaints += [replace(each, path=f"{path}.{FILE_FIELD}") for each in error.complaints]
        return None
    except OSError as error:
        complaints.append(unreadable_file(str(place), error, f"{path}.{FILE_FIELD}"))
        return None
    return {**contents, **{name: value for name, value in stated.items() if name != FILE_FIELD}}


def read_quota_rows(path: Path) -> tuple[list[dict[str, Any]], list[InputProblem]]:
    """The quotas of a table in the form of a request, or the problems of the table."""
    from pricing import quota

    try:
        return [{**asdict(row), "as_of": row.as_of.isoformat()} for row in quota.read_quota_table(path)], []
    except InvalidSnapshot as bad:
        short = short_path(path)  # as the table names itself; the problem names the path as given
        parts = (fault.removeprefix(short).partition(": ") for fault in bad.faults)
        return [], [InputProblem("quotas", f"{path}{line}", message) for line, _, message in parts]


def expand_quotas(document: dict[str, Any], file: str) -> tuple[dict[str, Any], list[InputProblem]]:
    """The document with the rows of its quota table in place of the path, which is relative to `file`."""
    path = document.get("quotas")
    if not isinstance(path, str):
        return document, []
    rows, faults = read_quota_rows(Path(file).parent / path)
    return {**document, "quotas": rows}, faults
