"""Relative speed of one accelerator at a family of work: a sum of terms with the coefficients of data/coefficients.csv.

    score = share ln F + (1 - share) ln B                  F dense peak at the precision, B memory bandwidth
          + balance   * (ln F - ln B)
          + capacity  * (ln M - ln B)                        M memory
          + effects of its vendor, class, architecture (also by precision) and of the accelerator itself

`share` is 1/2; 1/10 where one stream of tokens is decoded, which reads weights. At FP32 the first line is all: its
effects were not the same from source to source. Predictors are centred, so an unknown memory counts as the average one.
Only differences of scores mean anything: exp(score_b - score_a) is the ratio of work per hour of two accelerators.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path

from planner.request.models import WorkFamily
from planner.result.message import Message, message
from pricing.accelerator import Accelerator
from pricing.csv_tables import read_rows
from pricing.errors import InvalidSnapshot

COEFFICIENTS = Path(__file__).parent / "data" / "coefficients.csv"
COLUMNS = ("term", "level", "value")
PREDICTORS = ("balance", "capacity")
SCORES_MAX = 2048
"""Scores that are kept; one has about 1 KB with its accelerator."""
PEAK_SHARE = 0.5
PEAK_SHARE_OF_FAMILY: Mapping[str, float] = {"decode": 0.1}
PLAIN_PRECISION = "fp32"
"""The precision at which only peak and bandwidth count."""
PRECISION_FALLBACKS = {
    "fp4": ("fp4", "fp8", "fp16"),
    "fp8": ("fp8", "fp16"),
    "bf16": ("fp16",),
    "fp16": ("fp16",),
    "tf32": ("tf32", "fp32"),
    "fp32": ("fp32",),
    "int8": ("fp16",),
    "int4": ("fp16",),
}
"""The rates to compute at, the first known one. Integers store weights: without special software they are converted
to half precision for computing."""
Coefficients = Mapping[tuple[str, str], float]
"""By term and level: (balance, ""), (architecture, Hopper), (centre, balance)."""


def computed_peak(accelerator: Accelerator, precision: str) -> tuple[str, float] | None:
    """The precision computed at and its dense peak in TFLOPS: `precision`, or the next wider one the part has; FP32
    where half precision is slower (Pascal); None if unknown."""
    rates = ((name, getattr(accelerator, f"{name}_tflops")) for name in PRECISION_FALLBACKS[precision])
    best: tuple[str, float] | None = next(((name, rate) for name, rate in rates if rate is not None), None)
    single = accelerator.fp32_tflops
    if single is not None and (best is None or best[1] < single):
        return "fp32", single
    return best


def peak_tflops(accelerator: Accelerator, precision: str) -> float | None:
    """The rate of `computed_peak` alone."""
    peak = computed_peak(accelerator, precision)
    return None if peak is None else peak[1]


def missing_specification(accelerator: Accelerator, precision: str) -> Message | None:
    """The specification without which an accelerator has no score; None where all are known."""
    if peak_tflops(accelerator, precision) is None:
        return message("peak_rate_unknown", accelerator=accelerator.name, precision=precision)
    if accelerator.memory_bandwidth_gbs is None:
        return message("memory_bandwidth_unknown", accelerator=accelerator.name)
    return None


def base_score(accelerator: Accelerator, family: WorkFamily, precision: str) -> float:
    """Peak and bandwidth as a logarithm: the part of the score without coefficients. NaN where either is unknown."""
    share = PEAK_SHARE_OF_FAMILY.get(family, PEAK_SHARE)
    return share * math.log(peak_tflops(accelerator, precision) or math.nan) + (1 - share) * math.log(
        accelerator.memory_bandwidth_gbs or math.nan
    )


def predictors(accelerator: Accelerator, precision: str) -> dict[str, float | None]:
    """Values of PREDICTORS; None where a specification is unknown."""
    bandwidth = math.log(accelerator.memory_bandwidth_gbs or math.nan)
    return {
        "balance": math.log(peak_tflops(accelerator, precision) or math.nan) - bandwidth,
        "capacity": None if accelerator.memory_gib is None else math.log(accelerator.memory_gib) - bandwidth,
    }


def effect_levels(accelerator: Accelerator, precision: str) -> Iterator[tuple[str, str]]:
    """The groups of an accelerator, each with an effect of its own where one was fitted."""
    yield "vendor", accelerator.vendor
    yield "class", accelerator.device_class
    yield "architecture", accelerator.architecture
    yield "accelerator", accelerator.name
    yield "architecture_precision", f"{accelerator.architecture}|{PRECISION_FALLBACKS[precision][0]}"


def accelerator_score(
    accelerator: Accelerator, family: WorkFamily, precision: str, coefficients: Coefficients | None = None
) -> float:
    """Logarithm of the relative speed; NaN where a specification is missing (`missing_specification`)."""
    if coefficients is None:
        return _shipped_score(accelerator, family, precision)
    return _score(accelerator, family, precision, coefficients)


@lru_cache(maxsize=SCORES_MAX)
def _shipped_score(accelerator: Accelerator, family: WorkFamily, precision: str) -> float:
    """The score with the coefficients of this release."""
    return _score(accelerator, family, precision, load_coefficients())


def _score(accelerator: Accelerator, family: WorkFamily, precision: str, known: Coefficients) -> float:
    if missing_specification(accelerator, precision):
        return math.nan
    total = base_score(accelerator, family, precision)
    if precision == PLAIN_PRECISION:
        return total
    for name, value in predictors(accelerator, precision).items():
        total += 0.0 if value is None else known[name, ""] * (value - known["centre", name])
    return total + math.fsum(known.get(level, 0.0) for level in effect_levels(accelerator, precision))


def read_table(path: Path, columns: Sequence[str]) -> list[Mapping[str, str]]:
    """The cells of every row of a shipped table by column. InvalidSnapshot with every fault of the file."""
    faults: list[str] = []
    rows = [row.values for row in read_rows(path, columns, faults)]
    if faults:
        raise InvalidSnapshot(tuple(faults))
    return rows


@cache
def load_coefficients() -> Coefficients:
    """The coefficients that are shipped."""
    return {(row["term"], row["level"]): float(row["value"]) for row in read_table(COEFFICIENTS, COLUMNS)}
