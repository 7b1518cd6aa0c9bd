"""The workbook: formulas against stored values, sums by hand, hostile text, and what a review expects."""

import dataclasses
import io
import math
import re
import zipfile
from datetime import date

import openpyxl
import pytest
from python_calamine import CalamineWorkbook

from planner.reports.xlsx import render

QUOTE = "'"


class Sheets:
    """A workbook's formulas, computed here a second time from its numbers alone, with no stored value believed."""

    TOKEN = re.compile(
        r"(?P<text>\"[^\"]*\")|(?P<ref>(?:'[^']+'!)?\$?[A-Z]{1,3}\$?\d+(?::\$?[A-Z]{1,3}\$?\d+)?)"
        r"|(?P<function>[A-Z]+)(?=\()|(?P<name>[a-z_]+)|(?P<number>\d[\d.eE+-]*)|(?P<sign><>|[-+*/^(),=<>&])"
    )

    def __init__(self, data):
        self.book = openpyxl.load_workbook(io.BytesIO(data))
        self.names = {name: defined.attr_text for name, defined in self.book.defined_names.items()}
        self._values = {}

    def formulas(self):
        """Every formula cell as (sheet, address, text)."""
        for sheet in self.book:
            for row in sheet.iter_rows():
                for cell in row:
                    if cell.data_type == "f":
                        yield sheet.title, cell.coordinate, cell.value

    def value(self, sheet, address):
        key = sheet, address
        if key not in self._values:
            cell = self.book[sheet][address]
            self._values[key] = self._compute(sheet, cell.value) if cell.data_type == "f" else cell.value
        return self._values[key]

    def _compute(self, sheet, formula):
        code, end = [], 1
        while end < len(formula):
            found = self.TOKEN.match(formula, end)
            assert found, f"{formula} at {end}"
            code.append(self._python(sheet, found))
            end = found.end()
        return eval("".join(code), {"V": self._range, "F": FUNCTIONS})

    def _python(self, sheet, found):
        kind, text = found.lastgroup, found[0]
        if kind == "ref":
            return self._reference(sheet, text)
        if kind == "function":
            return f"F[{text!r}]"
        if kind == "name":
            return self._reference(sheet, self.names[text])
        return {"^": "**", "<>": "!=", "=": "=="}.get(text, text)

    def _reference(self, sheet, text):
        where, _, cells = text.rpartition("!")
        return f"V({(where.strip(QUOTE) or sheet)!r}, {cells.replace('$', '')!r})"

    def _range(self, sheet, cells):
        if ":" not in cells:
            return self.value(sheet, cells)
        return [self.value(sheet, cell.coordinate) for row in self.book[sheet][cells] for cell in row]


def _numbers(arguments):
    flat = [item for one in arguments for item in (one if isinstance(one, list) else [one])]
    return [item for item in flat if isinstance(item, int | float)]


FUNCTIONS = {
    "SUM": lambda *a: math.fsum(_numbers(a)),
    "MIN": lambda *a: min(_numbers(a)),
    "MAX": lambda *a: max(_numbers(a)),
    "COUNT": lambda *a: len(_numbers(a)),
    "COUNTA": lambda a: sum(item is not None for item in a),
    "ABS": abs,
    "ROUND": lambda value, digits: round(value, int(digits)) + 0.0,
    "IF": lambda condition, yes, no: yes if condition else no,
}


@pytest.fixture
def sheets(small_plan):
    return Sheets(render(small_plan))


def stored(data):
    """Values as a program that does not compute reads them, by sheet: a list of rows."""
    book = CalamineWorkbook.from_filelike(io.BytesIO(data))
    return {name: book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in book.sheet_names}


def at(rows, address):
    column = 0
    letters = re.match(r"[A-Z]+", address)[0]
    for letter in letters:
        column = column * 26 + ord(letter) - 64
    return rows[int(address[len(letters) :]) - 1][column - 1]


def line(book, sheet, label):
    """The numbers of the first row with this label."""
    row = next(row for row in book[sheet].iter_rows(values_only=True) if row[0] == label)
    return [cell for cell in row[1:] if cell is not None]


def test_every_stored_value_is_what_the_formula_gives(plan):
    data = render(plan)
    computed, values = Sheets(data), stored(data)
    formulas = list(computed.formulas())
    assert formulas
    for sheet, address, text in formulas:
        value, kept = computed.value(sheet, address), at(values[sheet], address)
        assert kept == (pytest.approx(value, rel=1e-9, abs=1e-6) if isinstance(value, int | float) else value), text


