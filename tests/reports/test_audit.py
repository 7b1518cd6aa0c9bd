"""What a reviewer does to a workbook: inputs cleared, mistyped and moved, names that look alike, and the conventions of
financial models, read from the formulas themselves."""

from __future__ import annotations

import dataclasses
import io
import re
import zipfile

import pytest
from openpyxl.utils import column_index_from_string, get_column_letter

from planner.reports.xlsx import render
from planner.reports.xlsx.contents_sheet import SHEETS
from planner.reports.xlsx.print_layout import fit_pages

OLD_FUNCTIONS = {
    "SUM", "SUMIFS", "SUMPRODUCT", "COUNTIF", "COUNT", "COUNTA", "IF", "AND", "OR", "NOT", "ABS", "MIN", "MAX", "ROUND",
    "EXACT", "ISNUMBER", "LEFT", "PV", "FIXED",
}  # fmt: skip
"""All that formulas use: functions of every spreadsheet program since 2007."""
REFERENCE = re.compile(r"(?<![A-Za-z_.\"])(\$?)([A-Z]{1,3})(\$?)(\d+)(?![A-Za-z_(\d])")
MONTH = re.compile(r"\d{4}-\d{2}")
TEXT = re.compile(r'"[^"]*"')


@pytest.fixture
def live(sheets, small_plan):
    """The small plan's workbook, computed here."""
    return sheets.Sheets(render(small_plan))


def row_of(book, sheet, label, column=0):
    return next(row[column].row for row in book.book[sheet].iter_rows() if row[column].value == label)


def failed(book):
    return book.value("Checks", f"F{row_of(book, 'Checks', 'checks failed (master check)')}")


def said(book):
    """What the Summary says of the checks."""
    return book.value("Summary", f"B{row_of(book, 'Summary', 'checks')}")


def counted(book):
    return book.value(*book.named("inputs_changed")), book.value(*book.named("inputs_wrong"))


def relative(text, row, column):
    """A formula as its cell sees it: references as steps from it, as in R1C1 notation."""

    def step(found):
        fixed_column, letters, fixed_row, number = found.groups()
        across, down = column_index_from_string(letters), int(number)
        of_row = f"R{down}" if fixed_row else f"R[{down - row}]"
        return of_row + (f"C{across}" if fixed_column else f"C[{across - column}]")

    return REFERENCE.sub(step, text)


def test_references_as_steps():
    assert relative("=SUM($D7:F7)*B$2+Offers!$C$1", 9, 6) == relative("=SUM($D7:G7)*C$2+Offers!$C$1", 9, 7)
    assert relative("=E7", 9, 6) != relative("=E7", 9, 7)


@pytest.mark.one_in(3)
def test_one_formula_along_a_row(plan, workbook):
    """Of the columns of months or times."""
    _, book = workbook
    looked = 0
    for sheet in book:
        heads = {cell.column for cell in sheet[4] if MONTH.fullmatch(str(cell.value)) or type(cell.value) is int}
        for row in sheet.iter_rows(min_row=5):
            found = {relative(c.value, c.row, c.column) for c in row if c.column in heads and c.data_type == "f"}
            looked += bool(found)
            assert len(found) <= 1, (sheet.title, row[0].row, found)
    assert looked or plan.status == "infeasible"


@pytest.mark.one_in(6)
def test_no_amount_is_typed_into_a_formula(workbook):
    """Numbers in formulas are of calendars, rounding and counting; decimals only what a sum may round off."""
    for sheet in workbook[1]:
        for cell in (cell for row in sheet.iter_rows() for cell in row if cell.data_type == "f"):
            text = re.sub(r"'[^']+'!", "", TEXT.sub("", cell.value))
            assert set(re.findall(r"([A-Z][A-Z.]*)\(", text)) <= OLD_FUNCTIONS, text
            if sheet.title != "Payments":  # rates are those of the plan's own functions
                numbers = set(re.findall(r"(?<![A-Za-z_$0-9.])\d+\.?\d*(?:e-?\d+)?(?![A-Za-z_0-9.(:])", text))
                assert numbers <= {"0", "1", "2", "6", "8", "3", "5", "12", "0.000001"} | _choices(text), text


