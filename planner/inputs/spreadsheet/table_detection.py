"""Finds the tables of a sheet: a header, and every row beneath it as a workload or with the reason why it is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

from planner.inputs.cell_grid import Cell, GridRow, InputSheet
from planner.inputs.notation.header_terms import match_kind
from planner.inputs.notation.languages import NO, TOTALS
from planner.inputs.notation.numbers import detect_decimal_separator
from planner.inputs.notation.units import Metric, normalize_text
from planner.inputs.reading_log import RowKind
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions
from planner.inputs.spreadsheet.column_meanings import (
    RULE_CELL_CONTENT,
    RULE_USER_MAPPING,
    TITLE_MAX,
    SheetColumn,
    match_columns,
    select_columns,
    unmatched_headers,
)
from planner.inputs.spreadsheet.fiscal_columns import date_fiscal_months, expand_quarters, find_fiscal_start
from planner.inputs.spreadsheet.header_detection import find_header, find_next_header
from planner.inputs.spreadsheet.month_titles import apply_titles_to_months, drop_sum_columns, find_title_period
from pricing.frozen_values import dataclass

TEXT_MEANINGS = frozenset({
    "notes", "source", "interruptible", "substitution", "accelerators", "may_be_owned", "residency", "precision",
    "daily_shape", "scaling", "per", "unit", "accelerator", "team", "kind", "provider", "region", "name", "period",
    "instance_type", "start", "end", "included", "recovery", "recovery_place", "called_model",
})  # fmt: skip
DEMAND_MEANINGS = frozenset(
    ["accelerator_hours", "node_hours", "units_per_month", "total_units", "requests_per_second", "amount", "month"]
)
SHARE_MEANINGS = ("utilisation", "growth")
"""Meanings whose values are a share of 1 or a percentage."""
_TOTAL_WORD = r"(?:(?:grand|overall|sub)[ -]?)?totals?"
_TOTAL = re.compile(
    rf"{_TOTAL_WORD}\b.*|sum\b.{{0,20}}|(?:{TOTALS})(?:\W.{{0,40}})?"
    r"|.*\S[ :–-]+(?:sub-?)?totals?:?",
    re.IGNORECASE,
)
_TOTAL_ALONE = re.compile(rf"(?:{_TOTAL_WORD}|(?:gesamt|zwischen)?summe)\b[: ]*(?P<of>.*)", re.IGNORECASE)
_LAST_YEAR = re.compile(
    r"(?:(?:last|prior|previous) year(?:['’]?s)?|actuals?,? (?:fy ?)?(?:20)?\d\d|(?:20|fy ?)(?:20)?\d\d actuals?)"
    r"(?: (?:actuals?|total|use|usage|hours))?(?: \(.{0,20}\))?:?",
    re.IGNORECASE,
)
"""The label of a row of last year."""
_BARE = re.compile(r"\d+(?:\.\d+)?")
TABLE_ENDS = (RowKind.TOTAL, RowKind.BLANK, RowKind.HEADING, RowKind.NOTE)
"""Rows after which a table may be over."""
_EXAMPLE = re.compile(r"(?:\(example\)|\[example\]|example:)", re.IGNORECASE)
"""The mark of a row as an example, as `planner template` writes one."""


@dataclass(frozen=True, slots=True)
class ClassifiedRow:
    """A row beneath a header. `first_place` is the place of the workload's first row, for FURTHER_MONTH."""

    row: GridRow
    kind: RowKind
    first_place: str = ""


