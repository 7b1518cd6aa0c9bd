"""Public measurements: read from a table, classified, and grouped into comparable cells.

The table (data/measurements.csv, or any other of the same columns) has one published result a row. Two results are
compared only inside one cell: the same benchmark, configuration, precision and unit, and for MLPerf the same round.
Results of one setup that are far apart mix several setups, and are left out of comparisons.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Literal

from planner.performance.result_tables import RefusedResult, read_result_rows
from planner.request.models import WorkFamily
from pricing.accelerator import AcceleratorNames
from pricing.errors import UnknownName
from pricing.frozen_values import dataclass

MEASUREMENTS = Path(__file__).parent / "data" / "measurements.csv"
COLUMNS = (
    "group", "benchmark", "config", "task", "accelerator", "accelerator_count", "nodes", "precision", "batch",
    "throughput", "unit", "time_to_train_minutes", "submitter", "runs", "source", "source_path", "date", "notes",
)  # fmt: skip
EXPECTED_TABLE = "a table with the columns of planner/performance/throughput/data/measurements.csv"
PRECISIONS = (
    (r"fp4", "fp4"),
    (r"fp8", "fp8"),
    (r"tf32", "tf32"),
    (r"bf16|amp|fp16|f16|q[0-9]|^$", "fp16"),
    (r"fp32", "fp32"),
)
"""Patterns of the precision in results, in this order (nvfp4 and mxfp4 are fp4); weights of 4 and 8 bits (q4, q8) are
multiplied in half precision. Results without one (MLPerf) count as half precision."""
FAMILIES: tuple[tuple[str, WorkFamily], ...] = (
    (r"decode|-tg\b", "decode"),
    (r"prefill|-pp\b", "prefill"),
)
LANGUAGE_MODELS = r"llm|llama|gpt-?[0-9j]|mpt-|mistral|mixtral|falcon|qwen|gemma|opt-[0-9]|bloom|palm|neox"
"""Benchmarks of training that are large language models."""
SUSPECT = "superlinear"
"""Word in the notes of rows whose rate contradicts their neighbours in the source."""
BATCH_OF_JOB = "mosaicml/llm-foundry"
"""The source that tells the batch of the whole job; the others tell that of a device."""
SETUP_SPREAD_MAX = 1.5
"""Results of one submitter, accelerator, count and batch that differ by a greater factor are of several setups."""
Kind = Literal["throughput", "time_to_train"]
Scaling = Literal["weak", "strong", "time_to_train", "replicas", "stream"]


@dataclass(frozen=True, slots=True)
class PublishedResult:
    """One published result. `rate` is work per second, or 1 / minutes to train, of all `count` accelerators; `batch` is
    that of a device and `year` that of the result, None where the source does not tell."""

    kind: Kind
    group: str
    cell: str
    family: WorkFamily
    precision: str
    scaling: Scaling
    accelerator: str
    count: float
    submitter: str
    source: str
    rate: float
    batch: float | None = None
    year: int | None = None

    @property
    def setting(self) -> str:
        """The cell without the precision: what results of several precisions share."""
        head, _, unit = self.cell.rsplit("|", 2)
        return f"{head}|{unit}"

    @property
    def publisher(self) -> str:
        """Whose results share their ways of measuring: the first part of the group."""
        return self.group.split(":")[0]


@dataclass(frozen=True, slots=True)
class ResultsTable:
    """The rows of a file: those that gave results (a row of two rates gives two), and those that gave none."""

    used: tuple[list[PublishedResult], ...]
    refused: tuple[RefusedResult, ...]

    @property
    def results(self) -> list[PublishedResult]:
        return [result for row in self.used for result in row]


def read_results(path: Path, names: AcceleratorNames) -> ResultsTable:
    """Every row of a table, used or refused with its line. Raises InvalidRequest where it is no such table at all."""
    return ResultsTable(*read_result_rows(path, COLUMNS, EXPECTED_TABLE, lambda _, row: _row_results(row, names)))


def _row_results(row: Mapping[str, str], names: AcceleratorNames) -> list[PublishedResult] | str:
    """One for each rate of a row, or the reason why it has none."""
    try:
        accelerator = names.resolve(row["accelerator"]).name
    except UnknownName:
        return f"no specification of {row['accelerator']}"
    if SUSPECT in row["notes"]:
        return f"{SUSPECT}, says its note"
    if _parse_precision(row["precision"]) is None:
        return f"unknown precision {row['precision']!r}"
    minutes = _positive_number(row["time_to_train_minutes"])
    rates = {"throughput": _positive_number(row["throughput"]), "time_to_train": 1 / minutes if minutes else None}
    count = _positive_number(row["accelerator_count"])
    if count is None or not any(rates.values()):
        return "no count or no rate"
    return [_build_result(row, kind, rate, accelerator, count) for kind, rate in rates.items() if rate]


def _build_result(row: Mapping[str, str], kind: str, rate: float, accelerator: str, count: float) -> PublishedResult:
    by_time = kind == "time_to_train"
    unit = "minutes" if by_time else row["unit"]
    family = _classify_family(row)
    return PublishedResult(
        "time_to_train" if by_time else "throughput",
        row["group"],
        "|".join((kind, row["group"], row["benchmark"], row["config"], row["precision"], unit)),
        family,
        _parse_precision(row["precision"]) or "",
        _classify_scaling(row, family, by_time),
        accelerator,
        count,
        row["submitter"],
        row["source"],
        rate,
        _batch_per_device(row, count),
        max(map(int, re.findall(r"\b(?:19|20)\d\d\b", row["date"])), default=None),
    )


def merge_results(results: Sequence[PublishedResult], *, by_setup: bool) -> list[PublishedResult]:
    """One result for each cell, accelerator and count (and submitter and batch), the median of its results; without
    those that mix setups."""
    setups = [setup for setup in setups_of(results) if not is_mixed(setup)]
    if by_setup:
        return [_median_result(setup) for setup in setups]
    results_by_key: dict[tuple[str, ...], list[PublishedResult]] = defaultdict(list)
    for setup in setups:
        for result in setup:
            results_by_key[result.cell, result.accelerator, f"{result.count:g}"].append(result)
    return [_median_result(same) for _, same in sorted(results_by_key.items())]


def is_mixed(setup: Sequence[PublishedResult]) -> bool:
    """Whether results that should be of one setup are too far apart for that."""
    rates = [result.rate for result in setup]
    return max(rates) > SETUP_SPREAD_MAX * min(rates)


def setups_of(results: Sequence[PublishedResult]) -> list[list[PublishedResult]]:
    """The results of each cell, accelerator, count, submitter and batch."""
    setups: dict[tuple[str, ...], list[PublishedResult]] = defaultdict(list)
    for result in results:
        numbers = f"{result.count:g}", f"{result.batch or 0:g}"
        setups[result.cell, result.accelerator, result.submitter, *numbers].append(result)
    return [setup for _, setup in sorted(setups.items())]


def _median_result(same: Sequence[PublishedResult]) -> PublishedResult:
    """The median rate; submitter, batch and year where all agree, else none (the latest year)."""
    submitters, batches = ({getattr(one, name) for one in same} for name in ("submitter", "batch"))
    return replace(
        same[0],
        rate=math.exp(median(math.log(one.rate) for one in same)),
        submitter=same[0].submitter if len(submitters) == 1 else "",
        batch=same[0].batch if len(batches) == 1 else None,
        year=max((one.year for one in same if one.year is not None), default=None),
    )


def _batch_per_device(row: Mapping[str, str], count: float) -> float | None:
    batch = _positive_number(row["batch"].replace(",", ""))
    return batch / count if batch and row["source"] == BATCH_OF_JOB else batch


def _positive_number(text: str) -> float | None:
    """A number above 0; None for anything else."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value > 0 and math.isfinite(value) else None


def _parse_precision(text: str) -> str | None:
    return next((name for pattern, name in PRECISIONS if re.search(pattern, text.strip(), re.IGNORECASE)), None)


def _classify_family(row: Mapping[str, str]) -> WorkFamily:
    text = f"{row['group']} {row['benchmark']} {row['config']}".lower()
    if row["task"] == "inference":
        return next((family for pattern, family in FAMILIES if re.search(pattern, text)), "inference")
    return "llm_training" if re.search(LANGUAGE_MODELS, text) else "training"


def _classify_scaling(row: Mapping[str, str], family: WorkFamily, by_time: bool) -> Scaling:
    """MLPerf training has a fixed job, not a fixed batch per device; inference adds replicas; a stream is single."""
    if family in ("decode", "prefill"):
        return "stream"
    if by_time:
        return "time_to_train"
    if row["task"] == "inference":
        return "replicas"
    return "strong" if row["source"].startswith("mlcommons/") or "strong scaling" in row["notes"] else "weak"
