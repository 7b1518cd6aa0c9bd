"""The shipped tables of the throughput models as text: the same figures give the same bytes."""

from __future__ import annotations

from collections.abc import Mapping

from planner.performance.throughput import accelerator_scores, intervals, scaling
from pricing.csv_tables import format_table


def coefficients_csv(coefficients: accelerator_scores.Coefficients) -> str:
    """The file of coefficients: predictors first, then effects by name, six decimals."""
    first = ("centre", *accelerator_scores.PREDICTORS)
    ordered = sorted(coefficients.items(), key=lambda item: (item[0][0] not in first, item[0]))
    return format_table(accelerator_scores.COLUMNS, [(term, level, f"{value:.6f}") for (term, level), value in ordered])


def scaling_csv(scalings: scaling.Scalings) -> str:
    """The file of scalings: what a doubling of the gang keeps, as a logarithm, six decimals."""
    terms = [(name, term) for name in sorted(scaling.TERMS_BY_SCALING) for term in scaling.TERMS_BY_SCALING[name]]
    return format_table(scaling.COLUMNS, [(*key, f"{scalings[key]:.6f}") for key in terms])


def spreads_csv(spreads: Mapping[str, float]) -> str:
    """The file of half widths of intervals, as logarithms, by kind of step, four decimals."""
    return format_table(("step", "log_spread"), [(step, f"{spreads[step]:.4f}") for step in intervals.STEPS])
