"""The period of an amount of demand: what its column and unit say decides; words of a title only raise a doubt."""

from __future__ import annotations

from dataclasses import replace

from planner.inputs.cell_grid import Cell
from planner.inputs.notation.units import PER_MONTH, Metric, is_yearly, parse_stated_period
from planner.inputs.spreadsheet.row_values import CellNumber, WorkloadRow

APPLIED_TO_MONTHS = ("day", "week")
"""Periods that an amount in a column of one month may be per: a mean of the month."""


def settle_period(line: WorkloadRow, number: CellNumber, metric: Metric, *, is_by_run: bool = False) -> float:
    """What an amount as read has to be multiplied by because of its period: 1, unless an answer says otherwise.

    A period that only a year in the header or a title suggests is a doubt; none at all is noted as per month.
    """
    header = number.column.header
    if not metric.period and not is_by_run:
        if line.table.title_period is not None:
            period, title = line.table.title_period
            question = f"{header.quoted} names no period, and {title.quoted} says {period}: per what is it?"
            factors = {"month": 1.0, period: PER_MONTH[period]}
            return factors[_decide_period(line, f"period: {header.text}", number.cell, question, factors, "month")]
        line.ledger.note(f"{header.quoted} names no period: read as per month")
    elif is_yearly(number.column.words) and not parse_stated_period(number.column.words):
        question = f"{header.quoted} names a year: a total of the year, or an amount each month?"
        factors = {"year": 1.0, "month": 12.0}
        return factors[_decide_period(line, f"period: {header.text}", number.cell, question, factors, "year")]
    elif metric.period == "year":
        line.ledger.note(f"{header.quoted} is per year: a twelfth of it each month")
    return 1.0


def settle_month_period(line: WorkloadRow, metric: Metric, unit: Cell | None, first: Cell) -> Metric:
    """The metric of amounts in columns of months, which fix the period: `unit` is the cell of a unit column.

    A unit per day or week is the mean of the month; any other period, and one in a title, is a doubt.
    """
    period = metric.period
    if period in ("", "month") or metric.kind == "requests_per_second":
        return metric
    if unit is not None and period in APPLIED_TO_MONTHS:
        return metric
    source = unit or next(column.header for column in line.table.columns if column.meaning == "month")
    question = f"amounts in columns of months, in a unit per {period}: per what are they?"
    factors = {"month": 1.0, period: PER_MONTH[period]}
    proposed = period if period in APPLIED_TO_MONTHS else "month"
    return replace(metric, period=_decide_period(line, f"period: {source.text}", first, question, factors, proposed))


def _decide_period(
    line: WorkloadRow, identity: str, cell: Cell, question: str, factors: dict[str, float], proposed: str
) -> str:
    return line.ledger.doubts.decide(identity, cell, question, factors, proposed, line.index)
