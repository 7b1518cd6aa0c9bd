"""`python -m tools.serving`: fits the model of served language models to the shipped results and prints its errors.

python -m tools.serving            fits, writes the shipped tables, and prints the errors on results left out
python -m tools.serving --check    fails where the tables differ from a fit of the results
python -m tools.serving --errors   prints the errors on results left out and writes nothing

`planner serving --errors FILE` prints those of the shipped fit on a file of results that it has not seen.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from planner.performance.serving import rate_estimates, speed_model
from planner.performance.serving.serving_results import shipped_results
from pricing.csv_tables import format_table
from tools.serving.model_fitting import fit_coefficients
from tools.serving.prompt_fitting import fit_prompt_times
from tools.serving.validation import fit_intervals, format_errors, format_first_tokens, format_picks, validate_folds


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.serving", description=(__doc__ or "").splitlines()[0])
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--check", action="store_true", help="fail where the tables differ from the results")
    action.add_argument("--errors", action="store_true", help="print the errors; write nothing")
    options = parser.parse_args(arguments)
    results = shipped_results()
    cases, picks = validate_folds(results)
    if not options.errors:
        coefficients = fit_coefficients(results)
        found = {**coefficients, **fit_prompt_times(results, coefficients)}
        tables = {
            speed_model.COEFFICIENTS_FILE: format_table(
                speed_model.COEFFICIENT_COLUMNS, [(*key, f"{value:.5f}") for key, value in sorted(found.items())]
            ),
            rate_estimates.INTERVALS_FILE: format_table(
                rate_estimates.INTERVAL_COLUMNS,
                [
                    (fit, basis, f"{low:.3f}", f"{high:.3f}", str(n))
                    for fit, basis, low, high, n in fit_intervals(cases)
                ],
            ),
        }
        if options.check:
            stale = [path.name for path, text in tables.items() if path.read_text(encoding="utf-8") != text]
            sys.stdout.write("".join(f"{name} differs from a fit of the results\n" for name in stale))
            return 1 if stale else 0
        for path, text in tables.items():
            path.write_text(text, encoding="utf-8")
        rate_estimates.load_intervals.cache_clear()
    sys.stdout.write(format_errors(cases) + format_first_tokens(cases) + format_picks(picks))
    return 0


if __name__ == "__main__":
    sys.exit(main())
