"""Public measurements as runs of known networks, each with its utilisation of the accelerators.

networks.csv has the network of each group of rows, with its source. Rows of other work, and rows whose accelerator has
no known rate, are no runs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from planner.performance.model_catalog import find_model
from planner.performance.network_arithmetic import operations_per_token
from planner.performance.throughput.accelerator_scores import read_table
from planner.performance.throughput.network_estimates.roofline import NetworkJob, RooflineLimit
from planner.result.message import Message
from pricing.accelerator import Accelerator, embedded_names
from pricing.frozen_values import dataclass

PRECISIONS = {
    "amp": "fp16",
    "fp16/amp": "fp16",
    "fp32/tf32": "tf32",
    "amp_bf16": "bf16",
    "amp_fp8": "fp8",
    "f16": "fp16",
    "q4_k_m": "int4",
    "autocast:bf16+sr": "bf16",
    "autocast:bf16/amp": "bf16",
    "autocast:bf16+fp32optimizer": "bf16",
}
"""Precisions as the sources write them, in lower case; names of this project are not listed."""
FAMILIES = ("training", "prefill", "decode")
"""Kinds of work; predictions use runs of the same one."""
NETWORKS = Path(__file__).parent / "networks.csv"
NUMBERS = (
    "count_max", "parameters", "layers", "hidden_size", "sequence_length", "tokens_per_unit", "bytes_per_parameter",
    "units_to_converge",
)  # fmt: skip
TEXTS = ("group", "config", "accelerators", "network", "family", "run", "precision", "source")
MEASUREMENTS = Path(__file__).parents[1] / "data" / "measurements.csv"
MEASUREMENT_COLUMNS = (
    "group", "config", "accelerator", "accelerator_count", "precision", "throughput", "time_to_train_minutes", "source",
    "date",
)  # fmt: skip
MOST_UTILISATION = 1.0
"""A row above it contradicts its own precision, or skips work that is counted, and is no run."""


@dataclass(frozen=True, slots=True)
class BenchmarkRun:
    """One measured row: `utilisation` is units a second over its limit (MFU; bandwidth for decode)."""

    job: NetworkJob
    limit: RooflineLimit
    utilisation: float
    network: str
    group: str
    source: str
    date: str
    weight: float = 1.0

    @property
    def cell(self) -> tuple[str, str, str]:
        """Rows of one cell repeat each other: their weights add up to the root of their number."""
        return (self.group, self.job.accelerator.name, self.limit.precision)


@dataclass(frozen=True, slots=True)
class NetworkEntry:
    """One row of networks.csv: the network of the measurements of `group` with `config` in their configuration."""

    group: str
    config: str
    accelerators: tuple[str, ...]
    count_max: float | None
    network: str
    family: str
    run: str
    parameters: float
    depth_times_width: float | None
    sequence_length: float | None
    tokens_per_unit: float | None
    bytes_per_parameter: float | None
    precision: str
    units_to_converge: float | None
    source: str


@cache
def load_networks() -> dict[str, tuple[NetworkEntry, ...]]:
    """The networks of the measurements by group, in the order of the table."""
    by_group: dict[str, list[NetworkEntry]] = {}
    for row in read_table(NETWORKS, (*TEXTS, *NUMBERS)):
        by_group.setdefault(row["group"], []).append(_parse_entry(row))
    return {group: tuple(rows) for group, rows in by_group.items()}


def _parse_entry(row: Mapping[str, str]) -> NetworkEntry:
    """Published models have their shape from models.csv, the others from the table itself."""
    number = {name: float(row[name]) if row[name] else None for name in NUMBERS}
    shape = find_model(row["network"])
    depth, width = (shape.layers, shape.hidden_size) if shape else (number["layers"], number["hidden_size"])
    parameters = shape.active_parameters if shape else number["parameters"]
    if parameters is None:
        raise ValueError(f"networks.csv: {row['network']} has no parameters, nor has models.csv")
    return NetworkEntry(
        group=row["group"],
        config=row["config"],
        accelerators=tuple(row["accelerators"].split()),
        count_max=number["count_max"],
        network=row["network"],
        family=row["family"],
        run=row["run"],
        parameters=parameters,
        depth_times_width=depth * width if depth and width else None,
        sequence_length=number["sequence_length"],
        tokens_per_unit=number["tokens_per_unit"],
        bytes_per_parameter=number["bytes_per_parameter"],
        precision=row["precision"],
        units_to_converge=number["units_to_converge"],
        source=row["source"],
    )


def public_runs(measurements: Iterable[Mapping[str, str]]) -> tuple[BenchmarkRun, ...]:
    """The runs of known networks among rows of measurements.csv, in their order."""
    known, names = load_networks(), embedded_names().by_name
    runs = []
    for row in measurements:
        if (group := known.get(row["group"])) and (part := names.get(row["accelerator"])):
            entry = next((e for e in group if _matches_entry(row, e)), None)
            run = _build_run(row, entry, part) if entry else None
            if run is not None and run.utilisation <= MOST_UTILISATION:
                runs.append(run)
    cell_sizes = Counter(run.cell for run in runs)
    return tuple(replace(run, weight=cell_sizes[run.cell] ** -0.5) for run in runs)


def shipped_measurements() -> list[Mapping[str, str]]:
    """The rows that are shipped."""
    return read_table(MEASUREMENTS, MEASUREMENT_COLUMNS)


@cache
def shipped_runs() -> tuple[BenchmarkRun, ...]:
    """The runs among the measurements that are shipped; read once."""
    return public_runs(shipped_measurements())


def _matches_entry(row: Mapping[str, str], entry: NetworkEntry) -> bool:
    return (
        entry.config in row["config"]
        and (not entry.accelerators or row["accelerator"].startswith(entry.accelerators))
        and (entry.count_max is None or float(row["accelerator_count"]) <= entry.count_max)
    )


def _build_run(row: Mapping[str, str], entry: NetworkEntry, part: Accelerator) -> BenchmarkRun | None:
    rate = _units_per_second(row, entry)
    work = _work_per_unit(entry, row["config"])
    written = row["precision"].lower() or entry.precision
    if rate is None or work is None or not written:
        return None
    count = float(row["accelerator_count"])
    precision = PRECISIONS.get(written, written)
    job = NetworkJob(entry.family, entry.run, entry.parameters, work, precision, part, count)
    limit = job.limit
    if isinstance(limit, Message):
        return None
    return BenchmarkRun(
        job, limit, rate / limit.units_per_second, entry.network, row["group"], row["source"], row["date"]
    )


def _units_per_second(row: Mapping[str, str], entry: NetworkEntry) -> float | None:
    """The measured throughput, else units to converge over the time to train; None where those are unknown."""
    if row["throughput"]:
        return float(row["throughput"])
    if entry.units_to_converge is None or not row["time_to_train_minutes"]:
        return None
    return entry.units_to_converge / (float(row["time_to_train_minutes"]) * 60)


def _work_per_unit(entry: NetworkEntry, config: str) -> float | None:
    """Operations (bytes for decode) in one unit of the row; None where its sequence length is unknown."""
    if entry.family == "decode":
        return None if entry.bytes_per_parameter is None else entry.parameters * entry.bytes_per_parameter
    length = entry.sequence_length or _parse_sequence_length(config)
    if length is None:
        return None
    run = "prefill" if entry.family == "prefill" else entry.run
    per_token = operations_per_token(run, entry.parameters, entry.depth_times_width, length)
    return per_token * (entry.tokens_per_unit or length)


def _parse_sequence_length(config: str) -> float | None:
    match = re.search(r"\b(?:seq|sequence length)\s*=?\s*(\d+)", config, re.IGNORECASE)
    return float(match[1]) if match else None
