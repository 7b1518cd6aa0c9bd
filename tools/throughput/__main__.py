"""`python -m tools.throughput`: fits the model and prints its errors on work left out: model_fitting.py.

python -m tools.throughput                   what is shipped fitted again, written beside it, errors printed
python -m tools.throughput --check           fails where the files differ from what the measurements give
python -m tools.throughput --take FILE.csv   replaces the measurements by those of a file
python -m tools.throughput --unseen FILE.csv errors on a file of measurements that the fit has not seen
python -m tools.throughput --errors          errors on shipped measurements, each fold left out in turn (minutes)
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from planner.performance.throughput import intervals
from planner.performance.throughput.accelerator_scores import COEFFICIENTS
from planner.performance.throughput.accelerator_scores import coefficients_csv as coefficients_written
from planner.performance.throughput.intervals import FILE as INTERVALS
from planner.performance.throughput.scaling import FILE as SCALINGS
from planner.performance.throughput.scaling import scaling_csv as scalings_written
from planner.request.errors import InvalidRequest
from pricing.accelerator import AcceleratorNames
from pricing.catalog.price_catalog import Catalog
from tools.throughput import cross_validation
from tools.throughput.error_report import format_errors
from tools.throughput.model_fitting import fit_model
from tools.throughput.published_results import MEASUREMENTS, PublishedResult, ResultsTable, read_results


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.throughput", description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--take", type=Path, metavar="FILE.csv")
    parser.add_argument("--unseen", type=Path, metavar="FILE.csv")
    parser.add_argument("--errors", action="store_true")
    options = parser.parse_args()
    names = Catalog.embedded().names
    if options.take:
        MEASUREMENTS.write_bytes(options.take.read_bytes())
    try:
        table = _read_table(MEASUREMENTS, names)
        if options.unseen:
            sys.stdout.write(
                format_errors(
                    {
                        "this file": cross_validation.validate_unseen(
                            table.results, _read_table(options.unseen, names).results, names
                        )
                    }
                )
            )
            return 0
    except InvalidRequest as error:
        sys.stderr.write("".join(f"{fault.place}: {fault.message}\n" for fault in error.complaints))
        return 2
    return _refit_files(table.results, names, check=options.check)


def _read_table(path: Path, names: AcceleratorNames) -> ResultsTable:
    table = read_results(path, names)
    sys.stderr.write("".join(f"{path}:{one.line}: left out: {one.reason}\n" for one in table.refused))
    return table


def _refit_files(results: list[PublishedResult], names: AcceleratorNames, *, check: bool) -> int:
    model = fit_model(results, names)
    cases = cross_validation.cross_validate(
        results, names, lambda title: sys.stderr.write(f"leaving out each {title} ...\n")
    )
    files = {
        COEFFICIENTS: coefficients_written(model.coefficients),
        SCALINGS: scalings_written(model.scalings),
        INTERVALS: intervals.spreads_csv(cross_validation.fit_spreads(cases)),
    }
    if check:
        stale = [path.name for path, text in files.items() if path.read_text(encoding="utf-8") != text]
        sys.stdout.write("".join(f"{name} is not what the measurements give\n" for name in stale))
        return 1 if stale else 0
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    intervals.load_spreads.cache_clear()
    sys.stdout.write(format_errors({title: cross_validation.with_spreads(mine) for title, mine in cases.items()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
