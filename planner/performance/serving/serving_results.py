"""Published results of served models: rows of data/results.csv, or of any table of the same columns.

Each row has its source and, where the source prints one, its date. A row without lengths or requests at once has no
point and names the missing figures; a row that is no result is refused with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path

from planner.performance.result_tables import RefusedResult, read_result_rows
from planner.performance.serving.served_models import ServedFamily, load_families
from planner.performance.serving.speed_model import STATIC, ServingPoint, missing_figure
from pricing.accelerator import AcceleratorNames, embedded_names
from pricing.csv_tables import parse_number
from pricing.errors import UnknownName
from pricing.frozen_values import dataclass

RESULTS_FILE = Path(__file__).parent / "data" / "results.csv"
RESULT_COLUMNS = (
    "group", "model", "total_params_b", "active_params_b", "accelerator", "accelerator_count", "precision", "engine",
    "engine_version", "tensor_parallel", "data_parallel", "expert_parallel", "input_tokens", "output_tokens",
    "concurrency", "ttft_ms", "tpot_ms", "output_tokens_per_s", "requests_per_s", "basis", "source", "date", "notes",
)  # fmt: skip
EXPECTED_TABLE = "a table with the columns of planner/performance/serving/data/results.csv"
PRECISIONS = {
    "fp16": ("fp16", "fp16"), "bf16": ("fp16", "fp16"), "bfloat16": ("fp16", "fp16"), "": ("fp16", "fp16"),
    "fp8": ("fp8", "fp8"), "w8a8": ("fp8", "fp8"), "w8a16": ("fp8", "fp16"), "int8": ("fp8", "fp16"),
    "int8 weights": ("fp8", "fp16"), "fp4": ("fp4", "fp4"), "mxfp4": ("fp4", "fp4"), "w4a16": ("fp4", "fp16"),
    "w4a16 (AWQ)": ("fp4", "fp16"),
}  # fmt: skip
"""Format of the weights and precision of the arithmetic, as the sources write them; none printed: half precision."""
LOADS = (("static", STATIC), ("steady", "steady"), ("offline", "offline"), ("first token", "first_token"),
         ("one request at a time", "one"), ("open loop", "open"), ("maximum load", "maximum"),
         ("MLPerf", "mlperf"))  # fmt: skip
"""Words of `basis` for the kind of load, in this order; any other is served in a closed loop."""
ENGINES = {"tensorrt-llm": "trtllm", "": "unknown"}


PUBLISHED, OWN, ESTIMATED = "published", "own", "estimated"
"""Where a result is from: a public source, the asker, or another program's estimate that the asker gave."""


@dataclass(frozen=True, slots=True)
class ServingResult:
    """One result. `point` is None where the source prints too little of the load, which `lacking` names; rates are of
    the whole deployment, times those of the mean or median request as the source has them. `origin`: PUBLISHED, OWN or
    ESTIMATED. `setup` is what else the row tells of how it was run (SETUP_FIELDS): results that differ in it are not of
    one curve."""

    line: int
    group: str
    family: str
    point: ServingPoint | None
    lacking: str
    output_tokens_per_s: float | None
    ttft_s: float | None
    tpot_s: float | None
    precision: str
    source: str
    date: str
    origin: str = PUBLISHED
    setup: tuple[str, ...] = ()

    @property
    def repository(self) -> str:
        """The source without the path of the file."""
        return " ".join(self.source.split()[:2])


@dataclass(frozen=True, slots=True)
class ServingTable:
    """The rows of a file: those that are results, and those that are not."""

    results: tuple[ServingResult, ...]
    refused: tuple[RefusedResult, ...]


@cache
def shipped_results() -> tuple[ServingResult, ...]:
    """The results that the package ships."""
    return read_results(RESULTS_FILE, embedded_names()).results


def read_results(path: Path, names: AcceleratorNames) -> ServingTable:
    """Every row of a table, used or refused with its line; InvalidRequest where it is no such table at all."""
    parse_row = partial(_parse_result, names)
    return ServingTable(*read_result_rows(path, RESULT_COLUMNS, EXPECTED_TABLE, parse_row))


def _parse_result(names: AcceleratorNames, line: int, row: Mapping[str, str]) -> ServingResult | str:
    try:
        part = names.resolve(row["accelerator"])
    except UnknownName:
        return f"no specification of {row['accelerator']}"
    if row["precision"] not in PRECISIONS:
        return f"unknown precision {row['precision']!r}"
    numbers = {name: _read_positive(row[name]) for name in NUMBERS}
    if faults := [name for name, value in numbers.items() if value is None]:
        return f"{faults[0]} is {row[faults[0]]!r}, expected a number above 0 or an empty cell"
    total, active, count = (numbers[name] or math.nan for name in NEEDED)
    if any(math.isnan(value) for value in (total, active, count)):
        return "no parameters or no number of accelerators"
    bits, compute = PRECISIONS[row["precision"]]
    if (problem := missing_figure(part, compute)) is not None:
        return f"{part.name}: {problem.code}"
    group = row["group"].partition("@")[0]
    entry = load_families().get(group) or ServedFamily(group, group, "", None, None, None)
    load = next((kind for word, kind in LOADS if word in row["basis"]), "served")
    lacking = [name for name in LOAD_FIGURES if not numbers[name]]
    point = None
    if not lacking:
        point = ServingPoint(
            model=entry.figures(total * 1e9, active * 1e9),
            part=part,
            count=count,
            tensor=min(count, numbers["tensor_parallel"] or count),
            bits={"fp16": 16.0, "fp8": 8.0, "fp4": 4.5}[bits],
            compute=compute,
            engine=ENGINES.get(row["engine"].lower(), row["engine"].lower()),
            load=load,
            input_tokens=numbers["input_tokens"] or math.nan,
            output_tokens=numbers["output_tokens"] or math.nan,
            concurrency=numbers["concurrency"] or math.nan,
            expert_parallel=total > active and row["expert_parallel"] not in UNDIVIDED,
        )
    return ServingResult(
        line, group, entry.family, point, ", ".join(lacking), numbers["output_tokens_per_s"] or None,
        _convert_to_seconds(numbers["ttft_ms"]), _convert_to_seconds(numbers["tpot_ms"]),
        row["precision"], row["source"], row["date"], PUBLISHED, tuple(row[name] for name in SETUP_FIELDS),
    )  # fmt: skip


def _read_positive(text: str) -> float | None:
    """The number, 0 for an empty cell, None for anything else."""
    if not text:
        return 0.0
    number = parse_number(text)
    return number if number is not None and number > 0 else None


def _convert_to_seconds(milliseconds: float | None) -> float | None:
    return milliseconds / 1000 if milliseconds else None


SETUP_FIELDS = ("model", "engine_version", "data_parallel", "tensor_parallel", "expert_parallel", "date")
UNDIVIDED = ("", "0", "1")
"""Expert parallelism of a row whose experts are not divided among accelerators."""
NEEDED = ("total_params_b", "active_params_b", "accelerator_count")
LOAD_FIGURES = ("input_tokens", "output_tokens", "concurrency")
NUMBERS = (*NEEDED, *LOAD_FIGURES, "tensor_parallel", "ttft_ms", "tpot_ms", "output_tokens_per_s")
