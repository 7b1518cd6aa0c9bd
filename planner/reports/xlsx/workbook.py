"""A narrow interface to the workbook writer: styles by name, texts always as strings, formulas always with their value.

Knows no plan. Rows and columns count from 0 here, as in the writer; `a1` makes addresses.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time
from functools import lru_cache
from itertools import accumulate

import xlsxwriter
from xlsxwriter.chart import Chart
from xlsxwriter.utility import xl_rowcol_to_cell
from xlsxwriter.workbook import Format, Workbook
from xlsxwriter.worksheet import Worksheet

from planner.reports.xlsx.cell_styles import STYLES
from planner.reports.xlsx.print_layout import fit_pages
from pricing.frozen_values import dataclass
from pricing.plain_text import plain_text

Axis = Mapping[str, object]
Series = Mapping[str, object]

HEADER_ROW = 3
"""Every sheet has its title in row 1, a note in row 2 and its column heads in row 4."""
MONTHS_ROW = HEADER_ROW + 1
"""The row with the numbers of the months, on sheets with a column for each."""
TEXT_MAX = 32_000
"""A cell holds 32,767 characters; the writer drops a longer text silently, so it is cut here, with a mark."""

NOTE_CHARACTERS = 190.0
"""How far a note may reach to the right."""
LINE_POINTS = 16.0
LINE_PIXELS = 21
CHART_ROWS = 20
LINES_MAX = 27
"""A row can be 409 points high."""

UNLIMITED = 1e15
LARGE, DECIMALS = 1e4, {"money": 2, "total": 2, "figure": 1, "input": 1}
"""Amounts from this on may be wider than their column; decimals of their styles."""
GRID = {"visible": True, "line": {"color": "#D9D9D9"}}
AMOUNTS: Axis = {"num_format": "#,##0", "major_gridlines": GRID}


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula made of our own addresses and names, and the value it has."""

    text: str
    value: float | str


@dataclass(frozen=True, slots=True)
class MonthlyRow:
    """A row of formulas with a column for each month, and the amount of each."""

    row: int
    amounts: tuple[float, ...]


Cell = str | float | date | Formula | None
Column = tuple[str, float, str]
"""Of a list: the head, the width in characters, the style of the cells."""


class _Worksheet(Worksheet):  # type: ignore[misc]  # the writer has no types
    """The writer's sheet, for formulas of functions that are as old as the format: it would look into each formula for
    thirty newer ones, which takes as long as all else."""

    def _prepare_formula(self, formula: str, expand_future_functions: bool = False) -> str:
        return super()._prepare_formula(formula, True) if expand_future_functions else formula.removeprefix("=")