@dataclass(frozen=True)
class SheetTable:
    """A header with the rows beneath it. `decimals` is the decimal separator by column index, where it is certain.

    `faults` are cells with a message and the expected value.
    """

    sheet: InputSheet
    header: GridRow
    columns: tuple[SheetColumn, ...]
    passed_over: tuple[Cell, ...]
    rows: tuple[ClassifiedRow, ...]
    decimals: dict[int, str]
    faults: tuple[tuple[Cell, str, str], ...] = ()
    title_period: tuple[str, Cell] | None = None
    """A period other than a month in a title above, or in the sheet's name: it scales nothing."""
    fiscal_year_starts: int = 0
    """The month in which the fiscal year starts by a title above; 0: by none."""

    @cached_property
    def by_meaning(self) -> dict[str, SheetColumn]:
        """The first column of each meaning."""
        return {column.meaning: column for column in reversed(self.columns)}

    @cached_property
    def in_percent(self) -> frozenset[int]:
        """The columns of shares with a number above 1."""
        shares = (self.by_meaning[meaning].index for meaning in SHARE_MEANINGS if meaning in self.by_meaning)
        return frozenset(index for index in shares if _is_in_percent(self.workload_rows, index))

    @cached_property
    def workload_rows(self) -> tuple[GridRow, ...]:
        return tuple(each.row for each in self.rows if each.kind is RowKind.WORKLOAD)

    def column(self, meaning: str) -> SheetColumn | None:
        """The first column of that meaning, None where there is none."""
        return self.by_meaning.get(meaning)

    @property
    def meanings(self) -> frozenset[str]:
        return frozenset(self.by_meaning)

    @property
    def has_demand_columns(self) -> bool:
        """Whether its columns can state a demand."""
        has_count = bool(self.meanings & {"gpus", "nodes", "accelerator", "instance_type", "replicas"})
        share = self.column("utilisation")
        has_hours = "hours" in self.meanings or (share is not None and share.is_share_of_hours)
        has_times = "yearless" in self.meanings and (has_count or "unit" in self.meanings)
        return bool(self.meanings & DEMAND_MEANINGS or (has_count and has_hours) or has_times)

    @property
    def is_of_workloads(self) -> bool:
        return "name" in self.meanings and self.has_demand_columns


def find_tables(sheet: InputSheet, choices: SheetOptions = NO_SHEET_OPTIONS) -> tuple[SheetTable, ...]:
    """The tables of a sheet, in order; none where no row looks like a header."""
    tables: list[SheetTable] = []
    start = 0
    while (header := find_header(sheet, start, choices)) is not None:
        end = find_next_header(sheet, header.row, header.below, choices)
        named = match_columns(header.row, header.above, choices)
        below, at = sheet.rows[header.below : end], header.below - 1
        above = sheet.rows[start:at]
        named = date_fiscal_months(sheet, above, expand_quarters(sheet, above, named))
        named = apply_titles_to_months(sheet, above, named)
        columns, passed = select_columns(_resolve_by_content(_plan_only_hours(named), below))
        columns, sums = drop_sum_columns(columns, below)
        passed = (*passed, *sums, *(column for column in columns if not column.meaning))
        columns = tuple(column for column in columns if column.meaning)
        left_out = (*(column.header for column in passed), *unmatched_headers(header.row, named))
        table = _build_table(sheet, header.row, columns, tuple(left_out), below)
        starts = find_fiscal_start(sheet, above)
        tables.append(replace(table, title_period=find_title_period(sheet, above), fiscal_year_starts=starts))
        if end >= len(sheet.rows):
            break
        start = end
    return tuple(tables)


def _build_table(
    sheet: InputSheet,
    header: GridRow,
    columns: tuple[SheetColumn, ...],
    left_out: tuple[Cell, ...],
    below: tuple[GridRow, ...],
) -> SheetTable:
    rows: list[ClassifiedRow] = []
    ended = False
    titles = frozenset(cell.text.casefold() for cell in header.cells if not cell.is_blank)
    for row in below:
        kind = _classify_row(row, titles, columns, ended=ended)
        ended = kind is not RowKind.WORKLOAD and (ended or kind in TABLE_ENDS)
        rows.append(ClassifiedRow(row, kind))
    last = max((index for index, each in enumerate(rows) if each.kind is RowKind.WORKLOAD), default=-1)
    trimmed_rows = tuple(each for index, each in enumerate(rows) if each.kind is not RowKind.BLANK or index < last)
    return SheetTable(sheet, header, columns, left_out, trimmed_rows, _decimal_separators(columns, trimmed_rows))


