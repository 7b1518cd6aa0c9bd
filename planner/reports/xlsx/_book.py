"""The workbook writer held on a short lead: styles by name, texts always as strings, formulas always with their value.

Knows nothing of plans. Rows and columns count from 0 here, as in the writer; addresses (A1) are made by `at`.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import lru_cache

import xlsxwriter
from xlsxwriter.utility import xl_rowcol_to_cell
from xlsxwriter.workbook import Format, Workbook
from xlsxwriter.worksheet import Worksheet

from planner.reports._shared.clean import plain

HEADER_ROW = 3
"""Every sheet has its title in row 1, a note in row 2 and its column heads in row 4."""
TEXT_MAX = 32_000
"""A cell holds 32,767 characters; the writer drops a longer text without a word, so it is cut here, and says so."""

PAGE_CHARACTERS = 190.0
LINE_POINTS = 16.0
LINE_PIXELS = 21
LINES_MAX = 27
"""A row can be 409 points high."""

GRID = {"visible": True, "line": {"color": "#D9D9D9"}}
_MONEY = '#,##0.00_);[Red](#,##0.00);"-"_)'
_INPUT: dict[str, object] = {
    "font_color": "#0000FF",
    "bg_color": "#FFF9E5",
    "num_format": "#,##0.######",
    "border": 4,
    "border_color": "#BFBFBF",
}
_TOP: dict[str, object] = {"valign": "vcenter"}
_STYLES: dict[str, dict[str, object]] = {
    "title": {"bold": True, "font_size": 14},
    "note": {"italic": True, "font_color": "#595959"},
    "lead": {"bold": True, "font_size": 12, "text_wrap": True, "valign": "top"},
    "header": {
        "bold": True,
        "bg_color": "#1F3864",
        "font_color": "#FFFFFF",
        "text_wrap": True,
        "valign": "vcenter",
        "align": "center",
        "border": 1,
    },
    "block": {"bold": True, "align": "left", "indent": 1, "bg_color": "#D9E2F3"},
    "text": _TOP | {"align": "left", "indent": 1},
    "wrap": _TOP | {"align": "left", "indent": 1, "text_wrap": True},
    "input": _TOP | _INPUT,
    "choice": _TOP | _INPUT | {"num_format": "@", "bold": True},
    "date": _TOP | {"num_format": "yyyy-mm-dd", "align": "left", "indent": 1},
    "money": _TOP | {"num_format": _MONEY},
    "total": _TOP | {"num_format": _MONEY, "bold": True, "top": 1},
    "total_text": _TOP | {"bold": True, "top": 1, "align": "left", "indent": 1},
    "count": _TOP | {"num_format": '#,##0_);[Red](#,##0);"-"_)'},
    "figure": _TOP | {"num_format": '#,##0.0###_);[Red](#,##0.0###);"-"_)'},
    "flag": _TOP | {"num_format": "0", "align": "center"},
    "rate": _TOP | {"num_format": "0.000000"},
    "percent": _TOP | {"num_format": '0.0%_);[Red](0.0%);"-"_)'},
    "percent_fine": _TOP | {"num_format": '0.0000%_);[Red](0.0000%);"-"_)'},
    "right": _TOP | {"align": "right", "text_wrap": True, "indent": 1},
    "good": {"bold": True, "font_color": "#006100", "bg_color": "#C6EFCE"},
    "bad": {"bold": True, "font_color": "#9C0006", "bg_color": "#FFC7CE"},
}


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula made of our own addresses and names, and the value it has."""

    text: str
    value: float | str


Cell = str | float | date | Formula | None


class _Worksheet(Worksheet):  # type: ignore[misc]  # the writer is seen without its types
    """The writer's sheet, for formulas of functions that are as old as the format: it would look into each formula for
    thirty newer ones, which takes as long as all else."""

    def _prepare_formula(self, formula: str, expand_future_functions: bool = False) -> str:
        return super()._prepare_formula(formula, True) if expand_future_functions else formula.removeprefix("=")


