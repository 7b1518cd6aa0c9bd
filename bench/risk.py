"""Ten thousand draws against reading the array that they would be: draws x months x streams. `python bench/risk.py`

Absolute times are those of this machine at this moment; read the ratios. Taking a plan apart (once, before any draw)
and paying for single draws are shown beside, so that nothing is left out.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from unittest.mock import patch

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from planner import plan as planning
from planner.request import parse
from planner.risk import Case, draws, flips, levers
from planner.risk.response import terms_of, values
from pricing.catalog import Catalog

DRAWS, MONTHS, STREAMS, RUNS = 10_000, 60, 10, 15
REQUEST = {
    "as_of": "2026-11-21",
    "months": MONTHS,
    "workloads": [
        {
            "name": "training",
            "kind": "training",
            "gang": 8,
            "storage_gb": 5000,
            "demand": {"accelerator": "H100", "accelerator_hours_per_month": 17_520},
        }
    ],
}


def main() -> None:
    """Prints one line a figure, in milliseconds and as a multiple of reading the array."""
    case = _case()
    figures = [f for f in levers.paid_again(case.setting.assumptions) if levers.is_drawn(f)]
    bill = case.bills(["hybrid"])["hybrid"]
    terms = terms_of(bill, figures)
    drawn = draws.drawn(figures, levers.correlations(), DRAWS, 0)
    array = np.random.Generator(np.random.PCG64(0)).random((DRAWS, MONTHS, STREAMS))

    def draw_and_evaluate() -> object:
        return values(terms, draws.drawn(figures, levers.correlations(), DRAWS, 0), DRAWS)

    floor = _milliseconds(array.sum)
    one = {name: float(column[0]) for name, column in drawn.items()}
    _line(f"floor: reading {array.nbytes / 1e6:.0f} MB", floor, floor)
    _line("evaluation alone (goal <= 4x)", _milliseconds(lambda: values(terms, drawn, DRAWS)), floor)
    _line("draws and evaluation (goal <= 10x)", _milliseconds(draw_and_evaluate), floor)
    _line("taking the plan apart, once", _milliseconds(lambda: terms_of(bill, figures), 3), floor)
    _line("the same draws one by one", _milliseconds(lambda: bill.cost(one)) * DRAWS, floor)
    _line("flips of one workload, 60 months", _milliseconds(lambda: flips(case), 5), floor)
    streams = len(bill.streams({}))
    print(f"{len(figures)} figures drawn, {streams} streams of {MONTHS} months in {len(terms)} products")


def _case() -> Case:
    """The solved plan as it is handed to risk."""
    seen: list[Case] = []
    with patch.object(planning, "flips", lambda case: seen.append(case) or ()):
        planning.plan(parse(REQUEST), Catalog.embedded())
    return seen[0]


def _milliseconds(work: Callable[[], object], runs: int = RUNS) -> float:
    taken = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        taken.append((time.perf_counter() - began) * 1e3)
    return median(taken)


def _line(name: str, amount: float, floor: float) -> None:
    print(f"{name:44} {amount:12,.2f} ms {amount / floor:10,.2f}x")


if __name__ == "__main__":
    main()