def _choices(text):
    """Numbers of choices that sheet Depreciation asks Payments for."""
    return set(re.findall(r"\$F\$\d+,(\d+),", text))


@pytest.mark.parametrize("value", ["n/a", None])
def test_an_input_that_is_no_number_is_told(live, value):
    row = row_of(live, "Assumptions", "discount_rate_annual")
    live.edit("Assumptions", f"C{row}", value)
    assert live.value("Assumptions", f"J{row}") == "no number"
    assert counted(live) == (1, 1)
    assert said(live).startswith("AN INPUT IS NO NUMBER OR OUT OF RANGE")


@pytest.mark.parametrize("cell", [("Offers", "F5"), ("Choices", "N6")])
def test_a_text_among_prices_or_choices_is_told(live, cell):
    live.edit(*cell, "10 %")
    assert counted(live)[1] == 1
    assert failed(live) >= 1
    assert said(live).startswith("AN INPUT")


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("value", "state"), [(8.0, "out of range"), (-0.1, "out of range"), (0.09, "changed here")])
def test_a_share_above_one_is_told(live, value, state):
    """8 was typed where 8 % was meant."""
    row = row_of(live, "Assumptions", "discount_rate_annual")
    live.edit("Assumptions", f"C{row}", value)
    assert live.value("Assumptions", f"J{row}") == state
    assert counted(live) == (1, int(state == "out of range"))


def test_a_figure_that_nothing_here_follows_says_so(live):
    """The small plan owns nothing, so its power price moves no payment."""
    row = next(row[0].row for row in live.book["Assumptions"].iter_rows(min_row=5) if row[8].value == "the plan")
    live.edit("Assumptions", f"C{row}", 1.5 * live.value("Assumptions", f"C{row}"))
    assert live.value("Assumptions", f"J{row}") == "may change what is possible: plan again"
    assert counted(live) == (1, 0)


def test_a_scenario_that_there_is_not_is_the_base_and_told(live):
    before = live.value("Summary", "B6")
    live.edit(*live.named("scenario"), "worst case")
    assert live.value("Summary", "B6") == before
    assert counted(live) == (0, 1)
    assert failed(live) == 1


def test_an_order_moved_to_another_month_is_a_changed_input(live):
    """Its total stays, so only the mean month tells; nothing that compares with the plan may fail then."""
    book = live.book["Choices"]
    row = next(row for row in book.iter_rows(min_row=6) if row[1].value == "hybrid" and row[13].value)
    cells = [f"{get_column_letter(14 + month)}{row[0].row}" for month in range(3)]
    kept = [live.value("Choices", cell) or 0.0 for cell in cells]
    live.edit("Choices", cells[0], None)
    live.edit("Choices", cells[2], kept[0] + kept[2])
    assert live.value("Choices", f"H{row[0].row}") == "changed here"
    assert counted(live) == (1, 0)
    assert failed(live) == 0


def test_a_rate_that_is_typed_is_an_input_too(live):
    row = next(row for row in live.book["Payments"].iter_rows(min_row=6) if row[15].value is not None)
    live.edit("Payments", row[14].coordinate, 2 * row[14].value)
    assert counted(live) == (1, 0)
    assert failed(live) == 0


def test_the_summary_says_when_another_strategy_becomes_the_cheapest(live):
    """Of hybrid's committed node (18,250 a month, three months) there are four: it saved 32,850, and costs more."""
    row, saved = (
        row_of(live, "Summary", label)
        for label in ("cheapest by present cost", "saves on cloud (red: costs more), USD")
    )
    assert live.value("Summary", f"B{row}") == "hybrid"
    assert live.value("Summary", f"B{saved}") == pytest.approx(
        live.value("Summary", "B6") - live.value("Summary", "D6")
    )
    order = next(row for row in live.book["Choices"].iter_rows(min_row=6) if "reserved" in str(row[2].value))
    for cell in order[13:16]:
        live.edit("Choices", cell.coordinate, None if cell.value is None else 4 * cell.value)
    assert live.value("Summary", f"B{row}") == "cloud: as planned it was hybrid, plan again"
    assert live.value("Summary", f"B{saved}") < 0