class PlanWorkbook:
    """A workbook in memory. Its creation date is the plan's, so that the same plan gives the same bytes."""

    def __init__(self, as_of: date) -> None:
        self._buffer = io.BytesIO()
        options = {
            "in_memory": True,
            "strings_to_formulas": False,
            "strings_to_urls": False,
            "strings_to_numbers": False,
        }
        self._book: Workbook = xlsxwriter.Workbook(self._buffer, options)
        self._book.set_properties({"title": "GPU capacity plan", "created": datetime.combine(as_of, time())})
        self._names: set[str] = set()
        self._sheets: list[WorkbookSheet] = []
        self.styles: dict[str, Format] = {name: self._book.add_format(style) for name, style in STYLES.items()}

    def sheet(self, name: str) -> WorkbookSheet:
        """A new sheet, set up for print; `to_bytes` puts the sheets in order."""
        sheet = WorkbookSheet(self, self._book.add_worksheet(name, _Worksheet), name)
        self._sheets.append(sheet)
        return sheet

    @property
    def sheet_names(self) -> list[str]:
        """The sheets that there are."""
        return [sheet.name for sheet in self._sheets]

    def name(self, name: str, sheet: str, row: int, column: int) -> bool:
        """Gives a cell a name for formulas, unless it is in use or could be read as an address; whether it did."""
        is_name = re.fullmatch(r"[a-z_][a-z0-9_]+", name) and not re.fullmatch(r"[a-z]{1,3}\d+|r\d*c\d*", name)
        if not is_name or name in self._names:
            return False
        self._names.add(name)
        self._book.define_name(name, f"='{sheet}'!{xl_rowcol_to_cell(row, column, True, True)}")
        return True

    def line_chart(self, title: str, axis: str, series: Iterable[Series]) -> Chart:
        """A line chart to be put on a sheet with `WorkbookSheet.chart`."""
        across = {"num_font": {"rotation": -45}}
        return self._chart({"type": "line"}, title, (across, {"name": axis, **AMOUNTS}), series, (640, 400))

    def bar_chart(self, title: str, axis: str, series: Iterable[Series], bars: int) -> Chart:
        """Horizontal bars, the first on top; their names are at the edge so that no bar covers them."""
        names = {"reverse": True, "label_position": "low", "crossing": "max"}
        size = (1400, (bar_chart_rows(bars) - 1) * LINE_PIXELS)
        return self._chart({"type": "bar"}, title, ({"name": axis, **AMOUNTS}, names), series, size)

    def scatter_chart(self, title: str, across: Axis, upward: Axis, series: Iterable[Series]) -> Chart:
        """Lines to scale on both axes; half a page wide."""
        axes = ({**across, "min": 0}, {**upward, "min": 0, "major_gridlines": GRID})
        return self._chart({"type": "scatter", "subtype": "straight"}, title, axes, series, (670, 400))

    def _chart(
        self, kind: Axis, title: str, axes: tuple[Axis, Axis], series: Iterable[Series], size: tuple[int, int]
    ) -> Chart:
        """A chart of `size` pixels; `axes` are the horizontal and the vertical one, those of bars the other way."""
        chart = self._book.add_chart(kind)
        for one in series:
            chart.add_series(one)
        chart.set_title({"name": title, "name_font": {"size": 12}})
        chart.set_x_axis(axes[0])
        chart.set_y_axis(axes[1])
        chart.set_legend({"position": "bottom"})
        chart.set_size(dict(zip(("width", "height"), size, strict=True)))
        return chart

    def to_bytes(self, order: Sequence[str] = ()) -> bytes:
        """The finished file, with the sheets of `order` first, in that order."""
        for sheet in self._sheets:
            sheet.fit_to_pages()
        place = {name: number for number, name in enumerate(order)}
        self._book.worksheets_objs.sort(key=lambda sheet: place.get(sheet.get_name(), len(place)))
        for index, sheet in enumerate(self._book.worksheets_objs):
            sheet.index = index  # the writer gave them as they were made; print areas refer to it
        self._book.close()
        return self._buffer.getvalue()


