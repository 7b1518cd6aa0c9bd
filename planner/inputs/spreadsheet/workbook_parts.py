"""The parts of a workbook other than its values: hidden rows, number formats, error cells and formulas, by sheet.

They are parsed with all limits of `zip_archive`, so that a workbook that passes is safe for a reader without limits.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from dataclasses import field

from planner.inputs.cell_grid import column_letters, parse_reference, sheet_place
from planner.inputs.spreadsheet.zip_archive import RejectedWorkbook, check_size_limits, open_archive, parse_part
from pricing.frozen_values import dataclass

_EXTERNAL_REFERENCE = re.compile(r"\[[^\[\]]{1,300}\][^\[\]!]{0,100}!")
"""A reference to a sheet of another workbook: such links exist without a part of their own."""
NO_VALUE = "a formula without a stored value"
_DATES = (*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59))
_TIMES = (18, 19, 20, 21, 46)
_BUILT_IN: dict[int, str] = {9: "0%", 10: "0.00%", **dict.fromkeys(_DATES, "d"), **dict.fromkeys(_TIMES, "h:mm")}
"""The built-in number formats that are a percentage or a date."""
_FORMAT_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\[(?![hms]+\])[^\]]*\]', re.IGNORECASE)
_DATE = re.compile(r"[dmyhs]", re.IGNORECASE)
"""Matches a number format of dates or times, once literal texts are removed."""
DAYS_MAX = 3e6
"""Beyond the year 9999, the last one of spreadsheets."""


@dataclass(slots=True)
class SheetMarks:
    """Attributes of one sheet's cells, by reference ("C5"); rows and columns count from 1.

    `huge` are the styles of cells whose number is beyond any date: shown as a date, it crashes the reader of values.
    """

    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: list[tuple[int, int]] = field(default_factory=list)
    faults: dict[str, str] = field(default_factory=dict)
    formulas: dict[str, str] = field(default_factory=dict)
    styles: dict[str, int] = field(default_factory=dict)
    huge: dict[str, int] = field(default_factory=dict)
    rows: int = 0
    columns: int = 0


@dataclass(frozen=True, slots=True)
class WorkbookParts:
    """All sheets by name in the workbook's order, with their marks; `formats` are number formats by style."""

    sheets: dict[str, SheetMarks]
    formats: tuple[str, ...]
    has_macros: bool
    has_links: bool


def examine_workbook(data: bytes) -> WorkbookParts:
    """The marks of every sheet. Raises RejectedWorkbook for one that must not be opened."""
    with open_archive(data) as archive:
        names = archive.namelist()
        if "xl/workbook.xml" not in names:
            raise RejectedWorkbook("a ZIP archive that is not an Excel workbook")
        scans = {name: _scan_part(archive, name) for name in names if name.endswith((".xml", ".rels"))}
    book = scans["xl/workbook.xml"]
    targets = scans["xl/_rels/workbook.xml.rels"].targets if "xl/_rels/workbook.xml.rels" in scans else {}
    sheets = {}
    for name, link in book.sheets:
        part = _part_path(targets.get(link, ""))
        if part not in scans:
            raise RejectedWorkbook(f"the part of the sheet {name[:40]!r} is missing")
        sheets[name] = scans[part].marks
    styles = scans.get("xl/styles.xml")
    formats = tuple(styles.formats()) if styles else ()
    for name, marks in sheets.items():
        for reference, style in marks.huge.items():
            if style < len(formats) and _DATE.search(_FORMAT_LITERAL.sub("", formats[style])):
                raise RejectedWorkbook(
                    f"{sheet_place(name, reference)} is formatted as a date, but its number is not one"
                )
    return WorkbookParts(
        sheets,
        formats,
        any(name.casefold().endswith("vbaproject.bin") for name in names),
        any(name.startswith("xl/externalLinks/") for name in names)
        or any(_EXTERNAL_REFERENCE.search(formula) for marks in sheets.values() for formula in marks.formulas.values()),
    )


def _part_path(target: str) -> str:
    """The part that a relationship of the workbook points to."""
    if target.startswith("/"):
        return target[1:]
    return target if target.startswith("xl/") else posixpath.normpath(posixpath.join("xl", target))


