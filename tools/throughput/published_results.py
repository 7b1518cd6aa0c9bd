"""Public measurements: read from a table, classified, and grouped into comparable cells.

The table (data/measurements.csv, or any other of the same columns) has one published result a row. Two results are
compared only inside one cell: the same benchmark, configuration, precision and unit, and for MLPerf the same round.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Literal

import planner.performance.throughput
from planner.request.errors import InputProblem, InvalidRequest
from planner.request.models import WorkFamily
from pricing.accelerator import AcceleratorNames
from pricing.errors import UnknownName

MEASUREMENTS = Path(planner.performance.throughput.__file__).parent / "data" / "measurements.csv"
COLUMNS = (
    "group", "benchmark", "config", "task", "accelerator", "accelerator_count", "nodes", "precision", "batch",
    "throughput", "unit", "time_to_train_minutes", "submitter", "runs", "source", "source_path", "date", "notes",
)  # fmt: skip
EXPECTED_TABLE = "a table with the columns of planner/performance/throughput/data/measurements.csv"
PRECISIONS = (
    (r"fp8", "fp8"),
    (r"tf32", "tf32"),
    (r"bf16|amp|fp16|f16|q[0-9]", "fp16"),
    (r"fp32", "fp32"),
)
"""Patterns of the precision in results, in this order; weights of 4 and 8 bits are multiplied in half precision.
Results without one (MLPerf) count as half precision."""
FAMILIES: tuple[tuple[str, WorkFamily], ...] = (
    (r"decode|-tg\b", "decode"),
    (r"prefill|-pp\b", "prefill"),
)
LANGUAGE_MODELS = r"llm|llama|gpt-?[0-9j]|mpt-|mistral|mixtral|falcon|qwen|gemma|opt-[0-9]|bloom|palm|neox"
"""Benchmarks of training that are large language models."""
Kind = Literal["throughput", "time_to_train"]
Scaling = Literal["weak", "strong", "time_to_train", "replicas", "stream"]


@dataclass(frozen=True, slots=True)
class PublishedResult:
    """One published result. `rate` is work per second, or 1 / minutes to train, of all `count` accelerators."""

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


@dataclass(frozen=True, slots=True)
class SkippedRow:
    """A row that is left out, by its number in the file (the head is 1), and the reason."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ResultsTable:
    """The rows of a file: those that gave results (a row of two rates gives two), and those that gave none."""

    used: list[list[PublishedResult]]
    refused: list[SkippedRow]

    @property
    def results(self) -> list[PublishedResult]:
        return [result for row in self.used for result in row]


def read_results(path: Path, names: AcceleratorNames) -> ResultsTable:
    """Every row of a table, used or refused with its line. Raises InvalidRequest where it is no such table at all."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = "no UTF-8 text" if isinstance(error, UnicodeDecodeError) else error.strerror or str(error)
        raise InvalidRequest((InputProblem("", str(path), f"cannot be read: {why}", "", EXPECTED_TABLE),)) from None
    reader = csv.DictReader(io.StringIO(text, newline=""), restval="")
    table = ResultsTable([], [])
    try:
        missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            raise InvalidRequest(
                (InputProblem("", f"{path}:1", f"no column {', '.join(missing)}", "", EXPECTED_TABLE),)
            )
        for row in reader:
            # Only the reader knows the line past empty lines and cells with line ends.
            outcome = "more cells than columns" if None in row else _row_results(row, names)
            if isinstance(outcome, str):
                table.refused.append(SkippedRow(reader.line_num, outcome))
            else:
                table.used.append(outcome)
    except csv.Error as error:
        raise InvalidRequest((InputProblem("", f"{path}:{reader.line_num}", str(error), "", EXPECTED_TABLE),)) from None
    return table


def _row_results(row: Mapping[str, str], names: AcceleratorNames) -> list[PublishedResult] | str:
    """One for each rate of a row, or the reason why it has none."""
    try:
        accelerator = names.resolve(row["accelerator"]).name
    except UnknownName:
        return f"no specification of {row['accelerator']}"
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
        _parse_precision(row["precision"]),
        _classify_scaling(row, family, by_time),
        accelerator,
        count,
        row["submitter"],
        row["source"],
        rate,
    )


def merge_results(results: Sequence[PublishedResult], *, by_submitter: bool) -> list[PublishedResult]:
    """One result for each cell, accelerator and count (and submitter): the median of its results."""
    results_by_key: dict[tuple[str, ...], list[PublishedResult]] = defaultdict(list)
    for result in results:
        who = result.submitter if by_submitter else ""
        results_by_key[result.cell, result.accelerator, f"{result.count:g}", who].append(result)
    return [_median_result(same, by_submitter=by_submitter) for _, same in sorted(results_by_key.items())]


def _median_result(same: Sequence[PublishedResult], *, by_submitter: bool) -> PublishedResult:
    first = same[0]
    rate = math.exp(median(math.log(one.rate) for one in same))
    return PublishedResult(
        first.kind, first.group, first.cell, first.family, first.precision, first.scaling, first.accelerator,
        first.count, first.submitter if by_submitter else "", first.source, rate,
    )  # fmt: skip


def _positive_number(text: str) -> float | None:
    """A number above 0; None for anything else."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value > 0 and math.isfinite(value) else None


def _parse_precision(text: str) -> str:
    return next((name for pattern, name in PRECISIONS if re.search(pattern, text, re.IGNORECASE)), "fp16")


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
