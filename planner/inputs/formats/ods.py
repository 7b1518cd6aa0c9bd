"""ODS: the stored values of every sheet, with number formats, error values and hidden parts.

Formulas and macros never run.
"""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass, field
from datetime import date, datetime

from planner.inputs.cell_grid import (
    Cell,
    CellValue,
    GridRow,
    InputSheet,
    column_letters,
    hidden_column_notes,
    sheet_place,
    spread_merged_texts,
)
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


def read(data: bytes, name: str, options: SheetOptions = NO_SHEET_OPTIONS) -> ParsedFile:
    """The workloads of all visible sheets; places are cells ("Plan!C5")."""
    from planner.inputs.spreadsheet.sheet_reader import read_sheets

    if not claims(data):
        kind = binary_kind(data) or "text (if it is CSV, its name must end in .csv)"
        return reject_file(data, name, "ods", f"not an OpenDocument file, but {kind}", expected=EXPECTED)
    try:
        scan, notes = _scan_content(data)
        sheets = tuple(table.sheet(scan.hidden_styles) for table in scan.tables)
    except RejectedWorkbook as error:
        return reject_file(data, name, "ods", f"not opened: {error}", expected=EXPECTED)
    return read_sheets(data, name, "ods", sheets, notes, options)


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
        raise RejectedWorkbook("an OpenDocument file that is not a spreadsheet")
    return scan, ["the document has macros; they were not run"] if has_macros else []


@dataclass(slots=True)
class _OdsTable:
    """One sheet while it is scanned. Rows and columns count from 0; `spans` are (row, column, height, width)."""

    name: str
    style: str
    cells: dict[int, dict[int, Cell]] = field(default_factory=dict)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: list[tuple[int, int]] = field(default_factory=list)
    spans: list[tuple[int, int, int, int]] = field(default_factory=list)
    next_row: int = 0
    next_column_style: int = 0

    def sheet(self, hidden_styles: set[str]) -> InputSheet:
        height = max([*self.cells, *(row + height - 1 for row, _, height, _ in self.spans)], default=-1) + 1
        right_ends = (column + width - 1 for _, column, _, width in self.spans)
        width = max([*(max(cells) for cells in self.cells.values()), *right_ends], default=-1) + 1
        rows = []
        for index in range(height):
            row_cells = self.cells.get(index, {})
            cells = tuple(row_cells.get(at) or Cell(self.cell_place(index, at), None) for at in range(width))
            rows.append(GridRow(sheet_place(self.name, str(index + 1)), cells, index in self.hidden_rows))
        spans = ((row, column, row + height - 1, column + width - 1) for row, column, height, width in self.spans)
        spread_merged_texts(rows, spans)
        notes = tuple(hidden_column_notes(self.name, rows, self.hidden_columns))
        return InputSheet(self.name, tuple(rows), self.style in hidden_styles, notes)

    def cell_place(self, row: int, column: int) -> str:
        return sheet_place(self.name, f"{column_letters(column)}{row + 1}")


class _OdsContentScanner:
    """Handlers of Expat for one pass over content.xml: collects cells, merged ranges and hidden parts."""

    def __init__(self) -> None:
        self.tables: list[_OdsTable] = []
        self.hidden_styles: set[str] = set()
        self._style = ""
        self._row: dict[int, tuple[CellValue, str, str]] = {}
        self._row_attributes: dict[str, str] = {}
        self._column = 0
        self._cell: dict[str, str] | None = None
        self._lines: list[str] = []
        self._in_text = self._annotations = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        plain = {key.rpartition(":")[2]: value for key, value in attributes.items()}
        if name == "annotation":
            self._annotations += 1
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
        elif name == "p" and self._cell is not None and not self._annotations:
            self._in_text += 1
            self._lines.append("")
        elif name in ("s", "tab", "line-break") and self._in_text:
            self._lines[-1] += " "

    def end(self, tag: str) -> None:
        name = tag.rpartition(":")[2]
        if name == "annotation":
            self._annotations -= 1
        elif name == "p" and self._in_text:
            self._in_text -= 1
        elif name in ("table-cell", "covered-table-cell") and self._cell is not None:
            self._end_cell(self._cell)
            self._cell = None
        elif name == "table-row" and self.tables:
            self._end_row()

    def text(self, text: str) -> None:
        if self._in_text and not self._annotations:
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
            self._row |= dict.fromkeys(range(self._column, self._column + repeated), (value, number_format, fault))
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
                    column: Cell(table.cell_place(row, column), *content) for column, content in self._row.items()
                }
                if self._row_attributes.get("visibility") in HIDDEN_STATES:
                    table.hidden_rows.add(row)
        table.next_row += repeated
        self._row = {}


def _repeat_count(attributes: dict[str, str], name: str) -> int:
    text = attributes.get(name, "1")
    return max(int(text), 1) if text.isascii() and text.isdigit() and len(text) < 20 else 1


def _parse_content(attributes: dict[str, str], text: str) -> tuple[CellValue, str, str]:
    """The value, its number format and its error."""
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
        return None, "", "an invalid number"
    currency = attributes.get("currency", "")
    return number, "0%" if kind == "percentage" else f"[${currency}]0" if currency else "", ""


def _parse_date(text: str) -> date | None:
    try:
        return datetime.fromisoformat(text) if "T" in text else date.fromisoformat(text)
    except ValueError:
        return None
