"""Measurements that a request refers to by file: `measurements: [{file: job.measured.json}]`.

Only commands read them, relative to the folder of the request. The service never opens a path from a request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from planner.cli._input_problems import unreadable_file
from planner.request.errors import InputProblem, InvalidRequest

FILE_FIELD = "file"


def expand_measurements(document: Mapping[str, Any], file: str) -> tuple[dict[str, Any], list[InputProblem]]:
    """The document with the contents of its measurement files, and a problem for each that cannot be read.

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
        complaints.append(unreadable_file(str(place), error, f"{path}.{FILE_FIELD}"))
        return None
    return {**contents, **{name: value for name, value in stated.items() if name != FILE_FIELD}}
