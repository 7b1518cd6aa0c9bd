"""Uncertain assumptions and price levels: which can be varied with the decisions fixed, which need a new plan, and
their ranges.

Every range is published: that of an assumption, or one of levels.csv with its source.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from datetime import date
from importlib import resources

from planner.request.assumptions import Assumptions
from planner.result import Assumption
from planner.result.risk import Correlation

HARDWARE, ON_DEMAND, SPOT, COMMITMENT = (
    "hardware_price_level",
    "on_demand_price_level",
    "spot_price_level",
    "commitment_price_level",
)
POLICY_ASSUMPTIONS = frozenset(
    {
        "capacity_blocks_beyond_window",
        "old_spot_price_days",
        "old_price_days",
        "owned_price_max_age_years",
        "cloud_pue",
        "failover_minutes",
        "node_start_minutes",
        "standby_fraction",
    }
)
"""Never varied: they limit which prices a plan uses or warns of, count carbon or hours of recovery at no cost, or
are a choice (the share of a service in readiness)."""
REPLANNED_ASSUMPTIONS = frozenset(
    {
        "lead_time_months",
        "lease_months",
        "useful_life_months",
        "migration_months",
        "failure_interval_accelerator_hours",
        "spot_hours_to_interruption",
        "accelerator_failures_annual",
        "repair_hours",
        "server_power_over_accelerator_power",
        "own_storage_per_gb_month",
        "own_egress_per_gb",
        "disaster_recovery_fraction",
    }
)
"""They change which decisions are possible, or are part of candidates before anything is decided."""
VALUATION_ASSUMPTIONS = frozenset({"discount_rate_annual", "income_tax_fraction"})
"""Parameters of the valuation, not events that may happen: varied, never drawn."""
SEARCH_FACTOR_MAX = 10.0
"""Switching values are searched from a tenth to ten times an assumption."""
FRACTION_MAX = 0.99


def read_price_levels() -> tuple[Assumption, ...]:
    """The levels of prices, in the order of levels.csv: 1 is as planned."""
    return tuple(
        Assumption(
            name=row["name"],
            meaning=row["meaning"],
            value=float(row["value"]),
            unit=row["unit"],
            low=float(row["low"]) if row["low"] else None,
            high=float(row["high"]) if row["high"] else None,
            source=row["source"],
            as_of=date.fromisoformat(row["as_of"]),
        )
        for row in _read_csv_rows("levels.csv")
    )


def read_correlations() -> tuple[Correlation, ...]:
    """Correlated pairs; every other pair is independent."""
    return tuple(
        Correlation(row["first"], row["second"], float(row["coefficient"]), row["source"])
        for row in _read_csv_rows("correlations.csv")
    )


def _read_csv_rows(name: str) -> Iterable[dict[str, str]]:
    text = resources.files("planner.analysis.risk").joinpath(name).read_text(encoding="utf-8")
    return csv.DictReader(text.splitlines())


def list_repriced_assumptions(assumptions: Assumptions) -> tuple[Assumption, ...]:
    """Assumptions that can be varied with the decisions fixed, levels of prices first."""
    others = (each for each in assumptions.values() if each.name not in POLICY_ASSUMPTIONS | REPLANNED_ASSUMPTIONS)
    return (*read_price_levels(), *others)


def list_replanned_assumptions(assumptions: Assumptions) -> tuple[Assumption, ...]:
    """Assumptions whose effect needs a new plan."""
    return tuple(each for each in assumptions.values() if each.name in REPLANNED_ASSUMPTIONS)


def has_range(figure: Assumption) -> bool:
    """Whether its published range holds for it: a value of the request outside of it has none."""
    low, high = figure.low, figure.high
    return low is not None and high is not None and low <= figure.value <= high and low < high


def range_ends(figure: Assumption) -> tuple[float, float]:
    """Low and high of a figure that has a range."""
    assert figure.low is not None
    assert figure.high is not None
    return figure.low, figure.high


def is_drawn(figure: Assumption) -> bool:
    """Whether it is a matter of chance: a value inside its range, neither a yardstick nor a whole number of something.

    A value at an end of its range is a choice, or a fact that the request has not stated yet (a tax, a licence, a
    negotiated discount): its range is that of possible requests, not of events.
    """
    if not has_range(figure) or figure.name in VALUATION_ASSUMPTIONS or _is_stepped(figure):
        return False
    low, high = range_ends(figure)
    return low < figure.value < high


def is_searched(figure: Assumption) -> bool:
    """Whether fractional values are meaningful, so that a switching value can be searched."""
    return not _is_stepped(figure)


def _is_stepped(figure: Assumption) -> bool:
    return figure.unit in {"months", "operators"}


def search_range(figure: Assumption) -> tuple[float, float]:
    """The range searched for a switching value: a tenth to ten times a positive value, else ten times as far as its
    published range goes; never meaningless values (a fraction of 1, a PUE below 1)."""
    value = figure.value
    low = value if figure.low is None else figure.low
    high = value if figure.high is None else figure.high
    if value > 0 and low >= 0:
        lower, upper = value / SEARCH_FACTOR_MAX, value * SEARCH_FACTOR_MAX
    else:
        lower, upper = (
            value - SEARCH_FACTOR_MAX * max(0.0, value - low),
            value + SEARCH_FACTOR_MAX * max(0.0, high - value),
        )
    floor, ceiling = (-FRACTION_MAX if low < 0 else 0.0), math.inf
    if figure.unit.startswith("fraction"):
        ceiling = FRACTION_MAX
    elif figure.unit.startswith("share"):
        ceiling = 1.0
    elif figure.name == "pue":
        floor = 1.0
    return min(value, max(lower, floor)), max(value, min(upper, ceiling))
