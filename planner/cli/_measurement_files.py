"""Measurements that a request names by their file: `measurements: [{file: job.measured.json}]`.

Files are read by commands only, from beside the request that names them; a service never reads what a caller names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from planner.request.errors import InputProblem, InvalidRequest

FILE_FIELD = "file"


def expand_measurements(document: Mapping[str, Any], file: str) -> tuple[dict[str, Any], list[InputProblem]]:
    """The document with what its measurement files say in their place, and a complaint for each that says nothing.

    What stands beside `file` in the request goes before what the file says. `file` is the request's own name.
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
    if not isinstance(workload, dict) or not isinstance(listed := workload.get("measurements"), list):
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
        complaints.append(
            InputProblem(f"{path}.{FILE_FIELD}", str(place), f"cannot be read: {error.strerror or error}")
        )
        return None
    return {**contents, **{name: value for name, value in stated.items() if name != FILE_FIELD}}