def test_totals_by_hand(small_plan):
    values = stored(render(small_plan))["Cash flow"]
    rows = [row for row in values if row[0] in ("total", "cumulative", "discounted (present cost)")]
    # cloud: 58,400 + 5,000 + 12.50 = 63,412.50 a month, 190,237.50 in all
    assert rows[0][2:] == [190237.5, 63412.5, 63412.5, 63412.5]
    assert rows[1][3:] == [63412.5, 126825.0, 190237.5]
    # at 8 % a year: 63,412.50 x (1.08^(-1/12) + 1.08^(-2/12) + 1.08^(-3/12))
    assert rows[2][2] == pytest.approx(63412.5 * (1.08 ** (-1 / 12) + 1.08 ** (-1 / 6) + 1.08 ** (-1 / 4)))
    # hybrid: 18,250 + 29,200 + 5,000 + 12.50 = 52,462.50 a month
    assert rows[3][2:] == [157387.5, 52462.5, 52462.5, 52462.5]


def test_all_checks_pass_and_the_master_check_counts_the_failures(plan):
    values = stored(render(plan))
    master = next(row for row in values["Checks"] if str(row[0]).startswith("checks failed"))
    assert master[5] == 0
    assert any("all checks pass" in row for row in values["Summary"])


def test_a_plan_that_contradicts_itself_fails_its_check(small_plan):
    cloud, onprem, hybrid = small_plan.strategies
    wrong = dataclasses.replace(
        small_plan, strategies=(cloud, onprem, dataclasses.replace(hybrid, total_cost=157388.5))
    )
    values = stored(render(wrong))
    failed = [row[0] for row in values["Checks"] if row[5] == 1 and row[0] and "master" not in row[0]]
    assert failed == [
        "hybrid: total cost",
        "workloads: their costs add up to the total",
        "hybrid: effective cost adds up to the total cost",
    ]
    assert any("CHECKS FAIL: see sheet Checks" in row for row in values["Summary"])


def test_the_discount_rate_is_live(sheets):
    before = sheets.value("Summary", "B6")
    sheet, cell = sheets.names["discount_rate_annual"].replace("$", "").split("!")
    again = Sheets.__new__(Sheets)
    again.book, again.names, again._values = sheets.book, sheets.names, {}
    again.book[sheet.strip("'")][cell].value = 0.0
    # undiscounted, the present cost is the total cost
    assert before < 190237.5
    assert again.value("Summary", "B6") == pytest.approx(190237.5)
    # a changed rate is no failed check
    master = next(c.coordinate for row in again.book["Checks"].iter_rows() for c in row if c.column == 6
                  and str(again.book["Checks"].cell(c.row, 1).value).startswith("checks failed"))  # fmt: skip
    assert again.value("Checks", master) == 0


def test_returns_and_taxes_are_live(long_plan):
    """Owning: time 0 pays 300,000 against nothing; time 1 saves nothing, time 7 saves 12,000.25 - 107.40.

    At no interest the net present value is what is saved in all, and depreciation is worth 0.21 x (300,000 - 50,000).
    """
    sheets = Sheets(render(long_plan))
    rows = {row[0].value: row[0].row for row in sheets.book["Owning"].iter_rows() if row[0].value}
    assert [sheets.value("Owning", f"{column}{rows['saved']}") for column in "CDJ"] == [-300000.0, 0.0, 11892.85]
    sheet, cell = sheets.names["discount_rate_annual"].replace("$", "").split("!")
    present = f"B{rows['saved, discounted (net present value)']}"
    planned = long_plan.views.owning[0].net_present_value
    assert sheets.value("Owning", present) == pytest.approx(planned)
    again = Sheets.__new__(Sheets)
    again.book, again.names, again._values = sheets.book, sheets.names, {}
    again.book[sheet.strip("'")][cell].value = 0.0
    saved = long_plan.strategy("cloud").total_cost - long_plan.strategy("hybrid").total_cost
    assert again.value("Owning", present) == pytest.approx(saved)
    total = next(row[0].row for row in again.book["Depreciation"].iter_rows() if row[0].value == "total")
    assert again.value("Depreciation", f"K{total}") == pytest.approx(0.21 * 250000)


