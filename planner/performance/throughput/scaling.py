"""Scaling efficiency of more accelerators of one kind: the loss at each doubling, by how the job grows.

    ln y(n2) - ln y(n1) = ln(n2 / n1) + sum over ranges: doublings of the count in the range x loss per doubling

Ranges are within 8 (a usual node), 8 to 64 and beyond 64. data/scaling.csv has ln(efficiency per doubling), fitted by
least absolute deviations with groups of measurements weighted down by their size. Two ways to grow have a further term:
fixed jobs of large language models beyond a node, and single streams that read prompts. Replicas lose nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from planner.performance.parallelism import USUAL_SERVER_SIZE
from planner.performance.throughput.accelerator_scores import read_table
from planner.request.models import WorkFamily

SCALING_FILE = Path(__file__).parent / "data" / "scaling.csv"
TERMS_BY_SCALING: Mapping[str, tuple[str, ...]] = {
    "weak": ("all",),
    "replicas": (),
    "stream": ("all", "prefill"),
    "strong": ("all", "beyond_8", "llm_beyond_8"),
    "time_to_train": ("all", "beyond_8", "beyond_64"),
}
"""The terms of each way to grow; the others are 0."""
COLUMNS = ("scaling", "term", "log_kept_per_doubling")
Scalings = Mapping[tuple[str, str], float]


def doubling_terms(count: float, family: WorkFamily) -> dict[str, float]:
    """The value of each term at a count; differences of two counts are doublings."""
    log = math.log2(count)
    beyond = max(0.0, log - math.log2(USUAL_SERVER_SIZE))
    return {
        "all": log,
        "beyond_8": beyond,
        "beyond_64": max(0.0, log - 6),
        "llm_beyond_8": beyond if family == "llm_training" else 0.0,
        "prefill": log if family == "prefill" else 0.0,
    }


def log_efficiency(scaling: str, family: WorkFamily, start: float, end: float, known: Scalings | None = None) -> float:
    """ln of the share of linear growth reached from `start` to `end` accelerators; its negative the other way."""
    table = load_scaling() if known is None else known
    before, after = doubling_terms(start, family), doubling_terms(end, family)
    return math.fsum(table[scaling, term] * (after[term] - before[term]) for term in TERMS_BY_SCALING[scaling])


@cache
def load_scaling() -> Scalings:
    return {
        (row["scaling"], row["term"]): float(row["log_kept_per_doubling"]) for row in read_table(SCALING_FILE, COLUMNS)
    }