class Book:
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
        self.styles: dict[str, Format] = {name: self._book.add_format(style) for name, style in _STYLES.items()}

    def sheet(self, name: str) -> Sheet:
        """A new sheet after the others, set up for print."""
        return Sheet(self, self._book.add_worksheet(name, _Worksheet), name)

    def name(self, name: str, sheet: str, row: int, column: int) -> bool:
        """Gives a cell a name for formulas, unless the name is taken or could be read as an address; whether it did."""
        is_name = re.fullmatch(r"[a-z_][a-z0-9_]+", name) and not re.fullmatch(r"[a-z]{1,3}\d+|r\d*c\d*", name)
        if not is_name or name in self._names:
            return False
        self._names.add(name)
        self._book.define_name(name, f"='{sheet}'!{xl_rowcol_to_cell(row, column, True, True)}")
        return True

    def line_chart(self, title: str, axis: str, series: Iterable[dict[str, object]]) -> object:
        """A line chart to be put on a sheet with `Sheet.chart`."""
        chart = self._book.add_chart({"type": "line"})
        for one in series:
            chart.add_series(one)
        chart.set_title({"name": title, "name_font": {"size": 12}})
        chart.set_y_axis({"name": axis, "num_format": "#,##0", "major_gridlines": GRID})
        chart.set_x_axis({"num_font": {"rotation": -45}})
        chart.set_legend({"position": "bottom"})
        chart.set_size({"width": 1080, "height": 340})
        return chart

    def bar_chart(self, title: str, axis: str, series: Iterable[dict[str, object]], bars: int) -> object:
        """Bars that lie, the first on top; their names stand at the edge so that no bar covers them."""
        chart = self._book.add_chart({"type": "bar"})
        for one in series:
            chart.add_series(one)
        chart.set_title({"name": title, "name_font": {"size": 12}})
        chart.set_x_axis({"name": axis, "num_format": "#,##0", "major_gridlines": GRID})
        chart.set_y_axis({"reverse": True, "label_position": "low", "crossing": "max"})
        chart.set_legend({"position": "bottom"})
        chart.set_size({"width": 1400, "height": (bar_lines(bars) - 1) * LINE_PIXELS})
        return chart

    def scatter_chart(
        self,
        title: str,
        across: Mapping[str, object],
        beside: Mapping[str, object],
        series: Iterable[dict[str, object]],
    ) -> object:
        """Lines to scale on both axes; half a page wide."""
        chart = self._book.add_chart({"type": "scatter", "subtype": "straight"})
        for one in series:
            chart.add_series(one)
        chart.set_title({"name": title, "name_font": {"size": 12}})
        chart.set_x_axis({**across, "min": 0})
        chart.set_y_axis({**beside, "min": 0, "major_gridlines": GRID})
        chart.set_legend({"position": "bottom"})
        chart.set_size({"width": 670, "height": 400})
        return chart

    def to_bytes(self) -> bytes:
        """The finished file."""
        self._book.close()
        return self._buffer.getvalue()


class Sheet:
    """One sheet: written cell by cell through `put`, which alone decides how a value is stored."""

    def __init__(self, book: Book, sheet: Worksheet, name: str) -> None:
        self.book, self.name = book, name
        self._sheet = sheet
        self._widths: Sequence[float] = ()
        self._lines: dict[int, int] = {}
        sheet.set_landscape()
        sheet.set_paper(9)  # A4
        sheet.set_margins(left=0.4, right=0.4, top=0.7, bottom=0.6)
        sheet.set_header("&LGPU capacity plan&R&A")
        sheet.set_footer("&L&F&CPage &P of &N&R&A")
        sheet.hide_gridlines(2)
        sheet.set_default_row(LINE_POINTS)
        self.pages_wide(1)

    def pages_wide(self, pages: int, down: int = 0) -> None:
        """How many pages the sheet takes across, and down (0: as many as it needs)."""
        self._sheet.fit_to_pages(pages, down)

    def widths(self, widths: Sequence[float]) -> None:
        """Column widths in characters, from the first column on; to be set before texts that wrap are put."""
        self._widths = widths
        for column, width in enumerate(widths):
            self._sheet.set_column(column, column, width)

    def heading(self, title: str, note: str = "") -> None:
        """The sheet's title and a note under it."""
        self.put(0, 0, title, "title")
        self.put(1, 0, note, "note")

    def header(self, titles: Sequence[str], row: int = HEADER_ROW, *, stays: bool = True) -> None:
        """Column heads; those in the header row stay in sight and repeat on every page, unless told otherwise."""
        for column, title in enumerate(titles):
            self.put(row, column, title, "header")
        if row == HEADER_ROW and stays:
            self.freeze(row + 1)

    def freeze(self, row: int, column: int = 0) -> None:
        """Keeps what stands above `row` and left of `column` in sight and on every page."""
        self._sheet.freeze_panes(row, column)
        if row > HEADER_ROW:
            self._sheet.repeat_rows(HEADER_ROW, row - 1)
        if column:
            self._sheet.repeat_columns(0, column - 1)

    def put(self, row: int, column: int, value: Cell, style: str = "text") -> None:
        """One value: text as text whatever it looks like, a formula with its value, nothing for None."""
        chosen = self.book.styles[style]
        if isinstance(value, str) and "text_wrap" in _STYLES[style]:
            self._make_room(row, value, self._widths[column])
        if isinstance(value, Formula):
            self._sheet.write_formula(row, column, value.text, chosen, value.value)
        elif isinstance(value, str):
            self._sheet.write_string(row, column, _cell_text(value), chosen)
        elif isinstance(value, date):
            self._sheet.write_datetime(row, column, value, chosen)
        elif value is None:
            self._sheet.write_blank(row, column, None, chosen)
        else:
            self._sheet.write_number(row, column, value, chosen)

    def put_row(self, row: int, cells: Sequence[Cell], styles: Sequence[str]) -> None:
        """Values from the first column on, each in its style."""
        for column, (cell, style) in enumerate(zip(cells, styles, strict=True)):
            self.put(row, column, cell, style)

    def across(self, row: int, columns: int, text: str, style: str) -> None:
        """A text over several columns, from the first on."""
        self._sheet.merge_range(row, 0, row, columns - 1, "", self.book.styles[style])
        self._sheet.write_string(row, 0, _cell_text(text), self.book.styles[style])
        self._make_room(row, text, sum(self._widths[:columns]))

    def _make_room(self, row: int, text: str, width: float) -> None:
        """Makes the row high enough: not every program does so by itself for a text that wraps."""
        lines = min(math.ceil(1.15 * len(_cell_text(text)) / width), LINES_MAX)
        if lines > self._lines.get(row, 1):
            self._lines[row] = lines
            self._sheet.set_row(row, LINE_POINTS * lines)

    def table(self, titles: Sequence[str], styles: Sequence[str], rows: Iterable[Sequence[Cell]]) -> int:
        """A list under the header row, with a filter; the row after its last."""
        self.header(titles)
        row = HEADER_ROW + 1
        for cells in rows:
            self.put_row(row, cells, styles)
            row += 1
        if row > HEADER_ROW + 1:
            self._sheet.autofilter(HEADER_ROW, 0, row - 1, len(titles) - 1)
        return row

    def chart(self, row: int, chart: object, column: int = 0) -> int:
        """Puts a chart with its upper left corner into a cell; the first row below one of the usual height."""
        self._sheet.insert_chart(row, column, chart)
        return row + 18

    def print_area(self, row: int, column: int) -> None:
        """Prints everything from the first cell to this one."""
        self._sheet.print_area(0, 0, row, column)

    def mark(self, row: int, column: int, *, good_if_zero: str) -> None:
        """Green while the cell at the address is 0, else red."""
        for criterion, style in (("=", "good"), ("<>", "bad")):
            rule = {"type": "formula", "criteria": f"={good_if_zero}{criterion}0", "format": self.book.styles[style]}
            self._sheet.conditional_format(row, column, row, column, rule)

    def address(self, row: int, column: int) -> str:
        """The cell as other sheets name it: 'Cash flow'!$C$5."""
        return f"'{self.name}'!{xl_rowcol_to_cell(row, column, True, True)}"

    def cell(self, row: int, column: int) -> str:
        """The cell as other sheets name it in a row of formulas: 'Cash flow'!C$5."""
        return f"'{self.name}'!{at(row, column, fixed_row=True)}"

    def choose(self, row: int, column: int, words: Sequence[str]) -> None:
        """Lets nothing but one of these words be put into a cell."""
        self._sheet.data_validation(row, column, row, column, {"validate": "list", "source": list(words)})

    def range(self, row: int, first: int, last: int) -> str:
        """A range in one row as other sheets name it."""
        return f"{self.address(row, first)}:{xl_rowcol_to_cell(row, last, True, True)}"

    def column(self, column: int, first: int, last: int) -> str:
        """A range in one column as other sheets name it."""
        return f"{self.address(first, column)}:{xl_rowcol_to_cell(last, column, True, True)}"