def _classify_row(row: GridRow, titles: frozenset[str], columns: tuple[SheetColumn, ...], *, ended: bool) -> RowKind:
    """The kind of a row; `ended`: an earlier row may be the end of the table."""
    cells = [cell for cell in row.cells if not cell.is_blank]
    by_meaning = {column.meaning: row.cell(column.index) for column in columns if column.meaning != "month"}
    conditions: tuple[tuple[RowKind, Callable[[], bool]], ...] = (
        (RowKind.BLANK, lambda: not cells),
        (RowKind.HIDDEN, lambda: row.hidden),
        (RowKind.REPEATED_HEADER, lambda: _is_repeated_header(cells, titles)),
        (RowKind.TOTAL, lambda: _is_total(cells, by_meaning)),
        (RowKind.LAST_YEAR, lambda: _is_last_year(by_meaning)),
        (RowKind.EXCLUDED, lambda: "included" in by_meaning and by_meaning["included"].text.casefold() in NO),
        (RowKind.EXAMPLE, lambda: "name" in by_meaning and bool(_EXAMPLE.match(by_meaning["name"].text))),
        (RowKind.HEADING, lambda: len(cells) == 1 and not cells[0].is_number),
        (RowKind.NOTE, lambda: _is_note(row, columns, by_meaning, ended=ended)),
    )
    return next((kind for kind, holds in conditions if holds()), RowKind.WORKLOAD)


def _is_repeated_header(cells: list[Cell], titles: frozenset[str]) -> bool:
    if any(cell.is_number and cell.text not in titles for cell in cells):
        return False
    return len(cells) > 1 and sum(cell.text.casefold() in titles for cell in cells) * 2 > len(cells)


def _is_note(row: GridRow, columns: tuple[SheetColumn, ...], by_meaning: dict[str, Cell], *, ended: bool) -> bool:
    """A row without a number, a kind and an accelerator, and without a name or after the end of the table."""
    if any(not row.cell(c.index).is_blank for c in columns if c.meaning not in TEXT_MEANINGS):
        return False
    words = [by_meaning[meaning].text for meaning in ("kind", "accelerator", "instance_type") if meaning in by_meaning]
    described = any(any(sign.isalpha() for sign in text) and not (ended and _is_prose(text)) for text in words)
    named = "name" in by_meaning and not by_meaning["name"].is_blank
    return not described and (ended or not named)


def _is_prose(text: str) -> bool:
    """Whether a text beneath a table names neither an accelerator nor a kind of workload."""
    return len(text.split()) > 3 or not (match_kind(normalize_text(text)) or any(sign.isdigit() for sign in text))


def _is_total(cells: list[Cell], by_meaning: dict[str, Cell]) -> bool:
    """A label such as "Grand total" in any column, in a row without a name, accelerator or kind of its own."""
    texts = (cell for cell in cells if isinstance(cell.value, str) and len(cell.text) <= TITLE_MAX)
    labels = [cell for cell in texts if _TOTAL.fullmatch(cell.text)]
    name, accelerator = by_meaning.get("name"), by_meaning.get("accelerator")
    if name is not None and (alone := _TOTAL_ALONE.fullmatch(name.text)):
        of = alone["of"].casefold()
        if not of or (accelerator is not None and of == accelerator.text.casefold()):
            return True
    own = [by_meaning[meaning] for meaning in ("name", "accelerator", "kind") if meaning in by_meaning]
    return bool(labels) and all(cell.is_blank or cell in labels for cell in own)


def _is_last_year(by_meaning: dict[str, Cell]) -> bool:
    """A row that is named for last year, without an accelerator or a kind of its own."""
    name = by_meaning.get("name")
    own = [by_meaning[meaning] for meaning in ("accelerator", "instance_type", "kind") if meaning in by_meaning]
    return name is not None and bool(_LAST_YEAR.fullmatch(name.text)) and all(cell.is_blank for cell in own)


