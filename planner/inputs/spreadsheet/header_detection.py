"""Finds the header of a table among titles and notes: one row, two joined rows, or one row with units beneath it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from planner.inputs.cell_grid import HEADER_SEARCH_ROWS, Cell, GridRow, InputSheet
from planner.inputs.notation.dates import is_yearless, parse_month, parse_month_number
from planner.inputs.notation.units import normalize_text
from planner.inputs.sheet_options import SheetOptions
from planner.inputs.spreadsheet.column_meanings import NAME_RANK, is_year, match_columns, match_meaning
from pricing.frozen_values import dataclass

KEY_MEANINGS = frozenset(
    {"name", "accelerator", "gpus", "hours", "accelerator_hours", "units_per_month", "throughput", "month"}
)
_NAMES = tuple(words.split()[-1] for words in NAME_RANK)
_UNIT = re.compile(
    r"[(\[]?(?:(?:in )?(?:[kmgtp]i?b|gib|%|percent|[€$£¥]|k?usd|k?eur|k?gbp|chf|#|no\.?|nr\.?|count|pcs|text|y/n|"
    r"yes ?/ ?no|hours?|hrs?|h|minutes?|mins?|min|days?|months?|gpus?|gpu[ -]?hours?|"
    r"(?:[kmbt] )?tokens?|samples?|images?|requests?))?"
    r"(?: ?(?:/|per) ?(?:s|sec|second|h|hour|day|week|month|mo|mth|year|yr|gpu|job))*[)\]]?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Header:
    """`row` names the columns, `above` may contain the unit of month columns, `below` is the first row of the table."""

    row: GridRow
    above: GridRow | None
    below: int


def find_header(sheet: InputSheet, start: int, options: SheetOptions) -> Header | None:
    """The best header from row `start` on: most meanings, the first of equals; two joined rows where better."""
    if (first := _first_of_several_headers(sheet, start, options)) is not None:
        return first
    best, best_score = None, 1
    for index in range(start, min(len(sheet.rows), start + HEADER_SEARCH_ROWS)):
        score, _ = _match_header(sheet.rows[index], options)
        if score > best_score:
            best, best_score = _single_row_header(sheet, index), score
        if index > start and (row := _join_rows(sheet.rows[index - 1], sheet.rows[index])) is not None:
            score, vital = _rank_header(row, options)
            alone = max(_rank_header(sheet.rows[index - 1], options), _rank_header(sheet.rows[index], options))
            if score >= best_score and (score, vital) > alone:
                above = sheet.rows[index - 2] if index > start + 1 else sheet.rows[index - 1]
                best, best_score = Header(row, above, index + 1), score
    return best


def _first_of_several_headers(sheet: InputSheet, start: int, options: SheetOptions) -> Header | None:
    """The first of several good headers with a table beneath it, even where a later one has more meanings."""
    indexes: list[int] = []
    for index in range(start, min(len(sheet.rows), start + HEADER_SEARCH_ROWS)):
        row = sheet.rows[index]
        if len(row.cells) < 3 or _has_numbers(row) or any(cell.text.isdigit() for cell in row.cells):
            continue
        score, meanings = _match_header(row, options)
        if score >= 3 and "name" in meanings and len(meanings & KEY_MEANINGS) >= 3:
            indexes.append(index)
        if len(indexes) == 2:
            has_rows = any(_has_values(each) for each in sheet.rows[indexes[0] + 1 : index])
            return _single_row_header(sheet, indexes[0]) if has_rows else None
    return None


def _has_values(row: GridRow) -> bool:
    return any((cell.is_number and not is_year(cell)) or cell.text[:1].isdigit() for cell in row.cells)


def _has_numbers(row: GridRow) -> bool:
    return any((cell.is_number and not is_year(cell)) or isinstance(cell.value, bool) for cell in row.cells)


def _match_header(row: GridRow, options: SheetOptions) -> tuple[int, set[str]]:
    """The score of a header, which is the number of its known meanings (0 where the row is none), and its meanings."""
    columns = match_columns(row, None, options)
    meanings = {column.meaning for column in columns}
    score = len(meanings - {"yearless"})
    is_header = score >= 4 or len(columns) * 2 >= sum(not cell.is_blank for cell in row.cells)
    return score if is_header and not _has_numbers(row) else 0, meanings


def find_next_header(sheet: InputSheet, header: GridRow, start: int, options: SheetOptions) -> int:
    """The row where a table with other columns begins, else the end of the sheet. A repeated header begins none."""
    own = {cell.text.casefold() for cell in header.cells if not cell.is_blank}
    for index in range(start, len(sheet.rows)):
        row = sheet.rows[index]
        if any(cell.is_number for cell in row.cells) or any(cell.text.isdigit() for cell in row.cells):
            continue
        texts = {cell.text.casefold() for cell in row.cells if not cell.is_blank}
        may_have_name = options.columns or any(word in text for text in texts for word in _NAMES)  # excludes most rows
        if len(texts) < 3 or len(texts & own) * 2 >= len(texts) or not may_have_name:
            continue
        score, meanings = _match_header(row, options)
        if score >= 3 and "name" in meanings:
            return index
    return len(sheet.rows)


def _rank_header(row: GridRow, options: SheetOptions) -> tuple[int, int]:
    """The rank of a header, to choose between one row and two: its meanings, then those that state demand."""
    score, meanings = _match_header(row, options)
    return score, len(meanings & KEY_MEANINGS)


def _single_row_header(sheet: InputSheet, index: int) -> Header:
    """A header row, joined with a row of units beneath it."""
    row, above = sheet.rows[index], sheet.rows[index - 1] if index else None
    if index + 1 < len(sheet.rows) and _is_units(sheet.rows[index + 1]):
        return Header(_merge_rows(row, sheet.rows[index + 1], _append_unit, at=row), above, index + 2)
    return Header(row, above, index + 1)


def _is_units(row: GridRow) -> bool:
    cells = [cell for cell in row.cells if not cell.is_blank]
    return len(cells) > 1 and all(isinstance(c.value, str) and _UNIT.fullmatch(c.text) for c in cells)


def _join_rows(above: GridRow, below: GridRow) -> GridRow | None:
    """Two rows as one header, where a heading spans several columns and belongs to each of them; else None."""
    upper = [cell for cell in above.cells if not cell.is_blank]
    if len({cell.text for cell in upper}) < 2 or any(c.is_number and not 2000 <= float(c.text) <= 2100 for c in upper):
        return None
    if _has_numbers(below):
        return None
    spread = _spread_headings(above, below)
    pairs = zip(spread.cells, spread.cells[1:], below.cells, below.cells[1:], strict=False)
    if not any(a.text and a.text == b.text and c.text and d.text and c.text != d.text for a, b, c, d in pairs):
        return None
    if len(match_columns(below)) < 2:
        return None
    return _merge_rows(spread, below, _combine_headings, at=below)


def _spread_headings(above: GridRow, below: GridRow) -> GridRow:
    """The upper row with its headings repeated in the blank cells to their right, where the lower row has texts."""
    cells: list[Cell] = []
    over: Cell | None = None
    for index in range(max(len(above.cells), len(below.cells))):
        cell = above.cell(index)
        over = cell if not cell.is_blank else None if below.cell(index).is_blank else over
        cells.append(over or cell)
    return replace(above, cells=tuple(cells))


def _merge_rows(above: GridRow, below: GridRow, join: Callable[[str, str], str], at: GridRow) -> GridRow:
    cells = []
    for index in range(max(len(above.cells), len(below.cells))):
        upper, lower = above.cell(index), below.cell(index)
        if upper.is_blank or lower.is_blank or upper.text == lower.text:
            cells.append(upper if lower.is_blank else lower)
        elif parse_month(lower):
            cells.append(lower)
        else:
            cells.append(replace(at.cell(index), value=join(upper.text, lower.text), number_format="", fault=""))
    return GridRow(at.place, tuple(cells), above.hidden and below.hidden)


def _append_unit(name: str, unit: str) -> str:
    """A header with its unit in brackets, as in a header of one row."""
    return f"{name} {unit}" if unit[:1] in "([" else f"{name} ({unit})"


def _combine_headings(upper: str, lower: str) -> str:
    """Two headings as one: both together where that has a meaning, else the lower, else the upper."""
    for text in (f"{lower} {upper}", f"{upper} {lower}"):
        if parse_month(Cell("", text)):
            return text
    if parse_month_number(Cell("", lower)) or is_yearless(Cell("", lower)):
        return lower
    both = f"{upper} {lower}"
    return next((text for text in (both, lower, upper) if match_meaning(normalize_text(text))), both)
