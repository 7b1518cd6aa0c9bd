"""`python -m tools.throughput`: fits the throughput models to public measurements and prints their errors.

python -m tools.throughput                    fits, writes the shipped tables, and prints the errors that intervals need
python -m tools.throughput --check            fails where the tables differ from a fit of the measurements
python -m tools.throughput --errors [FOLD]    prints the errors of each fold (minutes), or of one; writes nothing
python -m tools.throughput --take FILE.csv    first replaces the measurements by those of a file
python -m tools.throughput --networks ...     the same for jobs described by their network (seconds)
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from planner.performance.throughput import intervals
from planner.performance.throughput.accelerator_scores import COEFFICIENTS
from planner.performance.throughput.network_estimates.benchmark_runs import shipped_measurements
from planner.performance.throughput.published_results import MEASUREMENTS, ResultsTable, read_results
from planner.performance.throughput.scaling import SCALING_FILE
from planner.performance.throughput.tuning_gains import GAINS_FILE, gains_csv
from planner.request.errors import InvalidRequest
from pricing.accelerator import AcceleratorNames
from pricing.catalog.price_catalog import Catalog
from tools.throughput import described_jobs, measured_rates, shipped_tables
from tools.throughput.model_fitting import fit_model
from tools.throughput.tuning_gains import fit_gains

INTERVAL_FOLDS = (measured_rates.SOURCE, measured_rates.GROUP)
"""The folds that intervals are read off."""
FOLDS = (*INTERVAL_FOLDS, measured_rates.YEAR, measured_rates.NESTED, *measured_rates.NEW_PARTS)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.throughput", description=(__doc__ or "").splitlines()[0])
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--check", action="store_true", help="fail where the tables differ from the measurements")
    action.add_argument(
        "--errors", nargs="?", const="", metavar="FOLD", help="print the errors of folds; write nothing"
    )
    action.add_argument("--take", type=Path, metavar="FILE.csv", help="replace the measurements first")
    parser.add_argument("--networks", action="store_true", help="the model of jobs described by their network")
    options = parser.parse_args(arguments)
    if options.networks and options.take:
        parser.error("--networks has no --take")
    if options.errors and options.errors not in FOLDS:
        parser.error(f"no such fold: {options.errors}; one of {', '.join(FOLDS)}")
    try:
        return _run_networks(options) if options.networks else _run_measured(options)
    except InvalidRequest as error:
        sys.stderr.write("".join(f"{problem.place}: {problem.message}\n" for problem in error.complaints))
        return 2


def _run_networks(options: argparse.Namespace) -> int:
    measurements = shipped_measurements()
    if options.errors is None:
        tables = {intervals.ESTIMATES_FILE: described_jobs.intervals_csv(measurements)}
        if options.check:
            return _report_stale(tables)
        _write_tables(tables)
    sys.stdout.write("\n".join(described_jobs.format_table(measurements)) + "\n")
    return 0


def _run_measured(options: argparse.Namespace) -> int:
    names = Catalog.embedded().names
    if options.take:
        _read_table(options.take, names)  # a file that is no table must not replace the measurements
        MEASUREMENTS.write_bytes(options.take.read_bytes())
    known = _read_table(MEASUREMENTS, names).results
    folds = INTERVAL_FOLDS if options.errors is None else [options.errors] if options.errors else FOLDS
    cases = measured_rates.validate_folds(known, names, _report_fold, folds)
    if options.errors is None:
        model = fit_model(known, names)
        tables = {
            COEFFICIENTS: shipped_tables.coefficients_csv(model.coefficients),
            SCALING_FILE: shipped_tables.scaling_csv(model.scalings),
            GAINS_FILE: gains_csv(fit_gains(known, names)),
            intervals.STEPS_FILE: shipped_tables.spreads_csv(measured_rates.fit_spreads(cases)),
        }
        if options.check:
            return _report_stale(tables)
        _write_tables(tables)
        intervals.load_spreads.cache_clear()  # the errors are printed with the intervals just fitted
    sys.stdout.write(measured_rates.format_errors(cases, known))
    return 0


def _report_fold(title: str) -> None:
    sys.stderr.write(f"leaving out each {title} ...\n")


def _read_table(path: Path, names: AcceleratorNames) -> ResultsTable:
    table = read_results(path, names)
    sys.stderr.write("".join(f"{path}:{row.line}: left out: {row.reason}\n" for row in table.refused))
    return table


def _report_stale(tables: Mapping[Path, str]) -> int:
    stale = [path.name for path, text in tables.items() if path.read_text(encoding="utf-8") != text]
    sys.stdout.write("".join(f"{name} differs from a fit of the measurements\n" for name in stale))
    return 1 if stale else 0


def _write_tables(tables: Mapping[Path, str]) -> None:
    for path, text in tables.items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