def test_names_that_look_alike_are_told_apart(small_plan, sheets):
    """Two workloads whose names differ in what cannot be seen: each bears its own cost, and the sums hold."""
    names = dict(zip([w.name for w in small_plan.workloads], ("a b", "a\u200b  b"), strict=False))

    def renamed(value):
        if dataclasses.is_dataclass(value):
            fields = {f.name: renamed(getattr(value, f.name)) for f in dataclasses.fields(value)}
            return dataclasses.replace(value, **fields)
        if isinstance(value, tuple):
            return tuple(map(renamed, value))
        return names.get(value, value) if isinstance(value, str) else value

    book, plain = (sheets.Sheets(render(plan)) for plan in (renamed(small_plan), small_plan))
    for row in range(5, 9):
        assert book.value("Workload costs", f"F{row}") == pytest.approx(plain.value("Workload costs", f"F{row}"))
    assert {book.value("Workload costs", f"B{row}") for row in range(5, 7)} == {"a b", "a b (2)"}
    assert failed(book) == 0


def test_every_input_takes_numbers_alone(workbook):
    for sheet in workbook[1]:
        ruled = [area for rule in sheet.data_validations.dataValidation for area in rule.sqref.ranges]
        for cell in (cell for row in sheet.iter_rows() for cell in row if cell.font.color and cell.has_style):
            is_input = cell.font.color.rgb == "FF0000FF" and cell.fill.fgColor.rgb == "FFFFF9E5"
            if is_input and sheet.title != "Shares":
                assert any(cell.coordinate in area for area in ruled), (sheet.title, cell.coordinate)


def test_colours_depend_on_no_other_sheet(small_plan):
    """Programs of 2007 colour by cells of the same sheet alone."""
    with zipfile.ZipFile(io.BytesIO(render(small_plan))) as parts:
        for name in parts.namelist():
            if name.startswith("xl/worksheets/sheet"):
                rules = re.findall(r"<cfRule.*?</cfRule>", parts.read(name).decode())
                assert not [rule for rule in rules if "!" in rule]


def test_every_sheet_stands_in_the_contents(workbook):
    _, book = workbook
    assert book.sheetnames == [name for name in SHEETS if name in book.sheetnames]
    assert [row[0].value for row in book["Contents"].iter_rows(min_row=5)] == book.sheetnames


def test_no_zero_is_shown_in_red_or_with_decimals(workbook, sheets):
    """What rounding leaves of a sum is no amount: (0.00) would be asked about."""
    data, book = workbook
    values = sheets.stored(data)
    for sheet in book:
        for cell in (cell for row in sheet.iter_rows() for cell in row if "0.00_)" in cell.number_format):
            if cell.value is not None:
                value = sheets.at(values[sheet.title], cell.coordinate)
                assert not isinstance(value, float) or value == 0 or abs(value) > 1e-4, (sheet.title, cell.coordinate)


def test_pages_are_as_few_as_can_be_read():
    one = {"widths": [20.0] * 8, "repeated": 1, "height": 300.0, "head": 16.0}
    assert fit_pages(**one) == (1, 0)
    # 40 columns of 20 are 4,350 points; 1,375 at the least scale fit on a page, the first column on each: 4 pages
    assert fit_pages(**one | {"widths": [20.0] * 40})[0] == 4
    # 8 columns are 870 points wide, so at 0.9 a page has 555 points of rows: 640 are one page and a sixth of another
    assert fit_pages(**one | {"height": 640.0}) == (1, 1)
    assert fit_pages(**one | {"height": 900.0}) == (1, 0)
