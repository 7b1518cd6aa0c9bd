"""Relative speed of one accelerator at a family of work: a sum of terms with the coefficients of data/coefficients.csv.

    score = 1/2 ln F + 1/2 ln B                              F dense peak at the precision, B memory bandwidth
          + size      * (1/2 ln F + 1/2 ln B)
          + balance   * (ln F - ln B)
          + capacity  * (ln M - ln B)                        M memory
          + power     * ln W                                 W thermal design power
          + effects of its vendor, class, architecture (also by precision and by family) and of the accelerator itself

Each slope is one for all families plus that of the family. Predictors are centred, so an unknown memory or power counts
as the average one. Only differences of scores mean anything: exp(score_b - score_a) is the ratio of
work per hour of two single accelerators.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from planner.request.models import WorkFamily
from planner.result.message import Message, message
from pricing.accelerator import Accelerator
from pricing.csv_tables import read_rows
from pricing.errors import InvalidSnapshot

COEFFICIENTS = Path(__file__).parent / "data" / "coefficients.csv"
COLUMNS = ("term", "level", "value")
PREDICTORS = ("size", "balance", "capacity", "power")
PRECISION_FALLBACKS = {
    "fp4": ("fp4", "fp8", "fp16"),
    "fp8": ("fp8", "fp16"),
    "bf16": ("fp16",),
    "fp16": ("fp16",),
    "tf32": ("tf32", "fp32"),
    "fp32": ("fp32",),
}
Coefficients = Mapping[tuple[str, str], float]
"""By term and level: (balance, "") of all families, (balance, decode) of one, (architecture, Hopper), (centre,
balance)."""


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


def base_score(accelerator: Accelerator, precision: str) -> float:
    """The geometric mean of peak and bandwidth, as a logarithm: the part of the score without coefficients."""
    return 0.5 * math.log(
        (peak_tflops(accelerator, precision) or math.nan) * (accelerator.memory_bandwidth_gbs or math.nan)
    )


def predictors(accelerator: Accelerator, precision: str) -> dict[str, float | None]:
    """Values of PREDICTORS; None where a specification is unknown."""
    bandwidth = math.log(accelerator.memory_bandwidth_gbs or math.nan)
    memory, power = accelerator.memory_gib, accelerator.tdp_w
    return {
        "size": base_score(accelerator, precision),
        "balance": math.log(peak_tflops(accelerator, precision) or math.nan) - bandwidth,
        "capacity": None if memory is None else math.log(memory) - bandwidth,
        "power": None if power is None else math.log(power),
    }


def effect_levels(accelerator: Accelerator, family: WorkFamily, precision: str) -> Iterator[tuple[str, str]]:
    """The groups of an accelerator, each with an effect of its own where one was fitted."""
    yield "vendor", accelerator.vendor
    yield "class", accelerator.device_class
    yield "architecture", accelerator.architecture
    yield "accelerator", accelerator.name
    yield "architecture_family", f"{accelerator.architecture}|{family}"
    yield "architecture_precision", f"{accelerator.architecture}|{PRECISION_FALLBACKS[precision][0]}"


def accelerator_score(
    accelerator: Accelerator, family: WorkFamily, precision: str, coefficients: Coefficients | None = None
) -> float:
    """Logarithm of the relative speed; NaN where a specification is missing (`missing_specification`)."""
    if missing_specification(accelerator, precision):
        return math.nan
    known = load_coefficients() if coefficients is None else coefficients
    total = base_score(accelerator, precision)
    for name, value in predictors(accelerator, precision).items():
        slope = known[name, ""] + known.get((name, family), 0.0)
        total += 0.0 if value is None else slope * (value - known["centre", name])
    return total + math.fsum(known.get(level, 0.0) for level in effect_levels(accelerator, family, precision))


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
