"""`python -m tools.throughput.network_error_report` prints the error table; with --write it makes intervals.csv
anew first (seconds)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

from planner.performance.throughput.network_estimates.benchmark_runs import shipped_measurements
from planner.performance.throughput.network_estimates.intervals import TABLE
from tools.throughput.network_cross_validation import error_table, intervals_csv


def format_table(measurements: Iterable[Mapping[str, str]]) -> list[str]:
    """The error table as it is printed."""
    rows = [
        f"{row.kind:22}  {row.left_out:15}  {row.runs:4}  {row.groups:6}  {row.median:6.0%}  {row.p90:4.0%}"
        f"  {row.coverage:7.0%}"
        for row in error_table(measurements)
    ]
    return [
        f"{'kind':22}  {'left out':15}  {'runs':>4}  {'groups':>6}  {'median':>6}  {'p90':>4}  {'covered':>7}",
        *rows,
    ]


def main(arguments: list[str]) -> None:
    measurements = shipped_measurements()
    if "--write" in arguments:
        TABLE.write_text(intervals_csv(measurements), encoding="utf-8")
    sys.stdout.write("\n".join(format_table(measurements)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