class WorkbookSheet:
    """One sheet: written cell by cell through `put`, which alone decides how a value is stored."""

    def __init__(self, book: PlanWorkbook, sheet: Worksheet, name: str) -> None:
        self.book, self.name = book, name
        self._sheet = sheet
        self._widths: Sequence[float] = ()
        self._lines: dict[int, int] = {}
        self._large: dict[int, float] = {}
        self._last = 0
        self._repeated = (0, 0)
        self._pages: tuple[int, int] | None = None
        sheet.set_landscape()
        sheet.set_paper(9)  # A4
        sheet.set_margins(left=0.4, right=0.4, top=0.7, bottom=0.6)
        sheet.set_header("&LGPU capacity plan&R&A")
        sheet.set_footer("&L&F&CPage &P of &N&R&A")
        sheet.hide_gridlines(2)
        sheet.set_default_row(LINE_POINTS)

    def pages(self, across: int, down: int) -> None:
        """How many pages the sheet takes in print; without it as many as are needed for readable text."""
        self._pages = across, down

    def fit_to_pages(self) -> None:
        """Makes columns as wide as their large amounts and sets how many pages it takes, once all is written."""
        wider = [max(width, self._large.get(column, 0.0)) for column, width in enumerate(self._widths)]
        if wider != [*self._widths]:
            self.widths(wider)
        rows, columns = self._repeated
        head = sum(self._row_points(row) for row in range(HEADER_ROW, rows))
        height = sum(self._row_points(row) for row in range(self._last + 1))
        self._sheet.fit_to_pages(*(self._pages or fit_pages(self._widths, columns, height, head)))

    def _row_points(self, row: int) -> float:
        return LINE_POINTS * self._lines.get(row, 1)

    def widths(self, widths: Sequence[float]) -> None:
        """Column widths in characters, from the first column on; to be set before texts that wrap are put."""
        self._widths = widths
        for column, width in enumerate(widths):
            self._sheet.set_column(column, column, width)

    def heading(self, title: str, note: str = "") -> None:
        """The sheet's title and a note under it, on as many lines as the columns leave it."""
        self.put(0, 0, title, "title")
        columns = sum(width <= NOTE_CHARACTERS for width in accumulate(self._widths))
        if len(note) < sum(self._widths[:columns]):
            self.put(1, 0, note, "note")
        else:
            self.put_across(1, columns, note, "long_note")

    def header(self, titles: Sequence[str], row: int = HEADER_ROW, *, first: int = 0, stays: bool = True) -> None:
        """Column heads from the column `first` on; those in the header row stay in sight and repeat on every page
        (`stays`)."""
        for column, title in enumerate(titles, start=first):
            self.put(row, column, title, "header")
        if row == HEADER_ROW and stays:
            self.freeze(row + 1)

    def freeze(self, row: int, column: int = 0) -> None:
        """Freezes the rows above `row` and the columns left of `column`, and repeats them on every page."""
        self._sheet.freeze_panes(row, column)
        self._repeated = row, column
        if row > HEADER_ROW:
            self._sheet.repeat_rows(HEADER_ROW, row - 1)
        if column:
            self._sheet.repeat_columns(0, column - 1)

    def repeat(self, row: int) -> None:
        """Repeats one row on every page after its own: the heads of a table that does not begin the sheet."""
        self._sheet.repeat_rows(row)

    def put(self, row: int, column: int, value: Cell, style: str = "text") -> None:
        """One value: text always as text, a formula with its value, blank for None."""
        chosen = self.book.styles[style]
        self._last = max(self._last, row)
        amount = value.value if isinstance(value, Formula) else value
        if isinstance(amount, int | float) and abs(amount) >= LARGE:
            self._large[column] = max(self._large.get(column, 0.0), fitting_width((amount,), DECIMALS.get(style, 0)))
        if isinstance(value, str) and "text_wrap" in STYLES[style]:
            self._make_room(row, value, self._widths[column])
        if isinstance(value, Formula):
            self._sheet.write_formula(row, column, value.text, chosen, value.value)
        elif isinstance(value, str):
            self._sheet.write_string(row, column, cell_text(value), chosen)
        elif isinstance(value, date):
            self._sheet.write_datetime(row, column, value, chosen)
        elif value is None:
            self._sheet.write_blank(row, column, None, chosen)
        else:
            self._sheet.write_number(row, column, value, chosen)

    def put_row(self, row: int, cells: Sequence[Cell], styles: Sequence[str], first: int = 0) -> None:
        """Values from the column `first` on, each in its style."""
        for column, (cell, style) in enumerate(zip(cells, styles, strict=True), start=first):
            self.put(row, column, cell, style)

    def put_across(self, row: int, columns: int, text: str | Formula, style: str, first: int = 0) -> None:
        """A text, or a formula of one, over several columns, from the first on."""
        chosen = self.book.styles[style]
        if columns - first > 1:
            self._sheet.merge_range(row, first, row, columns - 1, "", chosen)
        if isinstance(text, Formula):
            self._sheet.write_formula(row, first, text.text, chosen, text.value)
        else:
            self._sheet.write_string(row, first, cell_text(text), chosen)
        words = str(text.value) if isinstance(text, Formula) else text
        self._make_room(row, words, sum(self._widths[first:columns]))
        self._last = max(self._last, row)

    def _make_room(self, row: int, text: str, width: float) -> None:
        """Makes the row high enough: not every program does so by itself for a text that wraps."""
        # letters are 15 % wider than the average digit that widths count in
        lines = min(math.ceil(1.15 * len(cell_text(text)) / width), LINES_MAX)
        if lines > self._lines.get(row, 1):
            self._lines[row] = lines
            self._sheet.set_row(row, LINE_POINTS * lines)

    def list(self, title: str, note: str, columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> int:
        """A sheet that is one list, with a filter; the row after its last."""
        self.widths([width for _, width, _ in columns])
        self.heading(title, note)
        self.header([head for head, _, _ in columns])
        row, styles = HEADER_ROW + 1, [style for _, _, style in columns]
        for cells in rows:
            self.put_row(row, cells, styles)
            row += 1
        if row > HEADER_ROW + 1:
            self._sheet.autofilter(HEADER_ROW, 0, row - 1, len(columns) - 1)
        return row

    def timeline(
        self, heads: Sequence[str], months: Sequence[str], frozen: int | None = None, first_month: int = 1
    ) -> None:
        """Column heads with a column for each month after them, and the months' numbers from `first_month` on in
        MONTHS_ROW, which formulas read; the first columns (`frozen`, else all heads) stay in sight."""
        self.header((*heads, *months))
        self.put(MONTHS_ROW, 0, "month")
        for number, column in enumerate(range(len(heads), len(heads) + len(months)), start=first_month):
            self.put(MONTHS_ROW, column, number, "count")
        self.freeze(MONTHS_ROW + 1, len(heads) if frozen is None else frozen)

    def put_formulas(self, row: int, label: str, first: int, formulas: Iterable[Formula], style: str = "money") -> None:
        """A label and a formula in each column from `first` on."""
        self.put(row, 0, label, "total_text" if style == "total" else "text")
        for column, formula in enumerate(formulas, start=first):
            self.put(row, column, formula, style)

    def put_series(
        self,
        row: int,
        label: str,
        first: int,
        formulas: Iterable[Formula],
        style: str = "money",
        digits: int | None = None,
    ) -> MonthlyRow:
        """A label, a formula in each column from `first` on, and in the column before it their sum, rounded to
        `digits`."""
        cells = [*formulas]
        self.put_formulas(row, label, first, cells, style)
        amounts = tuple(cell.value for cell in cells if not isinstance(cell.value, str))
        text, total = f"SUM({row_range(row, first, first + len(cells) - 1)})", sum(amounts)
        if digits is not None:
            text, total = f"ROUND({text},{digits})", round(total, digits) + 0.0
        self.put(row, first - 1, Formula(f"={text}", total), style)
        return MonthlyRow(row, amounts)

    def put_running_sums(self, row: int, label: str, source: int, first: int, values: Iterable[float]) -> None:
        """The running sums of `values`, which are the row `source` from the column `first` on."""
        sums = enumerate(accumulate(values), start=first)
        # the range can be copied along the row: $D5:F5
        begin = a1(source, first, fixed_column=True)
        formulas = (Formula(f"=SUM({begin}:{a1(source, column)})", total) for column, total in sums)
        self.put_formulas(row, label, first, formulas)

    def put_block_title(self, row: int, title: str, columns: int) -> None:
        """A title over the rows that follow, shaded across the columns."""
        for column in range(columns):
            self.put(row, column, title if column == 0 else None, "block")

    def chart(self, row: int, chart: object, column: int = 0) -> int:
        """Puts a chart with its upper left corner into a cell; the first row below one of the usual height."""
        self._sheet.insert_chart(row, column, chart)
        self._last = max(self._last, row + CHART_ROWS - 1)
        return row + CHART_ROWS

    def print_area(self, row: int, column: int) -> None:
        """Prints everything from the first cell to this one."""
        self._sheet.print_area(0, 0, row, column)

    def mark(self, row: int, column: int, last: int, rules: Mapping[str, str]) -> None:
        """Colours the cells of a column from `row` to `last`: by style, the condition for the first cell.
        Formulas see this sheet alone: older programs colour by no other."""
        for style, formula in rules.items():
            rule = {"type": "formula", "criteria": f"={formula}", "format": self.book.styles[style]}
            self._sheet.conditional_format(row, column, last, column, rule)

    def address(self, row: int, column: int) -> str:
        """The cell as other sheets name it: 'Cash flow'!$C$5."""
        return f"'{self.name}'!{xl_rowcol_to_cell(row, column, True, True)}"

    def cell(self, row: int, column: int) -> str:
        """The cell as other sheets name it in a row of formulas: 'Cash flow'!C$5."""
        return f"'{self.name}'!{a1(row, column, fixed_row=True)}"

    def restrict_to_words(self, row: int, column: int, words: Sequence[str]) -> None:
        """Restricts a cell to one of these words."""
        error = {"error_title": "Not one of these", "error_message": f"One of: {', '.join(words)}."}
        validation = {"validate": "list", "source": list(words), "ignore_blank": False, **error}
        self._sheet.data_validation(row, column, row, column, validation)

    def numbers(self, area: tuple[int, int, int, int], least: float | None = 0.0, most: float | None = None) -> None:
        """Restricts cells to numbers within the bounds; `area` is first row and column, last row and column."""
        least = -UNLIMITED if least is None else least
        if most is None:
            rule = {"criteria": ">=", "value": least}
            expectation = "A number" + f" of {least:g} or more" * (least > -UNLIMITED)
        else:
            rule = {"criteria": "between", "minimum": least, "maximum": most}
            expectation = f"A number from {least:g} to {most:g}"
        error = {"error_title": "Not accepted", "error_message": f"{expectation} is expected here."}
        self._sheet.data_validation(*area, {"validate": "decimal", "ignore_blank": False, **rule, **error})

    def range(self, row: int, first: int, last: int) -> str:
        """A range in one row as other sheets name it."""
        return f"{self.address(row, first)}:{xl_rowcol_to_cell(row, last, True, True)}"

    def column(self, column: int, first: int, last: int) -> str:
        """A range in one column as other sheets name it."""
        return f"{self.address(first, column)}:{xl_rowcol_to_cell(last, column, True, True)}"


def difference_formula(left: str, right: str, value: float, digits: int = 2) -> Formula:
    """The difference of two amounts, to a cent: the rounding errors of sums become zero, and no red zero."""
    return Formula(f"=ROUND({left}-{right},{digits})", round(value, digits) + 0.0)


def bar_chart_rows(bars: int) -> int:
    """The rows that a chart of so many bars takes."""
    return 8 + math.ceil(1.3 * bars)


def fitting_width(amounts: Iterable[float], decimals: int = 2) -> float:
    """The column width in which all amounts can be read: their longest form, brackets and a margin."""
    return max([12.0, *(len(f"{amount:,.{decimals}f}") + 3.0 for amount in amounts)])


def a1(row: int, column: int, fixed_row: bool = False, fixed_column: bool = False) -> str:
    """The cell as its own sheet names it: C5; C$5 and $C5 where it must not move."""
    return str(xl_rowcol_to_cell(row, column, fixed_row, fixed_column))


def row_range(row: int, first: int, last: int, fixed_row: bool = False) -> str:
    """A range in one row: D5:O5; D$5:O$5 for other rows' formulas."""
    return f"{a1(row, first, fixed_row)}:{a1(row, last, fixed_row)}"


def column_range(column: int, first: int, last: int) -> str:
    """A range in one column: D5:D9."""
    return f"{a1(first, column)}:{a1(last, column)}"


@lru_cache(maxsize=4096)  # the same names and words are in row after row
def cell_text(text: str) -> str:
    """The text as it is stored in its cell."""
    text = plain_text(text)
    if len(text) > TEXT_MAX:
        text = f"{text[:TEXT_MAX]} ... (cut here)"
    # The writer takes a text between these two marks for its own markup and stores it as such.
    return f"{text} " if text.startswith("<r>") and text.endswith("</r>") else text