def changed(now: str, planned: str) -> str:
    """How many cells of one range differ from those of another, but for what sums round off."""
    return f"SUMPRODUCT(1*(ABS({now}-{planned})>0.000001*ABS({planned})))"


def less(left: str, right: str, value: float) -> Formula:
    """The difference of two amounts, to a cent: what rounding leaves is nothing."""
    return Formula(f"=ROUND({left}-{right},2)", round(value, 2) + 0.0)


def bar_lines(bars: int) -> int:
    """The rows that a chart of so many bars takes."""
    return 8 + math.ceil(1.3 * bars)


def room_for(amounts: Iterable[float], decimals: int = 2) -> float:
    """The column width in which all amounts can be read: their longest form, brackets and a margin."""
    return max([12.0, *(len(f"{amount:,.{decimals}f}") + 3.0 for amount in amounts)])


def pages_for(columns: int, width: float) -> int:
    """How many pages across keep columns of this width readable in print."""
    return max(1, math.ceil(columns * width / PAGE_CHARACTERS))


def at(row: int, column: int, fixed_row: bool = False, fixed_column: bool = False) -> str:
    """The cell as its own sheet names it: C5; C$5 and $C5 where it must not move."""
    return str(xl_rowcol_to_cell(row, column, fixed_row, fixed_column))


def along(row: int, first: int, last: int) -> str:
    """A range in one row: D5:O5."""
    return f"{at(row, first)}:{at(row, last)}"


def down(column: int, first: int, last: int) -> str:
    """A range in one column: D5:D9."""
    return f"{at(first, column)}:{at(last, column)}"


@lru_cache(maxsize=4096)  # the same names and words stand in row after row
def _cell_text(text: str) -> str:
    text = plain(text)
    if len(text) > TEXT_MAX:
        text = f"{text[:TEXT_MAX]} ... (cut here)"
    # The writer takes a text between these two marks for its own markup and stores it as such.
    return f"{text} " if text.startswith("<r>") and text.endswith("</r>") else text
