"""`python -m tools.throughput`: fits the throughput models to public measurements and prints their errors.

python -m tools.throughput                    fits, writes the shipped tables, and prints the errors of each fold
python -m tools.throughput --check            fails where the tables differ from a fit of the measurements
python -m tools.throughput --errors           prints the errors of each fold (minutes) and writes nothing
python -m tools.throughput --take FILE.csv    first replaces the measurements by those of a file
python -m tools.throughput --unseen FILE.csv  errors of the shipped fit on measurements that it has not seen
python -m tools.throughput --networks ...     the same for jobs described by their network (seconds)
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from planner.performance.throughput import intervals
from planner.performance.throughput.accelerator_scores import COEFFICIENTS
from planner.performance.throughput.network_estimates.benchmark_runs import shipped_measurements
from planner.performance.throughput.scaling import SCALING_FILE
from planner.request.errors import InputProblem, InvalidRequest
from pricing.accelerator import AcceleratorNames
from pricing.catalog.price_catalog import Catalog
from tools.throughput import described_jobs, measured_rates, shipped_tables
from tools.throughput.model_fitting import fit_model
from tools.throughput.published_results import (
    EXPECTED_TABLE,
    MEASUREMENTS,
    PublishedResult,
    ResultsTable,
    read_results,
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.throughput", description=(__doc__ or "").splitlines()[0])
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--check", action="store_true", help="fail where the tables differ from the measurements")
    action.add_argument("--errors", action="store_true", help="print the errors of each fold; write nothing")
    action.add_argument("--take", type=Path, metavar="FILE.csv", help="replace the measurements first")
    action.add_argument("--unseen", type=Path, metavar="FILE.csv", help="errors on measurements of your own")
    parser.add_argument("--networks", action="store_true", help="the model of jobs described by their network")
    options = parser.parse_args(arguments)
    if options.networks and (options.unseen or options.take):
        parser.error("--networks has no --take and no --unseen")
    try:
        return _run_networks(options) if options.networks else _run_measured(options)
    except InvalidRequest as error:
        sys.stderr.write("".join(f"{problem.place}: {problem.message}\n" for problem in error.complaints))
        return 2


def _run_networks(options: argparse.Namespace) -> int:
    measurements = shipped_measurements()
    if not options.errors:
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
    if options.unseen:
        known, table = read_results(MEASUREMENTS, names).results, read_results(options.unseen, names)
        sys.stdout.write(_format_unseen(str(options.unseen), table, known, names))
        return 0
    known = _read_table(MEASUREMENTS, names).results
    cases = measured_rates.validate_folds(known, names, _report_fold)
    if not options.errors:
        model = fit_model(known, names)
        tables = {
            COEFFICIENTS: shipped_tables.coefficients_csv(model.coefficients),
            SCALING_FILE: shipped_tables.scaling_csv(model.scalings),
            intervals.STEPS_FILE: shipped_tables.spreads_csv(measured_rates.fit_spreads(cases)),
        }
        if options.check:
            return _report_stale(tables)
        _write_tables(tables)
        intervals.load_spreads.cache_clear()  # the errors are printed with the intervals just fitted
    sys.stdout.write(measured_rates.format_errors(cases))
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


def _format_unseen(file: str, table: ResultsTable, known: list[PublishedResult], names: AcceleratorNames) -> str:
    """The errors on a file of measurements; InvalidRequest where no result can be compared with another."""
    pairs = measured_rates.prediction_pairs(table.results, names, lambda _: True)
    if not pairs:
        problems = [InputProblem("", f"{file}:{row.line}", f"left out: {row.reason}") for row in table.refused]
        alone = InputProblem(
            "", file, "no two results of one benchmark in it", f"{len(table.used)} usable rows", EXPECTED_TABLE
        )
        raise InvalidRequest((*problems, alone))
    sys.stderr.write("".join(f"{file}:{row.line}: left out: {row.reason}\n" for row in table.refused))
    compared = {_result_key(result) for _, pair in pairs for result in pair}
    errors = measured_rates.format_file_errors(measured_rates.validate_unseen(known, table.results, names))
    head = f"{file}, predicted by the fit of the shipped measurements"
    return "\n".join((head, "", errors.rstrip("\n"), "", *_row_count_lines(table, compared, known), ""))


def _row_count_lines(table: ResultsTable, compared: Collection[object], known: list[PublishedResult]) -> Iterator[str]:
    """The number of rows that were compared, alone, shipped already, and left out."""
    used, refused = len(table.used), len(table.refused)
    alone = sum(not any(_result_key(result) in compared for result in row) for row in table.used)
    shipped = set(known)
    fitted = sum(any(result in shipped for result in row) for row in table.used)
    yield f"{used + refused:,} rows: {used:,} used, {refused:,} left out"
    if alone:
        yield f"{alone:,} of those used have no other result of the same benchmark to compare with"
    if fitted:
        yield f"{fitted:,} of those used are among the shipped measurements: the fit has seen them"


def _result_key(result: PublishedResult) -> tuple[str, str, float]:
    return result.cell, result.accelerator, result.count


if __name__ == "__main__":
    sys.exit(main())