def _is_in_percent(rows: Sequence[GridRow], index: int) -> bool:
    """Whether a column of shares has a number above 1 without a percent sign."""
    for row in rows:
        cell = row.cell(index)
        if "%" in cell.number_format:
            continue
        bare = cell.is_number or (isinstance(cell.value, str) and _BARE.fullmatch(cell.text))
        if bare and float(cell.text) > 1:
            return True
    return False


def _resolve_by_content(columns: tuple[SheetColumn, ...], rows: tuple[GridRow, ...]) -> tuple[SheetColumn, ...]:
    """Distinguishes a column of accelerator names from one of counts by its cells, where only one of the two exists."""
    meanings = {column.meaning for column in columns}
    result = []
    for column in columns:
        if (
            column.meaning == "kind"
            and column.rule != RULE_USER_MAPPING
            and column.words in ("type", "category", "class")
        ):
            result.append(_resolve_kind_column(column, meanings, rows))
            continue
        other = {"accelerator": "gpus", "gpus": "accelerator"}.get(column.meaning, "")
        if not other or other in meanings or column.rule == RULE_USER_MAPPING:
            result.append(column)
            continue
        cells = [cell for row in rows if not (cell := row.cell(column.index)).is_blank]
        numbers = sum(cell.is_number or cell.text.replace(".", "").replace(",", "").isdigit() for cell in cells)
        fits_better = numbers * 2 > len(cells) if other == "gpus" else numbers * 2 < len(cells)
        result.append(replace(column, meaning=other, rule=RULE_CELL_CONTENT) if fits_better else column)
    return tuple(_extend_metric(result))


def _plan_only_hours(columns: tuple[SheetColumn, ...]) -> tuple[SheetColumn, ...]:
    """The hours of last year are the demand where a table states no other."""
    if any(column.meaning in DEMAND_MEANINGS | {"yearless", "hours"} for column in columns):
        return columns
    return tuple(replace(c, meaning="accelerator_hours") if c.meaning == "last_hours" else c for c in columns)


def _resolve_kind_column(column: SheetColumn, meanings: set[str], rows: tuple[GridRow, ...]) -> SheetColumn:
    """A column Type of workloads; of accelerators where no other column names them; else without a meaning."""
    texts = [normalize_text(cell.text) for row in rows if not (cell := row.cell(column.index)).is_blank]
    if not texts or any(map(match_kind, texts)):
        return column
    numbered = sum(bool(re.search(r"[a-z]+ ?\d", text)) for text in texts)
    if "accelerator" not in meanings and numbered * 2 > len(texts):
        return replace(column, meaning="accelerator", rule=RULE_CELL_CONTENT)
    return replace(column, meaning="") if len(texts) > 1 else column


def _extend_metric(columns: list[SheetColumn]) -> list[SheetColumn]:
    """Month columns without a unit take that of the only demand column."""
    demands = [
        c.metric for c in columns if c.meaning in ("accelerator_hours", "units_per_month", "requests_per_second")
    ]
    only: Metric | None = demands[0] if len(demands) == 1 else None
    if only is None or only.kind != "requests_per_second":
        only = only and replace(only, period="month")
    return [replace(c, metric=only) if c.meaning == "month" and c.metric is None else c for c in columns]


def _decimal_separators(columns: tuple[SheetColumn, ...], rows: Sequence[ClassifiedRow]) -> dict[int, str]:
    """The decimal separator by column: by the numbers of the column, else by those of the table, else empty."""
    separators: dict[int, set[str]] = {}
    for column in columns:
        if column.meaning in TEXT_MEANINGS:
            continue
        texts = {value for each in rows if isinstance(value := each.row.cell(column.index).value, str)}
        separators[column.index] = {detect_decimal_separator(text) for text in texts if "." in text or "," in text} - {
            ""
        }
    everywhere = set().union(*separators.values()) if separators else set()
    shared = next(iter(everywhere)) if len(everywhere) == 1 else ""
    return {index: (next(iter(own)) if len(own) == 1 else "" if own else shared) for index, own in separators.items()}
