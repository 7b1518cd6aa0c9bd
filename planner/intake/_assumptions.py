"""A sheet of assumptions -> names and values. Which names exist, and what values they allow, is checked elsewhere."""

from __future__ import annotations

import re

from planner.intake._grid import Cell, Row, Sheet
from planner.intake._ledger import Ledger
from planner.intake._numbers import Ambiguous, currency_of, currency_of_format, quantity

_NAME = re.compile(r"(?:name|assumption|parameter|input|item|driver)s?(?: name)?")
_VALUE = re.compile(r"(?:value|our value|figure|override|used|base)s?")


def is_of_assumptions(sheet: Sheet) -> bool:
    return "assumption" in sheet.name.casefold()


def read_assumptions(sheet: Sheet, ledger: Ledger) -> dict[str, float]:
    """Every name with its value; rows without a number are refused as notes."""
    at, name_column, value_column = _layout(sheet)
    found: dict[str, float] = {}
    for row in sheet.rows[at:]:
        name, cell = row.cell(name_column), row.cell(value_column)
        if row.is_blank:
            continue
        if row.hidden:
            ledger.refuse(row, "hidden row; unhide it to have it used")
        elif name.is_blank or (cell.is_blank and not cell.fault):
            ledger.refuse(row, "note: no value beside a name")
        else:
            _read_row(row, name, cell, found, ledger)
    return found


def _read_row(row: Row, name: Cell, cell: Cell, found: dict[str, float], ledger: Ledger) -> None:
    key = re.sub(r"[^a-z0-9]+", "_", name.text.casefold()).strip("_")
    path = f"assumptions.{key}"
    ledger.rows_used += 1
    value = _value(row, cell, ledger)
    if value is None:
        return
    if key in found:
        ledger.complain(
            name, f"a second value for {key}; the first stands in {ledger.places[path]}", "one value for a name", path
        )
        return
    found[key] = value
    ledger.read(path, cell, value)


def _value(row: Row, cell: Cell, ledger: Ledger) -> float | None:
    currency = next(
        (code for other in row.cells if (code := currency_of(other.text) or currency_of_format(other.number_format))),
        "",
    )
    if cell.fault:
        ledger.complain(cell, "no value can be read", "a value")
        return None
    if currency and not ledger.is_in(currency, cell):
        return None
    if isinstance(cell.value, int | float) and not isinstance(cell.value, bool):
        return float(cell.value)
    try:
        parsed = quantity(cell.text, "." if "," in cell.text else "") if isinstance(cell.value, str) else None
    except Ambiguous:
        ledger.complain(
            cell, "is the separator a decimal point or does it group thousands?", f"{cell.text}0 or the digits alone"
        )
        return None
    if parsed is None:
        ledger.complain(cell, "text where a number is needed", "a number")
        return None
    return parsed.value / 100 if parsed.percent else parsed.value


def _layout(sheet: Sheet) -> tuple[int, int, int]:
    """Where the rows begin, and the columns of names and values: as a header says, else the first two."""
    for index, row in enumerate(sheet.rows):
        texts = [cell.text.casefold() for cell in row.cells]
        names = [i for i, text in enumerate(texts) if _NAME.fullmatch(text)]
        values = [i for i, text in enumerate(texts) if _VALUE.fullmatch(text)]
        if names and values:
            return index + 1, names[0], values[0]
    first = next((i for row in sheet.rows for i, cell in enumerate(row.cells) if not cell.is_blank), 0)
    return 0, first, first + 1