class _XlsxPartScanner:
    """Handlers of Expat for one pass over one part, for SheetMarks and WorkbookParts."""

    def __init__(self) -> None:
        self.marks = SheetMarks()
        self.sheets: list[tuple[str, str]] = []
        self.targets: dict[str, str] = {}
        self.custom: dict[int, str] = {}
        self.style_formats: list[int] = []
        self._in_cell_styles = False
        self._cell = self._value = ""
        self._style = -1
        self._error = self._formula = self._valued = self._text = self._in_value = False
        self._in_formula = False
        self._pieces: list[str] = []
        self._row = self._column = 0
        self._row_text = "0"
        self._names: dict[str, str] = {}
        self._handlers = {name: getattr(self, f"_start_{name}") for name in _HANDLED}

    def formats(self) -> list[str]:
        return [self.custom.get(number, _BUILT_IN.get(number, "")) for number in self.style_formats]

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        handler = self._handlers.get(tag) or self._handlers.get(tag.rpartition(":")[2])
        if handler:
            handler(attributes)

    def end(self, tag: str) -> None:
        name = self._names.get(tag) or self._names.setdefault(tag, tag.rpartition(":")[2])
        if name == "v":
            self._in_value = False
            self._valued = bool(self._value.strip())
            if self._style >= 0 and not self._text and _is_huge(self._value):
                self.marks.huge[self._cell] = self._style
        elif name == "c":
            if self._error:
                self.marks.faults[self._cell] = "an error value"
            elif self._formula:
                self.marks.formulas[self._cell] = "".join(self._pieces)
                if not self._valued and not self._text:
                    self.marks.faults[self._cell] = NO_VALUE
        elif name == "f":
            self._in_formula = False
        elif name == "cellXfs":
            self._in_cell_styles = False

    def text(self, text: str) -> None:
        if self._in_value:
            self._value += text
        elif self._in_formula:
            self._pieces.append(text)

    def _start_col(self, attributes: dict[str, str]) -> None:
        first, last = attributes.get("min", ""), attributes.get("max", "")
        if attributes.get("hidden") in ("1", "true") and first.isdigit() and last.isdigit():
            self.marks.hidden_columns.append((int(first), int(last)))

    def _start_row(self, attributes: dict[str, str]) -> None:
        self._row = int(attributes["r"]) if attributes.get("r", "").isdigit() else self._row + 1
        self._column, self._row_text = 0, str(self._row)
        if attributes.get("hidden") in ("1", "true"):
            self.marks.hidden_rows.add(self._row)
        self._within_limits()

    def _start_c(self, attributes: dict[str, str]) -> None:
        written, kind, style = attributes.get("r"), attributes.get("t"), attributes.get("s", "")
        following = column_letters(self._column) + self._row_text
        if written is None or written == following:
            self._column += 1
            self._cell = following
        elif position := parse_reference(written):
            self._column, self._row = position
            self._cell = f"{column_letters(self._column - 1)}{self._row}"
        else:
            raise RejectedWorkbook(f"a cell with an invalid reference ({written[:20]})")
        self._within_limits()
        self._error = kind == "e"
        self._text = kind in ("str", "s", "inlineStr")
        self._formula = self._valued = False
        self._style = -1
        if style.isdigit():
            self._style = self.marks.styles[self._cell] = int(style)

    def _start_f(self, _: dict[str, str]) -> None:
        self._formula = self._in_formula = True
        self._pieces = []

    def _start_v(self, _: dict[str, str]) -> None:
        self._in_value, self._value = True, ""

    def _start_sheet(self, attributes: dict[str, str]) -> None:
        link = next((value for key, value in attributes.items() if key.rpartition(":")[2] == "id"), "")
        self.sheets.append((attributes.get("name", ""), link))

    def _start_Relationship(self, attributes: dict[str, str]) -> None:  # noqa: N802  (the element's own name)
        self.targets[attributes.get("Id", "")] = attributes.get("Target", "")

    def _start_numFmt(self, attributes: dict[str, str]) -> None:  # noqa: N802  (the element's own name)
        if attributes.get("numFmtId", "").isdigit():
            self.custom[int(attributes["numFmtId"])] = attributes.get("formatCode", "")

    def _start_cellXfs(self, _: dict[str, str]) -> None:  # noqa: N802  (the element's own name)
        self._in_cell_styles = True

    def _start_xf(self, attributes: dict[str, str]) -> None:
        if self._in_cell_styles:
            number = attributes.get("numFmtId", "0")
            self.style_formats.append(int(number) if number.isdigit() else 0)

    def _within_limits(self) -> None:
        marks = self.marks
        if self._row > marks.rows or self._column > marks.columns:
            marks.rows, marks.columns = max(marks.rows, self._row), max(marks.columns, self._column)
            check_size_limits(marks.rows, marks.columns)


_HANDLED = frozenset({"row", "col", "c", "f", "v", "sheet", "Relationship", "numFmt", "cellXfs", "xf"})


def _is_huge(text: str) -> bool:
    """Whether a number is beyond any date. Short texts are never parsed, for speed."""
    if len(text) < 8 and "e" not in text.casefold():
        return False
    try:
        return not abs(float(text)) < DAYS_MAX
    except ValueError:
        return False


def _scan_part(archive: zipfile.ZipFile, name: str) -> _XlsxPartScanner:
    scan = _XlsxPartScanner()
    parse_part(archive, archive.getinfo(name), scan.start, scan.end, scan.text)
    return scan