def test_text_from_outside_is_never_part_of_a_formula(hostile_plan, small_plan):
    """The hostile plan has the numbers of the small one, so its formulas must be the same, letter by letter."""
    hostile = list(Sheets(render(hostile_plan)).formulas())
    assert hostile == list(Sheets(render(small_plan)).formulas())


def test_there_is_no_link_no_macro_and_no_hidden_sheet(hostile_plan):
    data = render(hostile_plan)
    with zipfile.ZipFile(io.BytesIO(data)) as parts:
        names = parts.namelist()
        sheets_text = b"".join(parts.read(name) for name in names if "worksheets/" in name)
        strings = parts.read("xl/sharedStrings.xml").decode()
    assert not [name for name in names if "external" in name.lower() or "vba" in name.lower()]
    assert b"<hyperlink" not in sheets_text
    assert "<si><r>" not in strings
    assert {sheet.sheet_state for sheet in openpyxl.load_workbook(io.BytesIO(data))} == {"visible"}


def test_hostile_text_is_kept_as_text(hostile_plan):
    values = stored(render(hostile_plan))
    names = [row[0] for row in values["Workloads"]]
    for workload in hostile_plan.workloads:
        assert re.sub(r"\s+", "", workload.name) in [re.sub(r"\s+", "", str(name)) for name in names]
    assert "<r><t>rich</t></r> " in {cell for rows in values.values() for row in rows for cell in row}


def test_a_text_too_long_for_a_cell_is_cut_and_says_so(small_plan):
    gap = dataclasses.replace(small_plan.gaps[0], effect="y" * 40000)
    values = stored(render(dataclasses.replace(small_plan, gaps=(gap,))))["Gaps"]
    assert values[4][2].endswith("y ... (cut here)")


def test_sheets_are_set_up_for_a_review(small_plan):
    data = render(small_plan)
    book = openpyxl.load_workbook(io.BytesIO(data))
    expected = ["Summary", "Assumptions", "Cash flow", "Effective cost", "Bridge", "Workloads", "Unit economics",
                "Demand", "Resources", "Purchases", "Break-even", "Throughput", "Prices", "Gaps", "Sources",
                "Checks"]  # fmt: skip
    assert book.sheetnames == expected
    for sheet in book:
        assert sheet.page_setup.orientation == "landscape"
        assert sheet.sheet_properties.pageSetUpPr.fitToPage
        assert sheet.freeze_panes
        assert "Page" in sheet.oddFooter.center.text
    assert book["Cash flow"]["C4"].value == "total"
    assert "[Red](" in book["Cash flow"]["C8"].number_format
    chart = book["Summary"]._charts[0]
    last = int(re.search(r"\d+$", book["Summary"].print_area)[0])
    assert chart.anchor.to.row < last
    assert {"discount_rate_annual", "discount_rate_monthly", "pue", "lead_time_months"} <= set(book.defined_names)


def test_the_chart_shows_the_cumulative_costs(small_plan):
    book = openpyxl.load_workbook(io.BytesIO(render(small_plan)))
    for series in book["Summary"]._charts[0].series:
        sheet, cells = series.val.numRef.f.split("!")
        row = book[sheet.strip("'")][cells.replace("$", "")][0]
        assert book["Cash flow"].cell(row[0].row, 1).value == "cumulative"
        assert len(row) == small_plan.months


def test_the_date_of_the_file_is_that_of_the_plan(small_plan):
    assert openpyxl.load_workbook(io.BytesIO(render(small_plan))).properties.created.date() == date(2026, 11, 21)


def test_names_that_look_like_addresses_get_no_name(small_plan):
    odd = tuple(dataclasses.replace(small_plan.assumptions[1], name=name) for name in ("abc1", "r1c1", "Sum(1)", "x y"))
    book = openpyxl.load_workbook(io.BytesIO(render(dataclasses.replace(small_plan, assumptions=odd))))
    assert not {"abc1", "r1c1", "Sum(1)", "x y"} & set(book.defined_names)
    # the rate of the plan stands in the sheet even if no assumption is called so
    assert "discount_rate_annual" in book.defined_names


def test_an_impossible_plan_has_a_workbook_too(impossible_plan):
    values = stored(render(impossible_plan))
    texts = {cell for row in values["Summary"] for cell in row}
    assert "No plan is possible: no accelerator has 2,000 GiB." in texts
    assert "onprem: onprem: no accelerator has 2,000 GiB" in texts
