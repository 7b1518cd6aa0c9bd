"""A large plan written as a workbook, against the plain calls of XlsxWriter for the same cells.

`python bench/workbook.py 20 12` plans and writes 20 workloads over 12 months.
"""

from __future__ import annotations

import pickle
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measure import Figure, medians, peak

WORKLOADS, MONTHS, RUNS = 100, 60, 3
PARTS = ("L4", "L40S", "A10G", "T4", "A100-80GB", "H100")
OURS = (
    "import pickle; from pathlib import Path; from planner.reports.xlsx import render; "
    "plan = pickle.loads(Path('{plan}').read_bytes()); assert len(render(plan)) > 1000"
)
PLAIN = (
    "import io, pickle, xlsxwriter; from pathlib import Path\n"
    "sheets = pickle.loads(Path('{cells}').read_bytes())\n"
    "book = xlsxwriter.Workbook(io.BytesIO(), {{'in_memory': True}})\n"
    "formats = [book.add_format({{'num_format': '#,##0.00', 'align': 'left', 'indent': n}}) for n in range(20)]\n"
    "for cells in sheets:\n"
    "    sheet = book.add_worksheet()\n"
    "    for number, (write, *cell) in enumerate(cells):\n"
    "        row, column, value, *more = cell\n"
    "        getattr(sheet, write)(row, column, value, formats[number % 20], *more)\n"
    "book.close()"
)
"""The same texts, numbers, dates and formulas with their values, sheet by sheet, with as many formats."""


def workbook(workloads: int = WORKLOADS, months: int = MONTHS, runs: int = RUNS) -> Iterator[Figure]:
    """A plan written as a workbook, seconds and peak memory, against XlsxWriter writing as many cells alike."""
    with tempfile.TemporaryDirectory(prefix="planner-bench-") as folder:
        plan, cells = Path(folder) / "plan", Path(folder) / "cells"
        made = _plan(workloads, months)
        plan.write_bytes(pickle.dumps(made))
        written = _cells(made)
        cells.write_bytes(pickle.dumps(written))
        count = sum(map(len, written))
        formulas = sum(cell[0] == "write_formula" for sheet in written for cell in sheet)
        plain, ours = (code.format(plan=plan, cells=cells) for code in (PLAIN, OURS))
        least, whole = medians([lambda: peak(plain), lambda: peak(ours)], runs)
        name = f"{workloads} workloads, {months} months: {count:,} cells"
        yield Figure(name, whole / 1000, whole / least, "XlsxWriter", goal=3, unit="s")
        most, ground = peak(ours), peak(plain)
        yield Figure("the same: most in memory", most, most / ground, "XlsxWriter", unit="MiB")
        yield Figure("the same: formulas, each with its value", formulas / 1000, unit="k")


def _plan(workloads: int, months: int) -> Any:
    """A plan that is quick to solve: every workload runs on spot capacity."""
    from planner.application import plan
    from planner.request.models import parse_request
    from pricing.catalog.price_catalog import Catalog

    jobs = [
        {
            "name": f"job {i:03d}",
            "team": f"team {i % 12}",
            "kind": "training",
            "interruptible": True,
            "storage_gb": 100 * i,
            "demand": {
                "accelerator_hours_per_month": 100 + 37 * i,
                "accelerator": PARTS[i % len(PARTS)],
                "growth_per_month": 0.01,
            },
        }
        for i in range(workloads)
    ]
    asked = {"as_of": "2026-11-21", "months": months, "strategies": ["cloud", "hybrid"], "providers": ["aws"]}
    return plan(parse_request({**asked, "workloads": jobs}), Catalog.embedded())


def _cells(plan: Any) -> list[list[tuple[Any, ...]]]:
    """Every cell that the report writes, by sheet: the call, its place and its value."""
    from xlsxwriter.worksheet import Worksheet

    from planner.reports.xlsx import render

    calls = ("write_string", "write_number", "write_formula", "write_datetime")
    kept = {name: getattr(Worksheet, name) for name in calls}
    sheets: dict[int, list[tuple[Any, ...]]] = {}

    def noting(name: str) -> Any:
        def write(sheet: Any, row: int, column: int, value: Any, style: Any = None, *more: Any) -> Any:
            sheets.setdefault(id(sheet), []).append((name, row, column, value, *more))
            return kept[name](sheet, row, column, value, style, *more)

        return write

    try:
        for name in calls:
            setattr(Worksheet, name, noting(name))
        render(plan)
    finally:
        for name, method in kept.items():
            setattr(Worksheet, name, method)
    return list(sheets.values())


if __name__ == "__main__":
    sizes = [int(word) for word in sys.argv[1:]] or [WORKLOADS, MONTHS]
    for figure in workbook(*sizes, runs=1):
        print(figure.line(), flush=True)
