"""ODS: stored values of every sheet, with what is hidden, wrong or formatted told apart.

Formulas and macros never run.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime

from planner.inputs.cell_grid import Cell, CellValue, GridRow, InputSheet, column_letters, sheet_place
from planner.inputs.parsed_file import ParsedFile, reject_file
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions
from planner.inputs.spreadsheet.zip_archive import (
    RejectedWorkbook,
    check_size_limits,
    is_open_document,
    open_archive,
    parse_part,
)
from planner.inputs.text_encoding import binary_kind

IS_SHEET = True
SUFFIXES = (".ods",)
EXPECTED = "an OpenDocument spreadsheet (.ods)"
HIDDEN_STATES = ("collapse", "filter")
_ERROR = re.compile(r"#[A-Z0-9/]+[!?]?|Err:\d+", re.IGNORECASE)


def claims(data: bytes) -> bool:
    """Whether the bytes are an OpenDocument archive."""
    return is_open_document(data)


def read(data: bytes, name: str, choices: SheetOptions = NO_SHEET_OPTIONS) -> ParsedFile:
    """The workloads of all visible sheets; places are cells ("Plan!C5")."""
    from planner.inputs.spreadsheet.sheet_reader import read_sheets

    if not claims(data):
        kind = binary_kind(data) or "text; if it is CSV, name it .csv"
        return reject_file(data, name, "ods", f"no OpenDocument: this is {kind}", expected=EXPECTED)
    try:
        scan, notes = _scan_content(data)
        sheets = tuple(table.sheet(scan.hidden_styles) for table in scan.tables)
    except RejectedWorkbook as refusal:
        return reject_file(data, name, "ods", f"not opened: {refusal}", expected=EXPECTED)
    return read_sheets(data, name, "ods", sheets, notes, choices)


def _scan_content(data: bytes) -> tuple[_OdsContentScanner, list[str]]:
    with open_archive(data) as archive:
        names = archive.namelist()
        if "META-INF/manifest.xml" in names and b"encryption-data" in archive.read("META-INF/manifest.xml"):
            raise RejectedWorkbook("it has a password: save it without one")
        scan = _OdsContentScanner()
        info: zipfile.ZipInfo = archive.getinfo("content.xml")
        parse_part(archive, info, scan.start, scan.end, scan.text)
        has_macros = any(name.startswith(("Basic/", "Scripts/")) for name in names)
    if not scan.tables:
        raise RejectedWorkbook("an OpenDocument file that is no spreadsheet")
    return scan, ["the document has macros; they were not run"] if has_macros else []


@dataclass(slots=True)
class _OdsTable:
    """One sheet as it is scanned; rows and columns count from 0, and blank ones take no room."""

    name: str
    style: str
    cells: dict[int, dict[int, Cell]] = field(default_factory=dict)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: list[tuple[int, int]] = field(default_factory=list)
    spans: list[tuple[int, int, int, int]] = field(default_factory=list)
    next_row: int = 0
    next_column_style: int = 0

    def sheet(self, hidden_styles: set[str]) -> InputSheet:
        self._fill_merged_cells()
        rows = []
        for index in range(max(self.cells, default=-1) + 1):
            row_cells = self.cells.get(index, {})
            width = max(row_cells, default=-1) + 1
            cells = tuple(
                row_cells.get(column) or Cell(self._cell_place(index, column), None) for column in range(width)
            )
            rows.append(GridRow(sheet_place(self.name, str(index + 1)), cells, index in self.hidden_rows))
        return InputSheet(self.name, tuple(rows), self.style in hidden_styles, tuple(self._hidden_column_notes()))

    def _fill_merged_cells(self) -> None:
        """Gives a text that spans merged cells to all of them; a number stays where it is, or it would count twice."""
        for row, column, height, width in self.spans:
            cell = self.cells.get(row, {}).get(column)
            if cell is None or not isinstance(cell.value, str):
                continue
            for down in range(row, row + height):
                for right in range(column, column + width):
                    row_cells = self.cells.setdefault(down, {})
                    row_cells.setdefault(right, Cell(self._cell_place(down, right), cell.value))

    def _hidden_column_notes(self) -> Iterator[str]:
        """A note for each hidden column with something in it: it is read, since the columns beside it may need it."""
        used = {column for held in self.cells.values() for column in held}
        for column in sorted(used):
            if any(first <= column <= last for first, last in self.hidden_columns):
                yield f"column {column_letters(column)} of {self.name} is hidden; it was read"

    def _cell_place(self, row: int, column: int) -> str:
        return sheet_place(self.name, f"{column_letters(column)}{row + 1}")


class _OdsContentScanner:
    """One pass over content.xml. Expat calls it for every element; it keeps cells and what is hidden."""

    def __init__(self) -> None:
        self.tables: list[_OdsTable] = []
        self.hidden_styles: set[str] = set()
        self._style = ""
        self._row: dict[int, Cell] = {}
        self._row_attributes: dict[str, str] = {}
        self._column = 0
        self._cell: dict[str, str] | None = None
        self._lines: list[str] = []
        self._in_text = self._aside = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        plain = {key.rpartition(":")[2]: value for key, value in attributes.items()}
        if name == "annotation":
            self._aside += 1
        elif name == "style":
            self._style = plain.get("name", "")
        elif name == "table-properties" and plain.get("display") == "false":
            self.hidden_styles.add(self._style)
        elif name == "table":
            self.tables.append(_OdsTable(plain.get("name", ""), plain.get("style-name", "")))
        elif not self.tables:
            return
        elif name == "table-column":
            self._start_column(plain)
        elif name == "table-row":
            self._row, self._row_attributes, self._column = {}, plain, 0
        elif name in ("table-cell", "covered-table-cell"):
            self._cell, self._lines = plain, []
        elif name == "p" and self._cell is not None and not self._aside:
            self._in_text += 1
            self._lines.append("")
        elif name in ("s", "tab", "line-break") and self._in_text:
            self._lines[-1] += " "

    def end(self, tag: str) -> None:
        name = tag.rpartition(":")[2]
        if name == "annotation":
            self._aside -= 1
        elif name == "p" and self._in_text:
            self._in_text -= 1
        elif name in ("table-cell", "covered-table-cell") and self._cell is not None:
            self._end_cell(self._cell)
            self._cell = None
        elif name == "table-row" and self.tables:
            self._end_row()

    def text(self, text: str) -> None:
        if self._in_text and not self._aside:
            self._lines[-1] += text

    def _start_column(self, attributes: dict[str, str]) -> None:
        table, repeated = self.tables[-1], _repeat_count(attributes, "number-columns-repeated")
        if attributes.get("visibility") in HIDDEN_STATES:
            table.hidden_columns.append((table.next_column_style, table.next_column_style + repeated - 1))
        table.next_column_style += repeated

    def _end_cell(self, attributes: dict[str, str]) -> None:
        table, repeated = self.tables[-1], _repeat_count(attributes, "number-columns-repeated")
        value, number_format, fault = _parse_content(attributes, "\n".join(self._lines))
        if value is not None or fault:
            check_size_limits(table.next_row + 1, self._column + repeated)
            for column in range(self._column, self._column + repeated):
                place = sheet_place(table.name, f"{column_letters(column)}{table.next_row + 1}")
                self._row[column] = Cell(place, value, number_format, fault)
            height = _repeat_count(attributes, "number-rows-spanned")
            width = _repeat_count(attributes, "number-columns-spanned")
            if (height, width) != (1, 1):
                check_size_limits(table.next_row + height, self._column + width)
                table.spans.append((table.next_row, self._column, height, width))
        self._column += repeated

    def _end_row(self) -> None:
        table, repeated = self.tables[-1], _repeat_count(self._row_attributes, "number-rows-repeated")
        if self._row:
            check_size_limits(table.next_row + repeated, max(self._row) + 1)
            for row in range(table.next_row, table.next_row + repeated):
                table.cells[row] = {
                    column: Cell(
                        sheet_place(table.name, f"{column_letters(column)}{row + 1}"),
                        cell.value,
                        cell.number_format,
                        cell.fault,
                    )
                    for column, cell in self._row.items()
                }
                if self._row_attributes.get("visibility") in HIDDEN_STATES:
                    table.hidden_rows.add(row)
        table.next_row += repeated
        self._row = {}


def _repeat_count(attributes: dict[str, str], name: str) -> int:
    text = attributes.get(name, "1")
    return max(int(text), 1) if text.isascii() and text.isdigit() and len(text) < 20 else 1


def _parse_content(attributes: dict[str, str], text: str) -> tuple[CellValue, str, str]:
    """The value, its number format and what is wrong with it."""
    kind = attributes.get("value-type", "")
    if attributes.get("formula") and (not kind or _ERROR.fullmatch(text.strip())):
        return None, "", text.strip() or "a formula without a stored value"
    if kind in ("float", "percentage", "currency"):
        return _parse_number(attributes, kind)
    if kind == "date":
        return _parse_date(attributes.get("date-value", "")) or text, "", ""
    if kind == "boolean":
        return attributes.get("boolean-value") == "true", "", ""
    return text or None, "", ""


def _parse_number(attributes: dict[str, str], kind: str) -> tuple[CellValue, str, str]:
    try:
        number = float(attributes.get("value", ""))
    except ValueError:
        return None, "", "a number that cannot be read"
    currency = attributes.get("currency", "")
    return number, "0%" if kind == "percentage" else f"[${currency}]0" if currency else "", ""


def _parse_date(text: str) -> date | None:
    try:
        return datetime.fromisoformat(text) if "T" in text else date.fromisoformat(text)
    except ValueError:
        return None
