"""Files that describe a served model beside a request: its config.json, measurements, and a trace of its requests.

`network: {config: config.json}`, `serving: {measured: [{file: bench.json, accelerator: H100, count: 2}], trace:
requests.csv}`. Fields next to a file in the request go before those of the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from planner.library.file_problems import unreadable_file
from planner.request.errors import InputProblem

CONFIG, TRACE, FILE = "config", "trace", "file"


def expand_service(workload: Mapping[str, Any], path: str, folder: Path, complaints: list[InputProblem]) -> Any:
    """The workload at `path` of the request with the contents of its files, which are relative to `folder`."""
    expanded = dict(workload)
    network, serving = workload.get("network"), workload.get("serving")
    if isinstance(network, dict) and isinstance(network.get(CONFIG), str):
        parsed, problems = read_config(folder / network[CONFIG], f"{path}.network.{CONFIG}")
        complaints += problems
        expanded["network"] = {**(parsed or PLACEHOLDER_NETWORK), **_without(network, CONFIG)}
    if not isinstance(serving, dict):
        return expanded
    if isinstance(listed := serving.get("measured"), list):
        serving = {**serving, "measured": _expand_rates(listed, f"{path}.serving.measured", folder, complaints)}
    if isinstance(serving.get(TRACE), str):
        expanded |= _expand_trace(expanded, serving, f"{path}.serving.{TRACE}", folder, complaints)
    else:
        expanded["serving"] = serving
    return expanded


PLACEHOLDER_NETWORK = {"parameters": 1.0, "run": "inference"}
PLACEHOLDER_DEMAND, PLACEHOLDER_SERVING = {"requests_per_second": 1.0}, {"input_tokens": 1.0, "output_tokens": 2.0}
"""Instead of files that cannot be read: the request is refused for them, and checked no further there."""


def _without(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != name}


def _read_bytes(place: Path, path: str, complaints: list[InputProblem]) -> bytes | None:
    try:
        return place.read_bytes()
    except (OSError, ValueError) as error:  # a name with a null byte
        complaints.append(unreadable_file(str(place), error, path))
        return None


def read_config(place: Path, path: str) -> tuple[dict[str, Any], list[InputProblem]]:
    """Fields of the network that a Hugging Face config.json describes, and every problem with it."""
    from planner.performance.serving.model_config import network_of_config

    problems: list[InputProblem] = []
    data = _read_bytes(place, path, problems)
    if data is None:
        return {}, problems
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        document = None
    parsed, faults = network_of_config(document) if isinstance(document, dict) else ({}, ("no JSON object",))
    return parsed, [InputProblem(path, str(place), fault) for fault in faults]


def _expand_rates(listed: list[Any], path: str, folder: Path, complaints: list[InputProblem]) -> list[Any]:
    from planner.inputs.service_load.benchmark_results import read_rates

    rates: list[Any] = []
    for index, each in enumerate(listed):
        if not isinstance(each, dict) or not isinstance(each.get(FILE), str):
            rates.append(each)
            continue
        at = f"{path}[{index}].{FILE}"
        data = _read_bytes(folder / each[FILE], at, complaints)
        if data is not None:
            parsed, problems = read_rates(data, each[FILE], _without(each, FILE), at)
            rates += parsed
            complaints += problems
    return rates


def _expand_trace(
    workload: Mapping[str, Any],
    serving: Mapping[str, Any],
    path: str,
    folder: Path,
    complaints: list[InputProblem],
) -> dict[str, Any]:
    """Demand, serving and notes of a workload with what its trace tells."""
    from planner.inputs.service_load.request_trace import read_trace_file

    stated, demand = _without(serving, TRACE), workload.get("demand")
    data = _read_bytes(folder / serving[TRACE], path, complaints)
    observed = read_trace_file(data, serving[TRACE], path) if data is not None else ()
    if isinstance(observed, tuple):
        complaints += observed
        return {"demand": demand or PLACEHOLDER_DEMAND, "serving": {**PLACEHOLDER_SERVING, **stated}}
    notes = [str(workload.get("notes") or ""), f"arrivals and lengths: {observed.about}"]
    return {
        "demand": {**observed.demand(), **demand} if isinstance(demand, dict) else observed.demand(),
        "serving": {**observed.serving(), **stated},
        "notes": "; ".join(filter(None, notes)),
    }
