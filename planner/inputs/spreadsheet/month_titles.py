"""Completes month columns with the year and the unit in titles above a table, and drops sums among the months.

A title is used only where it is unambiguous: two years above a table, or a fiscal year, are not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from planner.inputs.cell_grid import Cell, GridRow, InputSheet
from planner.inputs.notation.dates import parse_month_name, parse_quarter
from planner.inputs.notation.numbers import AmbiguousNumber, parse_quantity
from planner.inputs.notation.units import Metric, normalize_text, parse_month_metric, parse_named_period
from planner.inputs.spreadsheet.column_meanings import SheetColumn

_YEAR = re.compile(r"(?<![\w/.-])20[2-9]\d(?![\w/.-]*\d)")
_FISCAL = re.compile(r"\b(?:fy|fiscal|financial year)", re.IGNORECASE)
_DATED = re.compile(
    r"\d{1,2}[./-]\d{1,2}[./-]|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b"
    r"|\b(?:version|draft|as of|stand|status)\b",
    re.IGNORECASE,
)
TITLES_MAX = 30
SUM_WITHIN = 0.005


def apply_titles_to_months(
    sheet: InputSheet, above: Sequence[GridRow], columns: Sequence[SheetColumn]
) -> tuple[SheetColumn, ...]:
    """The columns, with the year and the unit of months from the rows `above` and the sheet's name."""
    titles = list_titles(sheet, above)
    return _add_unit(titles[:-1], _add_year(titles, columns))


def find_title_period(sheet: InputSheet, above: Sequence[GridRow]) -> tuple[str, Cell] | None:
    """The period other than a month that titles or the sheet's name speak of, with the first that does."""
    for cell in list_titles(sheet, above):
        period = parse_named_period(normalize_text(cell.text))  # "FY27" is the year that is planned, and no period
        if period not in ("", "month"):
            return period, cell
    return None


def list_titles(sheet: InputSheet, above: Sequence[GridRow]) -> list[Cell]:
    """The texts above a table and the name of its sheet."""
    rows = above[-TITLES_MAX:]
    texts = [cell for row in rows for cell in row.cells if isinstance(cell.value, str) and not cell.is_blank]
    return [*texts, Cell("the name of the sheet", sheet.name)]


def _add_year(titles: list[Cell], columns: Sequence[SheetColumn]) -> tuple[SheetColumn, ...]:
    named = [(c, parse_month_name(c.header)) for c in columns if c.meaning == "yearless"]
    numbers = [number for _, number in named if number]
    if len(numbers) < 2 or numbers != sorted(set(numbers)) or any(c.meaning == "month" for c in columns):
        return tuple(columns)
    years = {year: cell for cell in titles if not _DATED.search(cell.text) for year in _YEAR.findall(cell.text)}
    if len(years) != 1 or any(_FISCAL.search(cell.text) for cell in titles):
        return tuple(columns)
    ((year, cell),) = years.items()
    rule = f"of {year}, by {cell.place}"
    dated = {
        c.index: replace(c, meaning="month", month=f"{year}-{number:02d}", rule=rule) for c, number in named if number
    }
    return tuple(dated.get(c.index, c) for c in columns)


def _add_unit(titles: list[Cell], columns: tuple[SheetColumn, ...]) -> tuple[SheetColumn, ...]:
    """Month columns without a unit, in a table without one, take the unit of the only title that names one."""
    unit_meanings = {"unit", "accelerator_hours", "units_per_month", "requests_per_second", "amount"}
    bare = [c for c in columns if c.meaning == "month" and c.metric is None]
    if not bare or any(c.meaning in unit_meanings for c in columns):
        return columns
    metrics: dict[str, tuple[Metric, Cell]] = {}
    for cell in titles:
        metric = parse_month_metric(cell.text)
        if metric is not None and metric.kind == "accelerator_hours":
            metrics[cell.text.casefold()] = (metric, cell)
    if len({metric for metric, _ in metrics.values()}) != 1:
        return columns
    metric, cell = next(iter(metrics.values()))
    return tuple(
        replace(c, metric=metric, rule=f"{c.rule}; GPU-hours, by {cell.place}") if c in bare else c for c in columns
    )


def drop_sum_columns(
    columns: tuple[SheetColumn, ...], rows: Sequence[GridRow]
) -> tuple[tuple[SheetColumn, ...], tuple[SheetColumn, ...]]:
    """The columns without sums of the months before them (quarters, years), and those sums."""
    months: list[SheetColumn] = []
    sums: list[SheetColumn] = []
    for column in columns:
        if column.meaning == "month":
            months.append(column)
        elif column.meaning == "yearless":
            parts = months[-3:] if parse_quarter(column.header) else months
            if len(parts) >= 3 and all(_adds_up(row, parts, column) for row in rows):
                sums.append(column)
    return tuple(c for c in columns if c not in sums), tuple(sums)


def _adds_up(row: GridRow, months: Sequence[SheetColumn], column: SheetColumn) -> bool:
    if row.cell(column.index).is_blank:
        return True
    total = read_plain_number(row.cell(column.index))
    parts = [read_plain_number(row.cell(month.index)) for month in months if not row.cell(month.index).is_blank]
    if total is None:  # a heading or a repeated header
        return not any(part is not None for part in parts)
    known = [part for part in parts if part is not None]
    return len(known) == len(parts) and abs(sum(known) - total) <= SUM_WITHIN * max(abs(total), 1e-9)


def read_plain_number(cell: Cell) -> float | None:
    """The number in a cell, without its unit; 0 for a dash, None where there is none or it is ambiguous."""
    if cell.text in ("-", "–", "—"):
        return 0.0
    try:
        parsed = parse_quantity(cell.text, "." if "." in cell.text else ",")
    except AmbiguousNumber:
        return None
    return parsed.value if parsed else None
