"""How fast one accelerator is at a family of work, relative to others: a sum of terms that data/coefficients.csv holds.

    score = 1/2 ln F + 1/2 ln B                              F dense peak at the precision, B memory bandwidth
          + size      * (1/2 ln F + 1/2 ln B)
          + balance   * (ln F - ln B)
          + capacity  * (ln M - ln B)                        M memory
          + power     * ln W                                 W thermal design power
          + what was left for its vendor, class, architecture (at this precision, in this family) and itself

Each slope is one for all families plus that of the family. Predictors stand about their centres, so an unknown memory
or power counts as the usual one. Only differences of scores mean anything: exp(score_b - score_a) is the ratio of
work per hour of two single accelerators.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from planner.request.models import WorkFamily
from pricing.accelerator import Accelerator

COEFFICIENTS = Path(__file__).parent / "data" / "coefficients.csv"
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
    """The rate of `peak_at` alone."""
    found = computed_peak(accelerator, precision)
    return None if found is None else found[1]


def missing_specification(accelerator: Accelerator, precision: str) -> str | None:
    """Why no score can be told; None where one can."""
    if peak_tflops(accelerator, precision) is None:
        return f"no {precision} peak rate is known for {accelerator.name}"
    if accelerator.memory_bandwidth_gbs is None:
        return f"no memory bandwidth is known for {accelerator.name}"
    return None


def base_score(accelerator: Accelerator, precision: str) -> float:
    """The geometric mean of peak and bandwidth, as a logarithm: the part of the score that nothing is fitted for."""
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
    """The groups that it belongs to, each with an effect of its own where one was fitted."""
    yield "vendor", accelerator.vendor
    yield "class", accelerator.device_class
    yield "architecture", accelerator.architecture
    yield "accelerator", accelerator.name
    yield "architecture_family", f"{accelerator.architecture}|{family}"
    yield "architecture_precision", f"{accelerator.architecture}|{PRECISION_FALLBACKS[precision][0]}"


def accelerator_score(
    accelerator: Accelerator, family: WorkFamily, precision: str, coefficients: Coefficients | None = None
) -> float:
    """Logarithm of its relative speed; not a number where `unknown` says why."""
    if missing_specification(accelerator, precision):
        return math.nan
    known = load_coefficients() if coefficients is None else coefficients
    total = base_score(accelerator, precision)
    for name, value in predictors(accelerator, precision).items():
        slope = known[name, ""] + known.get((name, family), 0.0)
        total += 0.0 if value is None else slope * (value - known["centre", name])
    return total + math.fsum(known.get(level, 0.0) for level in effect_levels(accelerator, family, precision))


@cache
def load_coefficients() -> Coefficients:
    """The coefficients that are shipped."""
    with COEFFICIENTS.open(newline="", encoding="utf-8") as file:
        return {(row["term"], row["level"]): float(row["value"]) for row in csv.DictReader(file)}


def coefficients_csv(coefficients: Coefficients) -> str:
    """The file of coefficients: predictors first, then effects by name, six decimals."""
    lines = ["term,level,value"]
    lines += [f"{term},{_quote_cell(level)},{value:.6f}" for (term, level), value in _order_coefficients(coefficients)]
    return "\n".join(lines) + "\n"


def _quote_cell(text: str) -> str:
    return f'"{text}"' if "," in text else text


def _order_coefficients(coefficients: Coefficients) -> Iterable[tuple[tuple[str, str], float]]:
    order = ("centre", *PREDICTORS)
    return sorted(coefficients.items(), key=lambda item: (item[0][0] not in order, item[0]))
