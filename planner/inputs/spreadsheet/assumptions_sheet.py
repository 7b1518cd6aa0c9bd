"""Reads a sheet of assumptions as names and values; both are validated with the request.

A row whose name is none of the planner's assumptions, nor nearly one, is somebody else's: finance teams keep sheets of
this name too.
"""

from __future__ import annotations

import re
from difflib import get_close_matches

from planner.inputs.cell_grid import Cell, GridRow, InputSheet
from planner.inputs.notation.dates import parse_month, parse_month_name
from planner.inputs.notation.numbers import AmbiguousNumber, parse_currency, parse_format_currency, parse_quantity
from planner.inputs.reading_log import ReadingLog, RowKind
from planner.inputs.spreadsheet.last_year import read_last_year_spend
from planner.request.assumptions import load_defaults, override_names

OF_SYSTEMS = tuple(override_names(""))
"""The beginnings of names of figures of one owned system."""
SLIP = 0.8
"""Likeness, of 1, from which another name is a slip."""
MONTHS_A_YEAR = 12
_FISCAL_START = re.compile(r"(?:fiscal|financial)_year_(?:starts?|begins)(?:_in)?(?:_month)?")
_LAST_SPEND = re.compile(
    r"(?:(?:last|prior|previous)_year(?:_?s)?|current|present)_(?:monthly_|annual_)?(?:gpu_|cloud_|accelerator_|compute_)*"
    r"(?:spend|cost|bill)(?:_per_(?:month|year))?"
)
_NAME = re.compile(r"(?:name|assumption|parameter|input|item|driver)s?(?: name)?")
_VALUE = re.compile(r"(?:value|our value|figure|override|used|base)s?")


def is_assumptions_sheet(sheet: InputSheet) -> bool:
    return "assumption" in sheet.name.casefold()


def read_assumptions(sheet: InputSheet, ledger: ReadingLog) -> dict[str, float]:
    """Every name with its value; rows without a value are rejected as notes."""
    at, name_column, value_column = _find_layout(sheet)
    values: dict[str, float] = {}
    for row in sheet.rows[at:]:
        name, cell = row.cell(name_column), row.cell(value_column)
        if row.is_blank:
            continue
        if row.hidden:
            ledger.reject_row(row, RowKind.HIDDEN)
        elif _FISCAL_START.fullmatch(_assumption_key(name)):
            _read_fiscal_start(cell, ledger)
        elif not name.is_blank and not _is_assumption(_assumption_key(name)):
            ledger.reject_row(row, RowKind.NO_ASSUMPTION)
        elif name.is_blank or (cell.is_blank and not cell.fault):
            ledger.reject_row(row, RowKind.NAME_WITHOUT_VALUE)
        else:
            _read_row(row, name, cell, values, ledger)
    return values


def _assumption_key(name: Cell) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.text.casefold()).strip("_")


def _is_assumption(key: str) -> bool:
    """Whether a name is an assumption, or so nearly one that it is rather a slip than another team's."""
    names = load_defaults()
    if _LAST_SPEND.fullmatch(key):
        return True
    return key in names or key.startswith(OF_SYSTEMS) or bool(get_close_matches(key, names, 1, cutoff=SLIP))


def _read_row(row: GridRow, name: Cell, cell: Cell, values: dict[str, float], ledger: ReadingLog) -> None:
    key = _assumption_key(name)
    path = f"assumptions.{key}"
    ledger.rows_used += 1
    value = _read_value(row, cell, ledger)
    if value is None:
        return
    if _LAST_SPEND.fullmatch(key):
        read_last_year_spend(name, cell, value, ledger.amount[0], ledger)
        return
    if key in values:
        ledger.add_problem(
            name, f"a second value for {key}; the first is in {ledger.places[path]}", "one value for each name", path
        )
        return
    values[key] = value
    ledger.read(path, cell, value)


def find_fiscal_row(sheet: InputSheet) -> int:
    """The month in which the fiscal year starts by a row of the sheet, 0 without one."""
    at, name_column, value_column = _find_layout(sheet)
    rows = (
        row
        for row in sheet.rows[at:]
        if not row.hidden and _FISCAL_START.fullmatch(_assumption_key(row.cell(name_column)))
    )
    return next((_month_number(row.cell(value_column)) for row in rows), 0)


def _read_fiscal_start(cell: Cell, ledger: ReadingLog) -> None:
    """Records the month in which the fiscal year starts; a setting of the caller overrides it."""
    ledger.rows_used += 1
    if number := _month_number(cell):
        ledger.read("fiscal_year_starts", cell, number)
    else:
        ledger.add_problem(cell, "not a month", "such as April or 4", "fiscal_year_starts")


def _month_number(cell: Cell) -> int:
    """The month of a cell by its name, its number or a date, else 0."""
    number = parse_month_name(cell) or int(parse_month(cell)[5:] or 0)
    is_number = cell.text.isdecimal() and 1 <= int(cell.text[:3]) <= MONTHS_A_YEAR
    return number or (int(cell.text) if is_number else 0)


def _read_value(row: GridRow, cell: Cell, ledger: ReadingLog) -> float | None:
    currency = next(
        (
            code
            for other in row.cells
            if (code := parse_currency(other.text) or parse_format_currency(other.number_format))
        ),
        "",
    )
    if cell.fault:
        ledger.add_problem(cell, "the cell has an error", "a value")
        return None
    if currency and not ledger.accepts_currency(currency, cell):
        return None
    if isinstance(cell.value, int | float) and not isinstance(cell.value, bool):
        return float(cell.value)
    try:
        parsed = parse_quantity(cell.text, "." if "," in cell.text else "") if isinstance(cell.value, str) else None
    except AmbiguousNumber:
        ledger.add_problem(
            cell,
            "ambiguous: the separator may be a decimal point or group thousands",
            f"{cell.text}0 or the digits alone",
        )
        return None
    if parsed is None:
        ledger.add_problem(cell, "text instead of a number", "a number")
        return None
    return parsed.value / 100 if parsed.percent else parsed.value


def _find_layout(sheet: InputSheet) -> tuple[int, int, int]:
    """The first row, and the columns of names and values: by a header, else the first two columns."""
    for index, row in enumerate(sheet.rows):
        texts = [cell.text.casefold() for cell in row.cells]
        names = [i for i, text in enumerate(texts) if _NAME.fullmatch(text)]
        values = [i for i, text in enumerate(texts) if _VALUE.fullmatch(text)]
        if names and values:
            return index + 1, names[0], values[0]
    first = next((i for row in sheet.rows for i, cell in enumerate(row.cells) if not cell.is_blank), 0)
    return 0, first, first + 1
