"""The meanings of columns by their headers, with the units in the headers. Unknown headers are reported as unused."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache, lru_cache

from planner.inputs.cell_grid import Cell, GridRow
from planner.inputs.notation.dates import is_ambiguous_date, is_yearless, parse_month, parse_month_number
from planner.inputs.notation.header_terms import MAY_BE_PRICED, MEANINGS, PEAK, PRICED, SHARE_OF_HOURS
from planner.inputs.notation.numbers import parse_currency
from planner.inputs.notation.units import Metric, normalize_text, parse_metric, parse_month_metric
from planner.inputs.sheet_options import IGNORE, NO_SHEET_OPTIONS, SheetOptions, month_field
from pricing.frozen_values import dataclass

RULE_HEADER_WORDS = "the words of its header"
RULE_USER_MAPPING = "by --map or a mapping file"
RULE_CALENDAR_MONTH = "a calendar month"
TITLE_MAX = 80
"""Characters of a title; longer texts are not titles."""
_PRICED = re.compile(PRICED)
PEAK_MEANINGS = frozenset({"requests_per_second", "gpus"})
"""Meanings that may have a column for the peak and one for the mean; the mean is planned."""
RULE_CELL_CONTENT = "its cells"
NAME_RANK = ("workload", "job", "name", "service", "application", "app", "model", "use case", "task", "project")
SINGLE_COLUMN_MEANINGS = frozenset({"name", "team", "kind", "notes", "region", "provider", "source"})
MONTHLY_MEANINGS = frozenset(
    {"accelerator_hours", "units_per_month", "total_units", "requests_per_second", "amount", "gpus", "hours", ""}
)
"""Meanings whose title may name one month."""
REQUIRED_DEMAND = (
    "GPU-hours, GPUs with hours, work per month (tokens/month), total work with a deadline, or requests per second"
)


@dataclass(frozen=True, slots=True)
class FiscalMonth:
    """A month of a fiscal year that a header or a title names, until the start of that year is known.

    `year` is the (first) year named, `has_both` whether the next one is too; the month is `offset` months after the
    start, or a `month` of the calendar. `first_listed` is the first of months that run from December to January.
    """

    year: int
    has_both: bool
    offset: int = 0
    month: int = 0
    first_listed: int = 0


@dataclass(frozen=True, slots=True)
class SheetColumn:
    """A column with a meaning. `month` is set for "month" columns ("2026-12", or "#3" for the plan's third month).

    `words` is the normalized header; `metric` is that of a demand in the header; `rule` is the reason for the meaning;
    `was` is the earlier meaning of a column whose values became month columns. `share` is the part of an amount that
    belongs to the month of a quarter; `fiscal` is set for months of a fiscal year.
    """

    index: int
    meaning: str
    header: Cell
    words: str
    month: str = ""
    metric: Metric | None = None
    currency: str = ""
    rule: str = RULE_HEADER_WORDS
    was: str = ""
    share: float = 1.0
    fiscal: FiscalMonth | None = None

    @property
    def is_peak(self) -> bool:
        return bool(PEAK.search(self.words))

    @property
    def is_share_of_hours(self) -> bool:
        """Whether a utilisation lowers the hours beside it, by its header."""
        return bool(SHARE_OF_HOURS.search(self.words))


def match_columns(
    row: GridRow, above: GridRow | None = None, options: SheetOptions = NO_SHEET_OPTIONS
) -> tuple[SheetColumn, ...]:
    """The columns of a header row, one or more for each meaning; `above` may contain the unit of month columns."""
    columns: list[SheetColumn] = []
    over = ""
    for index, cell in enumerate(row.cells):
        text = above.cell(index).text if above else ""
        over = text or (over if columns and columns[-1].meaning == "month" else "")
        if column := _mapped_column(index, cell, over, options) or _match_column(index, cell, over, options):
            columns.append(column)
    return tuple(columns)


def unmatched_headers(row: GridRow, columns: tuple[SheetColumn, ...]) -> list[Cell]:
    """The header cells without a known meaning."""
    known = {column.index for column in columns}
    return [cell for index, cell in enumerate(row.cells) if not cell.is_blank and index not in known]


def select_columns(columns: tuple[SheetColumn, ...]) -> tuple[tuple[SheetColumn, ...], tuple[SheetColumn, ...]]:
    """One column for each text meaning (the best name, else the first), and the columns that are not used."""
    selected: dict[str, SheetColumn] = {}
    rest: list[SheetColumn] = []
    passed: list[SheetColumn] = []
    mapped = {column.meaning for column in columns if column.rule == RULE_USER_MAPPING and column.meaning != "month"}
    means = {column.meaning for column in columns if not column.is_peak}
    for column in columns:
        is_peak = column.is_peak and column.meaning in means and column.meaning in PEAK_MEANINGS
        if (column.meaning in mapped and column.rule != RULE_USER_MAPPING) or is_peak:
            passed.append(column)
            continue
        if column.meaning not in SINGLE_COLUMN_MEANINGS:
            rest.append(column)
            continue
        current = selected.get(column.meaning)
        if current is None or (column.meaning == "name" and _name_rank(column) < _name_rank(current)):
            selected[column.meaning] = column
            passed += [current] if current else []
        else:
            passed.append(column)
    return tuple(sorted([*selected.values(), *rest], key=lambda column: column.index)), tuple(passed)


def _mapped_column(index: int, cell: Cell, over: str, options: SheetOptions) -> SheetColumn | None:
    """The column as mapped by an option or a mapping file."""
    field = options.field_of(cell.text)
    if not field or field == IGNORE:
        return None
    month = month_field(field)
    metric = parse_month_metric(over) if month and over else parse_metric(cell.text)
    currency = "" if month else parse_currency(cell.text)
    return SheetColumn(
        index, "month" if month else field, cell, normalize_text(cell.text), month, metric, currency, RULE_USER_MAPPING
    )


def _match_column(index: int, cell: Cell, over: str, options: SheetOptions) -> SheetColumn | None:
    if is_year(cell):
        return SheetColumn(index, "yearless", cell, cell.text)
    is_text = not (cell.is_blank or cell.fault or cell.is_number or isinstance(cell.value, bool))
    if not is_text or options.field_of(cell.text) == IGNORE:
        return None
    if isinstance(cell.value, str) and len(cell.text) <= TITLE_MAX:
        column = _column_from_title(cell.text)
    else:
        month = parse_month(cell)
        column = SheetColumn(0, "month", cell, cell.text, month, rule=RULE_CALENDAR_MONTH) if month else None
    if column is None:
        return None
    metric = column.metric
    if column.meaning == "month" and metric is None and over:
        metric = parse_month_metric(over)
    return replace(column, index=index, header=cell, metric=metric)


@lru_cache(maxsize=10_000)
def _column_from_title(text: str) -> SheetColumn | None:
    """The column of a title, without its position and the unit of a month; None for a text without a meaning."""
    cell = Cell("", text)
    has_digits = any(character.isdigit() for character in text)
    if has_digits and (month := parse_month(cell)):
        return SheetColumn(0, "month", cell, text, month, rule=RULE_CALENDAR_MONTH)
    if has_digits and (number := parse_month_number(cell)):
        return SheetColumn(0, "month", cell, text, f"#{number}", rule="a month of the plan by number")
    if is_yearless(cell) or (has_digits and is_ambiguous_date(cell)):
        return SheetColumn(0, "yearless", cell, text)
    words = normalize_text(text)
    meaning = match_meaning(words)
    if (
        has_digits
        and meaning in MONTHLY_MEANINGS
        and not _PRICED.search(words)
        and (month_column := _column_from_month_title(cell, words))
    ):
        return month_column
    return SheetColumn(0, meaning, cell, words, "", parse_metric(text), parse_currency(text)) if meaning else None


def _column_from_month_title(cell: Cell, words: str) -> SheetColumn | None:
    """The column of "GPU-hours Jan-27", a month, and of "GPU-hours Q1 2027", whose months are unknown."""
    rest = [part for part in re.split(r"[()\[\]:]|\s[-–]\s|\s", cell.text) if part]
    for size in (1, 2):
        for at in range(len(rest) - size + 1):
            if month := parse_month(Cell("", " ".join(rest[at : at + size]))):
                metric = parse_month_metric(" ".join(rest[:at] + rest[at + size :]))
                return SheetColumn(0, "month", cell, words, month, metric, rule=RULE_CALENDAR_MONTH) if metric else None
    return SheetColumn(0, "yearless", cell, cell.text) if re.search(r"\bq[1-4]\b", words) else None


def is_year(cell: Cell) -> bool:
    """Whether a cell is a year alone, as a number."""
    return cell.is_number and cell.text.isdigit() and 2020 <= int(cell.text) <= 2099


@lru_cache(maxsize=10_000)
def match_meaning(words: str) -> str:
    """The meaning of a normalized header, else empty."""
    meaning = next((meaning for meaning, pattern in _meaning_patterns() if pattern.search(words)), "")
    return "" if meaning not in MAY_BE_PRICED and _PRICED.search(words) else meaning


@cache
def _meaning_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((meaning, re.compile(pattern)) for meaning, pattern in MEANINGS)


def _name_rank(column: SheetColumn) -> int:
    return next(
        (rank for rank, word in enumerate(NAME_RANK) if re.search(rf"\b{word}\b", column.words)), len(NAME_RANK)
    )
