"""Uncertain figures and their ranges: those of the risk analysis, and the work, whose range only the asker knows.

A figure is triangular over its range with the planned value as mode, as in the risk analysis; one whose range spans
more than a factor of ten is so by its logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import date

from planner.analysis.risk.uncertain_assumptions import has_range, read_price_levels
from planner.request.assumptions import Assumptions
from planner.request.limits import UNCERTAIN_NAMES, UncertaintyRequest
from planner.result import Assumption
from pricing.frozen_values import dataclass

DEMAND, THROUGHPUT, LEAD_TIME = "demand_change_annual", "throughput_level", "lead_time_months"
STATED = "stated in the request"
WIDE_FACTOR = 10.0
"""A range that spans more is drawn by its logarithm."""


@dataclass(frozen=True, slots=True)
class UncertainFigures:
    """The figures that are drawn, in the order of their names; `certain` have no range, or one value."""

    drawn: tuple[Assumption, ...]
    certain: tuple[str, ...]


def list_uncertain_figures(asked: UncertaintyRequest, assumptions: Assumptions, as_of: date) -> UncertainFigures:
    """Every figure that may be uncertain, with the asker's range or the published one."""
    levels = {level.name: level for level in read_price_levels()}
    known: Mapping[str, Assumption] = {**_work_levels(as_of), **levels, **assumptions}
    drawn, certain = [], []
    for name in UNCERTAIN_NAMES:
        figure, own = known[name], asked.ranges.get(name)
        if own is not None:
            figure = replace(figure, low=own.low, high=own.high, source=STATED, as_of=as_of, overridden=True)
        if has_range(figure):
            drawn.append(figure)
        else:
            certain.append(name)
    return UncertainFigures(tuple(drawn), tuple(certain))


def is_wide(figure: Assumption) -> bool:
    """Whether it is drawn by its logarithm."""
    low, high = figure.low, figure.high
    return low is not None and high is not None and low > 0 and high / low > WIDE_FACTOR


def take_logarithm(figure: Assumption) -> Assumption:
    """The logarithm of a wide figure, as a figure."""
    assert figure.low is not None
    assert figure.high is not None
    return replace(figure, value=math.log(figure.value), low=math.log(figure.low), high=math.log(figure.high))


def _work_levels(as_of: date) -> dict[str, Assumption]:
    """The figures of the work: no published range."""
    return {
        DEMAND: Assumption(
            DEMAND, "change of all demand per year, beyond that stated", 0.0, "fraction per year", None, None,
            "yours to state: no range is published", as_of,
        ),
        THROUGHPUT: Assumption(
            THROUGHPUT, "throughput over that planned; without a range of yours, each prediction within its interval",
            1.0, "ratio", None, None, "yours to state: measured throughput has no published range", as_of,
        ),
    }  # fmt: skip
